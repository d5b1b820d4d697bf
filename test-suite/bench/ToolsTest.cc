// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of what all tools share: histogram, JSON, command line, least recently used. */

#include "tools/base/CommandLine.h"
#include "tools/base/Json.h"
#include "tools/base/LatencyHistogram.h"
#include "tools/base/Lru.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace Tools;

TEST(ToolsHistogramTest, percentilesAreCloseToTheExactOnes)
{
    LatencyHistogram histogram;
    EXPECT_EQ(histogram.percentile(0.99), 0);
    EXPECT_EQ(histogram.mean(), 0);
    for (Nanos span = 1; span <= 100000; ++span)
        histogram.add(span * 1000);
    EXPECT_EQ(histogram.count(), 100000U);
    EXPECT_EQ(histogram.most(), 100000000);
    EXPECT_DOUBLE_EQ(histogram.mean(), 50000500);
    for (const double share: {0.001, 0.1, 0.5, 0.9, 0.99, 0.999}) {
        const double exact = share * 1e8;
        EXPECT_GE(static_cast<double>(histogram.percentile(share)), exact - 1);
        EXPECT_LE(static_cast<double>(histogram.percentile(share)), exact * (1 + 1.0 / 64) + 1);
    }
    EXPECT_EQ(histogram.percentile(1), histogram.most());
}

TEST(ToolsHistogramTest, takesAnySpan)
{
    LatencyHistogram histogram;
    for (const Nanos span: {Nanos(-5), Nanos(0), Nanos(1), Nanos(63), Nanos(64), Nanos(65), Nanos(1) << 41, INT64_MAX})
        histogram.add(span);
    uint64_t sum = 0;
    Nanos last = -1;
    for (const auto &[upper, count]: histogram.buckets()) {
        EXPECT_GT(upper, last);
        last = upper;
        sum += count;
    }
    EXPECT_EQ(sum, 8U);
    EXPECT_EQ(last, INT64_MAX);
}

TEST(ToolsHistogramTest, addsUp)
{
    LatencyHistogram one, other, both;
    for (Nanos span = 1; span <= 1000; ++span) {
        (span % 3 ? one : other).add(span * span);
        both.add(span * span);
    }
    one.add(other);
    EXPECT_EQ(one.count(), 1000U);
    EXPECT_EQ(one.most(), 1000000);
    EXPECT_DOUBLE_EQ(one.mean(), both.mean());
    EXPECT_EQ(one.buckets(), both.buckets());
}

TEST(ToolsJsonTest, isAsciiInOrder)
{
    Json json = {{"z\"b", "x\\\n\xc3\xa4\x80"}, {"list", {1, Json::object(), 0.5}}, {"none", std::nan("")}};
    json["a"] = uint64_t(1) << 63;
    EXPECT_EQ(jsonText(json), R"({"z\"b":"x\\\n\u00e4\ufffd","list":[1,{},0.5],"none":null,"a":9223372036854775808})");
    EXPECT_EQ(jsonText(bytesText("\x7f\x80\xc3\xa4\xff")), R"("\u007f\u0080\u00c3\u00a4\u00ff")");
}

TEST(ToolsCommandLineTest, isStrict)
{
    uint64_t number = 7;
    uint64_t bytes = 1;
    double real = 0.5;
    std::string choice = "a";
    std::string text;
    bool flag = false;
    std::vector<std::string> list;
    std::vector<std::string> others;
    const auto read = [&](const std::vector<std::string> &words, const bool wordsToo = false) {
        CommandLine line("test");
        line.whole("number", number, 1, 1 << 20, "a number");
        line.bytes("bytes", bytes, 1, 1 << 20, "of something");
        line.real("real", real, 0, 1, "a share");
        line.choice("choice", choice, {"a", "b"}, "one of two");
        line.text("text", text, "TEXT", "any");
        line.flag("flag", flag, "a switch");
        line.list("list", list, "NAME", "some");
        if (wordsToo)
            line.words(others);
        return line.read(words);
    };
    EXPECT_TRUE(read({"--number", "4K", "--bytes=010k", "--real=0.25", "--choice", "b", "--text", "--flag", "--flag", "--list=x", "--list", "{}"}));
    EXPECT_EQ(number, 4096U);
    EXPECT_EQ(bytes, 10240U);
    EXPECT_EQ(real, 0.25);
    EXPECT_EQ(choice, "b");
    EXPECT_EQ(text, "--flag");
    EXPECT_TRUE(flag);
    EXPECT_EQ(list.front(), "x");
    EXPECT_TRUE(read({"--text", "{}"}));
    EXPECT_EQ(text, "{}");
    EXPECT_FALSE(read({"--flag", "--help"}));
    const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
        {{"--number", "0"}, "--number=0 is not a whole number from 1 to 1048576"}, {{"--number", "-1"}, "--number=-1 is not"},
        {{"--number", "x"}, "--number=x is not"}, {{"--number"}, "--number needs a value: --number=N"},
        {{"--number=", "5"}, "--number needs a value, not an empty one: --number=N"}, {{"--text", ""}, "--text needs a value, not an empty one"},
        {{"--number", "2G"}, "--number=2G is not"}, {{"--number", "18014398509481984K"}, "--number=18014398509481984K is not"},
        {{"--bytes", "2M"}, "from 1 bytes to 1 MB"}, {{"--real", "nan"}, "--real=nan is not a number from 0 to 1"},
        {{"--real", "1.5"}, "--real=1.5 is not"}, {{"--choice", "c"}, "--choice=c is not one of a|b"},
        {{"--flag=1"}, "--flag takes no value: write just --flag"}, {{"--flag=true"}, "--flag takes no value"},
        {{"--flag", "--flag"}, "--flag was given twice"}, {{"--number=1", "--number=2"}, "--number was given twice"},
        {{"--other"}, "unknown option --other"}, {{"--numbe", "1"}, "unknown option --numbe"}, {{"-x"}, "unknown option -x"},
        {{"word"}, "'word' is not an option"}, {{"--list", "x", "word"}, "'word' is not an option"}
    };
    for (const auto &[words, says]: wrong) {
        try {
            read(words);
            ADD_FAILURE() << words[0] << " is taken";
        } catch (const BadRequest &e) {
            EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what();
        }
    }
    EXPECT_TRUE(read({"one", "--flag", "", "--", "--two", "--"}, true));
    EXPECT_EQ(others, (std::vector<std::string>{"one", "", "--two", "--"}));
}

TEST(ToolsLruTest, dropsTheLeastRecentlyUsed)
{
    LruCache cache(10);
    cache.add(1, 4);
    cache.add(2, 4);
    EXPECT_TRUE(cache.find(1));
    cache.add(7, 5); // 2 has to go, then there is room
    EXPECT_FALSE(cache.find(2));
    EXPECT_TRUE(cache.find(1));
    EXPECT_TRUE(cache.find(7));
    cache.add(3, 11); // is larger than all of it
    EXPECT_FALSE(cache.find(3));
    cache.add(1, 9); // is there already
    EXPECT_TRUE(cache.find(7));
    cache.remove(1);
    cache.remove(1);
    EXPECT_FALSE(cache.find(1));
    cache.add(4, 5);
    EXPECT_TRUE(cache.find(7));
}

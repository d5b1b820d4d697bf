// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts of an object: from swap metadata, and on the way from a page to the tool. */

#include "fs/cluster/squid/ObjectText.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace ClusterFs;

namespace {

std::string
number(const int32_t value)
{
    return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
}

std::string
field(const char type, const std::string &value)
{
    return type + number(static_cast<int32_t>(value.size())) + value;
}

/// \param size of all metadata; 0 = as it should be
std::string
metadata(const std::string &fields, const int32_t size = 0)
{
    const auto right = static_cast<int32_t>(fields.size() + 1 + sizeof(int32_t));
    return swapMetaMagic + number(size ? size : right) + fields;
}

bool
urlIn(const std::string &object, std::string &url)
{
    url = "none";
    return findStoredUrl(object.data(), object.size(), url);
}

} // namespace

TEST(ObjectText, findsTheUrlBetweenOtherFields) {
    std::string url;
    const auto web = field(swapMetaUrl, std::string("http://x/\0", 10));
    EXPECT_TRUE(urlIn(metadata(field(3, "0123456789abcdef") + web + field(9, "s")) + "HTTP/1.1 200 OK", url));
    EXPECT_EQ(url, "http://x/");
    EXPECT_TRUE(urlIn(metadata(field(swapMetaUrl, "http://open/")), url));
    EXPECT_EQ(url, "http://open/") << "without a NUL, it ends with its field";
    EXPECT_TRUE(urlIn(metadata(field(swapMetaUrl, std::string(1, '\0'))), url));
    EXPECT_EQ(url, "");
}

TEST(ObjectText, findsNoUrlInOtherBytes) {
    const auto web = field(swapMetaUrl, std::string("http://x/\0", 10));
    auto wrongMagic = metadata(web);
    wrongMagic[0] = 4;
    const std::string objects[] = {
        "", "\x03", std::string("\x03\x10", 2), std::string(300, 'x'), wrongMagic, metadata(""), metadata(field(3, "key")), metadata(web, -5),
        metadata(web, 1000), metadata(swapMetaUrl + number(-1) + "abc"), metadata(swapMetaUrl + number(0x7fffffff) + "abc"), metadata(std::string("\x04\x00", 2))
    };
    for (const auto &object: objects) {
        std::string url;
        EXPECT_FALSE(urlIn(object, url)) << printable(object);
        EXPECT_EQ(url, "none") << printable(object);
    }
}

TEST(ObjectText, printableTextComesBack) {
    const std::string text("a\\b\tq\x1b[31m\xc3\xa9\n~ \x7f", 16);
    EXPECT_EQ(printable(text), "a\\x5cb\\x09q\\x1b[31m\\xc3\\xa9\\x0a~ \\x7f");
    EXPECT_EQ(unprintable(printable(text)), text);
    EXPECT_EQ(unprintable("\\x4"), "\\x4") << "nothing is read beyond the end";
}

TEST(ObjectText, flagsComeBack) {
    for (unsigned flags = 0; flags < 0x40; ++flags)
        EXPECT_EQ(flagsIn(flagText(static_cast<uint8_t>(flags))), flags);
    EXPECT_EQ(flagText(0), "-");
    EXPECT_EQ(flagText(flagNegative | flagParted), "negative,parted");
    EXPECT_EQ(flagsIn("negative,unheard-of"), flagNegative);
}

TEST(ObjectText, aLineComesBack) {
    ObjectLine line;
    line.key = "0123456789ABCDEF";
    line.url = "http://x/\\x09";
    line.info.size = 12345678901;
    line.info.timestamp = 1700000000;
    line.info.flags = flagDoubtful | flagRevalidateStale;
    line.cluster = ClusterNo(77);
    line.offset = 4096;
    line.state = "valid";
    EXPECT_EQ(line.text(), "0123456789ABCDEF\thttp://x/\\x09\t12345678901\t1700000000\t-1\t-1\trevalidate-stale,doubtful\t77\t4096\tvalid");
    ObjectLine other;
    ASSERT_TRUE(other.parse(line.text()));
    EXPECT_EQ(other.text(), line.text());
    EXPECT_EQ(other.info.size, line.info.size);
    EXPECT_EQ(other.info.expires, -1);
    EXPECT_EQ(other.cluster, line.cluster);
}

TEST(ObjectText, aLineOfWhichLittleIsKnownComesBack) {
    const ObjectLine unknown;
    EXPECT_EQ(unknown.text(), "-\t-\t0\t-1\t-1\t-1\t-\t-\t-\t-");
    ObjectLine other;
    other.url = "http://before/";
    ASSERT_TRUE(other.parse(unknown.text()));
    EXPECT_EQ(other.text(), unknown.text());
    EXPECT_FALSE(other.url) << "none, and not an empty one";
    EXPECT_EQ(other.cluster, noCluster);
}

TEST(ObjectText, refusesOtherLines) {
    ObjectLine line;
    for (const auto text: {"", "key", "a\tb\tc\td\te\tf\tg\th\ti", "a\tb\tc\td\te\tf\tg\th\ti\tj\tk"})
        EXPECT_FALSE(line.parse(text)) << text;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of the web load: bodies, URLs, pages. */

#include "tools/bench/web/corpus/BodyStream.h"
#include "tools/bench/web/corpus/Fitted.h"
#include "tools/bench/web/corpus/GeneratedCorpus.h"
#include "tools/bench/web/corpus/Zipf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

using namespace WebBench;

TEST(WebBodyTest, piecesFitTogether)
{
    const BodyStream body(42);
    std::vector<char> whole(1000), piece(1000);
    body.fill(3, whole.data(), whole.size());
    for (size_t from = 0; from < 40; ++from) {
        for (size_t size: {0, 1, 7, 8, 9, 100}) {
            body.fill(3 + from, piece.data(), size);
            EXPECT_EQ(memcmp(piece.data(), whole.data() + from, size), 0);
            EXPECT_EQ(body.check(3 + from, whole.data() + from, size), size);
        }
    }
}

TEST(WebBodyTest, everyWrongByteIsFound)
{
    const BodyStream body(42);
    std::vector<char> bytes(100);
    for (uint64_t offset = 0; offset < 16; ++offset) {
        body.fill(offset, bytes.data(), bytes.size());
        for (size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<char>(bytes[i] ^ 4);
            EXPECT_EQ(body.check(offset, bytes.data(), bytes.size()), i);
            bytes[i] = static_cast<char>(bytes[i] ^ 4);
        }
    }
    // bytes of another place or another object are wrong at once
    std::vector<char> other(4096);
    body.fill(0, other.data(), other.size());
    for (const uint64_t shift: {1, 8, 512, 4096})
        EXPECT_LT(body.check(shift, other.data(), other.size()), 16U);
    EXPECT_LT(BodyStream(43).check(0, other.data(), other.size()), 16U);
}

TEST(WebTargetTest, pathsTellAll)
{
    Target target;
    const auto path = makePath("/s1/p2", "i3", Kind::image, 12345, 7);
    EXPECT_EQ(path, "/s1/p2/i3-12345-v7.png");
    ASSERT_TRUE(target.parse(path));
    EXPECT_EQ(target.kind, Kind::image);
    EXPECT_EQ(target.size, 12345U);
    Target next;
    ASSERT_TRUE(next.parse(makePath("/s1/p2", "i3", Kind::image, 12345, 8)));
    EXPECT_NE(next.seed, target.seed);
    for (const auto wrong: {"", "/", "/a.png", "/a-1.png", "/a-1-v.png", "/a-1-2.png", "/a--v1.png", "/a-x-v1.png", "a-1-v1.png",
            "/a-1-v1.exe", "/a-1-v1", "/-v1.png", "/a-99999999999999-v1.png", "/a-1-v1.png?x"})
        EXPECT_FALSE(target.parse(wrong)) << wrong;
}

TEST(WebZipfTest, followsTheLaw)
{
    for (const double exponent: {0.0, 0.6, 0.8, 1.0, 1.3}) {
        constexpr uint64_t n = 1000, draws = 400000;
        const Zipf zipf(n, exponent);
        Random random(9);
        std::vector<double> seen(n);
        for (uint64_t i = 0; i < draws; ++i) {
            const auto rank = zipf.draw(random);
            ASSERT_LT(rank, n);
            ++seen[rank];
        }
        double sum = 0;
        for (uint64_t k = 1; k <= n; ++k)
            sum += std::pow(static_cast<double>(k), -exponent);
        for (const uint64_t k: {1, 2, 3, 10, 100, 1000}) {
            const double expected = draws * std::pow(static_cast<double>(k), -exponent) / sum;
            EXPECT_NEAR(seen[k - 1], expected, 5 * std::sqrt(expected) + 1) << "rank " << k << ", exponent " << exponent;
        }
    }
    Random random(1);
    EXPECT_EQ(Zipf(1, 0.8).draw(random), 0U);
}

TEST(WebFittedTest, meansAreThoseOfTheTraces)
{
    EXPECT_NEAR(Fitted::members().mean(), 50.8, 1.5);
    EXPECT_NEAR(Fitted::pageSize().mean(), 35510, 500);
    EXPECT_NEAR(Fitted::meanMemberSize(), 14365, 600);
    Random random(3);
    for (const auto kind: {Kind::css, Kind::js, Kind::image, Kind::html, Kind::font}) {
        double sum = 0;
        for (int i = 0; i < 200000; ++i)
            sum += Fitted::memberSize(kind).at(random.real());
        EXPECT_NEAR(sum / 200000 / Fitted::memberSize(kind).mean(), 1, 0.03);
    }
    double shared = 0;
    for (int i = 0; i < 100000; ++i)
        shared += Fitted::sharedShare(Fitted::drawKind(random), 0.3);
    EXPECT_NEAR(shared / 100000, 0.3, 0.01);
}

TEST(WebCorpusTest, hasTheMeansThatWereAskedFor)
{
    GeneratedCorpus::Shape shape;
    const auto totals = GeneratedCorpus(100, 50, shape).totals();
    EXPECT_EQ(totals.pages, 5000U);
    EXPECT_NEAR(totals.meanObjectsPerPage, 42, 2);
    EXPECT_NEAR(totals.meanPageBytes, 570000, 30000);
    // a site has its shared objects once
    EXPECT_LT(static_cast<double>(totals.objects), 0.75 * 42 * 5000);
    shape.shared = 0;
    shape.objects = 10;
    shape.pageBytes = 100000;
    const auto small = GeneratedCorpus(100, 50, shape).totals();
    EXPECT_NEAR(small.meanObjectsPerPage, 10, 0.6);
    EXPECT_NEAR(small.meanPageBytes, 100000, 8000);
    EXPECT_NEAR(static_cast<double>(small.objects), small.meanObjectsPerPage * 5000, 1);
}

TEST(WebCorpusTest, isTheSameEachTime)
{
    const GeneratedCorpus one(10, 10, {}), same(10, 10, {});
    GeneratedCorpus::Shape shape;
    shape.seed = 2;
    const GeneratedCorpus other(10, 10, shape);
    for (uint64_t n = 0; n < 100; ++n) {
        const auto a = one.page(n), b = same.page(n);
        ASSERT_EQ(a.members.size(), b.members.size());
        for (size_t i = 0; i < a.members.size(); ++i)
            EXPECT_EQ(Corpus::path(a, a.members[i], 1), Corpus::path(b, b.members[i], 1));
    }
    // known values: a change of these changes what published figures mean
    const auto page = one.page(77);
    EXPECT_EQ(Corpus::path(page, page.members[0], 1), "/s7/p7/h0-37942-v1.html");
    EXPECT_EQ(page.members.size(), 36U);
    EXPECT_NE(other.page(77).members[0].size, page.members[0].size);
}

TEST(WebCorpusTest, pagesAreWellFormed)
{
    const GeneratedCorpus corpus(5, 40, {});
    std::map<std::string, uint64_t> identities;
    uint64_t ofStyleSheets = 0, shared = 0;
    for (uint64_t n = 0; n < corpus.pages(); ++n) {
        const auto page = corpus.page(n);
        EXPECT_EQ(page.members[0].kind, Kind::html);
        std::set<std::string> paths;
        for (size_t i = 0; i < page.members.size(); ++i) {
            const auto &member = page.members[i];
            const auto path = Corpus::path(page, member, 1);
            Target target;
            ASSERT_TRUE(target.parse(path)) << path;
            EXPECT_EQ(target.size, member.size);
            EXPECT_TRUE(paths.insert(path).second) << path << " is twice in a page";
            const auto identity = Corpus::identity(page, member);
            EXPECT_EQ(identities.emplace(path, identity).first->second, identity) << path;
            shared += member.shared ? 1 : 0;
            if (i && member.parent) {
                ++ofStyleSheets;
                ASSERT_LT(member.parent, i);
                EXPECT_EQ(page.members[member.parent].kind, Kind::css);
            }
        }
    }
    EXPECT_GT(ofStyleSheets, 200U);
    EXPECT_GT(shared, 200U);
    std::set<uint64_t> different;
    for (const auto &one: identities)
        different.insert(one.second);
    EXPECT_EQ(different.size(), identities.size());
}

TEST(WebCorpusTest, growsToASize)
{
    GeneratedCorpus corpus(1, 20, {});
    std::string error;
    ASSERT_TRUE(corpus.growTo(100 << 20, 0, error)) << error;
    const auto totals = corpus.totals();
    EXPECT_GE(totals.bytes, 100U << 20);
    EXPECT_LT(totals.bytes, 120U << 20);
    EXPECT_EQ(totals.pages, corpus.pages());
    ASSERT_TRUE(corpus.growTo(0, 20000, error)) << error;
    EXPECT_NEAR(static_cast<double>(corpus.totals().objects), 20400, 400);
    EXPECT_FALSE(corpus.growTo(UINT64_MAX, 0, error));
    EXPECT_NE(error, "");
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Ids and kinds from the text of requests. */

#include "fs/cluster/learning/RequestText.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

using namespace ClusterFs;

namespace {

/// what a request without Sec-Fetch headers is for
Request
plain(const std::string_view url, const std::string_view accept = "")
{
    RequestText text;
    text.url = url;
    text.accept = accept;
    Request r;
    describe(text, r);
    return r;
}

Request
fetched(const std::string_view destination, const std::string_view mode = "")
{
    RequestText text;
    text.url = "http://a/x.bin";
    text.destination = destination;
    text.mode = mode;
    Request r;
    describe(text, r);
    return r;
}

} // namespace

TEST(RequestText, oneUrlHasOneId) {
    const auto id = urlId("http://host/Path?q=1");
    EXPECT_NE(id, 0U);
    EXPECT_EQ(urlId("HTTP://Host/Path?q=1"), id);
    EXPECT_EQ(urlId("http://host:80/Path?q=1#part"), id);
    EXPECT_EQ(urlId("http://user:word@host/Path?q=1"), id);
    EXPECT_EQ(urlId("http://host"), urlId("http://host/"));
    EXPECT_EQ(urlId("http://host?q"), urlId("http://host/?q"));
    EXPECT_EQ(urlId("https://host:443/"), urlId("https://host/"));
}

TEST(RequestText, otherUrlsHaveOthers) {
    std::set<uint64_t> ids;
    const std::set<std::string> urls{"http://host/Path", "http://host/path", "https://host/path", "http://host/path?",
        "http://host:81/path", "http://host/path/", "http://host:443/path", "http://hos/tpath", "http://host/",
        "http://host/path%20", std::string("http://host/path\0", 17), std::string("http://host/path\0\0", 18),
        "http://[::1]/", "http://[::1]:81/", "http://host//"};
    for (const auto &url: urls)
        ids.insert(urlId(url));
    EXPECT_EQ(ids.size(), urls.size());
    for (int i = 0; i < 100000; ++i)
        ids.insert(urlId("http://host/images/" + std::to_string(i) + ".png"));
    EXPECT_EQ(ids.size(), urls.size() + 100000);
}

TEST(RequestText, sites) {
    EXPECT_EQ(siteId("http://Host/a/b?c#d"), siteId("http://host:80"));
    EXPECT_EQ(siteId("http://host/a"), urlId("http://host/"));
    EXPECT_NE(siteId("http://host/"), siteId("https://host/"));
    EXPECT_NE(siteId("http://host/"), siteId("http://host:81/"));
}

TEST(RequestText, whatIsNoUrlHasNoId) {
    for (const auto text: {"", "x", "/path", "host:443", "http:/host/", "://host/", "http://", "http:///path",
                           "http://user@/", "/see?http://host/", "about:blank", "http://:80/"}) {
        EXPECT_EQ(urlId(text), 0U) << text;
        EXPECT_EQ(siteId(text), 0U) << text;
    }
    EXPECT_NE(urlId(std::string("http://") + std::string(100000, 'x')), 0U);
}

TEST(RequestText, referers) {
    RequestText text;
    text.url = "http://cdn/x.png";
    text.referer = "http://a/page#part";
    Request r;
    describe(text, r);
    EXPECT_EQ(r.url, urlId(text.url));
    EXPECT_EQ(r.site, siteId(text.url));
    EXPECT_EQ(r.referer, urlId("http://a/page"));
    EXPECT_EQ(r.refererSite, siteId("http://a/"));

    text.referer = "http://a/"; // just the site
    describe(text, r);
    EXPECT_EQ(r.referer, 0U);
    EXPECT_EQ(r.refererSite, siteId("http://a/"));

    text.referer = "nonsense";
    describe(text, r);
    EXPECT_EQ(r.referer, 0U);
    EXPECT_EQ(r.refererSite, 0U);
}

TEST(RequestText, kindsByFetchHeaders) {
    EXPECT_EQ(fetched("document", "navigate").kind, RequestKind::page);
    EXPECT_EQ(fetched("", "navigate").kind, RequestKind::page);
    for (const auto member: {"image", "font", "empty", "video", "audio", "manifest", "something-new"}) {
        EXPECT_EQ(fetched(member).kind, RequestKind::member) << member;
        EXPECT_FALSE(fetched(member).sheet) << member;
    }
    EXPECT_EQ(fetched("", "cors").kind, RequestKind::member);
    for (const auto sheet: {"style", "script", "iframe", "Script"}) {
        EXPECT_EQ(fetched(sheet, "navigate").kind, RequestKind::member) << sheet;
        EXPECT_TRUE(fetched(sheet).sheet) << sheet;
    }
}

TEST(RequestText, kindsByUrlAndAccept) {
    const auto browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    for (const auto page: {"http://a/", "http://a", "http://a/folder/?q", "http://a/x.html", "http://a/x.HTM?y=z.png"}) {
        EXPECT_EQ(plain(page).kind, RequestKind::page) << page;
        EXPECT_EQ(plain(page, "*/*").kind, RequestKind::page) << page;
        EXPECT_EQ(plain(page, browser).kind, RequestKind::page) << page;
        EXPECT_NE(plain(page, "application/json").kind, RequestKind::page) << page;
    }
    for (const auto page: {"http://a/article", "http://a/index.php?id=1", "http://a/v1.0/article"}) {
        EXPECT_EQ(plain(page, browser).kind, RequestKind::page) << page;
        EXPECT_EQ(plain(page).kind, RequestKind::unknown) << page;
    }
    for (const auto member: {"http://a/x.png", "http://a/x.JPG?v=1", "http://a/x.woff2"}) {
        EXPECT_EQ(plain(member).kind, RequestKind::member) << member;
        EXPECT_FALSE(plain(member).sheet) << member;
    }
    EXPECT_TRUE(plain("http://a/x.css").sheet);
    EXPECT_TRUE(plain("http://a/x.js?v=2", "*/*").sheet);
    EXPECT_TRUE(plain("http://a/style", "text/css,*/*;q=0.1").sheet);
    EXPECT_EQ(plain("http://a/picture", "image/avif,image/webp,*/*").kind, RequestKind::member);
    for (const auto other: {"http://a/x.deb", "http://a/x.tar.gz", "http://a/api/x"}) {
        EXPECT_EQ(plain(other).kind, RequestKind::unknown) << other;
        EXPECT_EQ(plain(other, "*/*").kind, RequestKind::unknown) << other;
    }
    EXPECT_EQ(plain("http://a/x.zip", browser).kind, RequestKind::unknown);
}

TEST(RequestText, bytes) {
    EXPECT_NE(bytesId("", 0), 0U);
    EXPECT_NE(bytesId("\1\2\3\4", 4), bytesId("\1\2\3\5", 4));
    EXPECT_EQ(bytesId("\1\2\3\4", 4), bytesId("\1\2\3\4", 4));
}

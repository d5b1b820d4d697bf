// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of the web load: reading HTTP. */

#include "tools/bench/web/http/HeadParser.h"
#include "tools/bench/web/http/RequestParser.h"
#include "tools/bench/web/http/ResponseParser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

using namespace WebBench;

namespace {

struct Collected: public BodySink {
    void bodyBytes(const char *const data, const size_t size) override { body.append(data, size); }
    std::string body;
};

/// a parser that got a text in pieces of some size
struct Parsed: public Collected {
    Parsed(const std::string &text, const size_t piece) {
        parser.reset();
        while (used < text.size() && !parser.done() && !parser.failed())
            used += parser.feed(text.data() + used, std::min(piece, text.size() - used), *this);
    }
    ResponseParser parser;
    size_t used = 0;
};

std::string
failure(const std::string &text)
{
    Parsed parsed(text, text.size());
    parsed.parser.end();
    return parsed.parser.failed() ? parsed.parser.error() : "";
}

} // namespace

TEST(WebResponseTest, anySplitGivesTheSame)
{
    const std::string text = "HTTP/1.1 200 OK\r\ncontent-LENGTH:  11 \r\nX-Generated: 123456789\r\n\r\nhello world";
    for (size_t piece = 1; piece <= text.size() + 1; ++piece) {
        const Parsed parsed(text + "HTTP/1.1", piece);
        ASSERT_TRUE(parsed.parser.done()) << piece;
        EXPECT_EQ(parsed.used, text.size());
        EXPECT_EQ(parsed.body, "hello world");
        EXPECT_EQ(parsed.parser.status(), 200U);
        EXPECT_EQ(parsed.parser.generated(), 123456789);
        EXPECT_TRUE(parsed.parser.keepAlive());
    }
}

TEST(WebResponseTest, chunksInAnySplit)
{
    const std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "5\r\nhello\r\nA;name=value\r\n0123456789\r\n1\r\nx\r\n0\r\nTrailer: yes\r\n\r\n";
    for (size_t piece = 1; piece <= text.size(); ++piece) {
        const Parsed parsed(text + "next", piece);
        ASSERT_TRUE(parsed.parser.done()) << piece << ": " << parsed.parser.error();
        EXPECT_EQ(parsed.used, text.size());
        EXPECT_EQ(parsed.body, "hello0123456789x");
    }
}

TEST(WebResponseTest, endsWithTheConnection)
{
    Parsed parsed("HTTP/1.0 200 OK\r\n\r\nall that comes", 5);
    EXPECT_FALSE(parsed.parser.done());
    parsed.parser.end();
    EXPECT_TRUE(parsed.parser.done());
    EXPECT_FALSE(parsed.parser.keepAlive());
    EXPECT_EQ(parsed.body, "all that comes");
}

TEST(WebResponseTest, responsesWithoutBody)
{
    for (const std::string status: {"304 Not Modified", "204 No Content"})
        EXPECT_TRUE(Parsed("HTTP/1.1 " + status + "\r\nETag: x\r\n\r\n", 7).parser.done());
    EXPECT_TRUE(Parsed("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 7).parser.done());
    // interim responses are passed over
    const Parsed parsed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 3);
    EXPECT_TRUE(parsed.parser.done());
    EXPECT_EQ(parsed.parser.status(), 200U);
}

TEST(WebResponseTest, keepAlive)
{
    EXPECT_FALSE(Parsed("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 99).parser.keepAlive());
    EXPECT_FALSE(Parsed("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 99).parser.keepAlive());
    EXPECT_TRUE(Parsed("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", 99).parser.keepAlive());
}

TEST(WebResponseTest, badOnesAreRefused)
{
    const std::string ok = "HTTP/1.1 200 OK\r\n", chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
    for (const auto &text: {std::string("HTTP/2 200 OK\r\n\r\n"), std::string("SSH-2.0\r\n\r\n"), std::string("HTTP/1.1 2x0 OK\r\n\r\n"),
            ok + "Content-Length: -1\r\n\r\n", ok + "Content-Length: 99999999999999999999\r\n\r\n",
            ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", ok + "Transfer-Encoding: gzip\r\n\r\n", ok + "no header\r\n\r\n",
            ok + "X-Generated: soon\r\n\r\n", ok + "Content-Length: 5\r\n\r\nhell", ok, std::string(), chunked + "g\r\n", chunked + "-1\r\n",
            chunked + "\r\n", chunked + "1 \r\nx\r\n0\r\n\r\n", chunked + "5\r\nhelloX\r\n", chunked + "ffffffffffffffffff\r\n", chunked + "5\r\nhello\r\n0\r\n",
            chunked + std::string(5000, '0'), ok + "A: " + std::string(2 * largestHead, 'x'),
            chunked + "0\r\nA: " + std::string(99999, 'x')})
        EXPECT_NE(failure(text), "") << text.substr(0, 80);
    EXPECT_EQ(failure(ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab"), "");
}

TEST(WebResponseTest, canBeUsedAgain)
{
    Parsed parsed("HTTP/1.1 200 OK\r\nContent-Le", 99);
    parsed.parser.end();
    EXPECT_TRUE(parsed.parser.failed());
    parsed.parser.reset();
    const std::string text = "HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nx";
    EXPECT_EQ(parsed.parser.feed(text.data(), text.size(), parsed), text.size());
    EXPECT_TRUE(parsed.parser.done());
    EXPECT_EQ(parsed.parser.status(), 404U);
    EXPECT_EQ(parsed.parser.generated(), 0);
}

TEST(WebRequestTest, bothForms)
{
    Request request;
    size_t length = 0;
    const std::string text = "GET http://127.0.0.1:9090/a/b.png HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"tag\"\r\n\r\n";
    for (size_t size = 0; size < text.size(); ++size)
        EXPECT_EQ(parseRequest(std::string_view(text).substr(0, size), request, length), RequestOutcome::incomplete);
    const std::string more = text + "GET", old = "HEAD /x HTTP/1.0\r\n\r\n";
    EXPECT_EQ(parseRequest(more, request, length), RequestOutcome::complete);
    EXPECT_EQ(length, text.size());
    EXPECT_EQ(request.path, "/a/b.png");
    EXPECT_EQ(request.ifNoneMatch, "\"tag\"");
    EXPECT_TRUE(request.keepAlive);
    EXPECT_EQ(parseRequest(old, request, length), RequestOutcome::complete);
    EXPECT_EQ(request.path, "/x");
    EXPECT_EQ(request.method, "HEAD");
    EXPECT_FALSE(request.keepAlive);
    for (const std::string bad: {"\r\n\r\n", "GET /x\r\n\r\n", "GET  /x HTTP/1.1\r\n\r\n", "GET /x HTTP/1.1\r\nbad\r\n\r\n",
            "POST /x HTTP/1.1\r\nContent-Length: 5\r\n\r\n"})
        EXPECT_EQ(parseRequest(bad, request, length), RequestOutcome::bad) << bad;
    EXPECT_EQ(parseRequest(std::string(2 * largestHead, 'x'), request, length), RequestOutcome::bad);
}

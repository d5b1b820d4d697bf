// SPDX-License-Identifier: GPL-2.0-or-later
/* The response to one request, made as it is sent. */

#include "tools/bench/web/origin/Answer.h"
#include "tools/base/Clock.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace WebBench {

using namespace Tools;

namespace {

constexpr size_t largestChunk = 16384;

/// the present time as HTTP wants it; formatted once a second
const std::string &
httpDate()
{
    thread_local time_t last = 0;
    thread_local std::string text;
    const time_t seconds = time(nullptr);
    if (seconds != last || text.empty()) {
        char buffer[64];
        tm parts;
        gmtime_r(&seconds, &parts);
        strftime(buffer, sizeof(buffer), "%a, %d %b %Y %H:%M:%S GMT", &parts);
        text = buffer;
        last = seconds;
    }
    return text;
}

std::string
entityTag(const Target &target)
{
    char tag[24];
    snprintf(tag, sizeof(tag), "\"%016llx\"", static_cast<unsigned long long>(target.seed));
    return tag;
}

} // namespace

void
Answer::beginHead(const char *const status, const bool keepAlive)
{
    *this = Answer();
    status_ = static_cast<unsigned>(atoi(status));
    keepAlive_ = keepAlive;
    head_.reserve(512);
    head_.append("HTTP/1.1 ").append(status).append("\r\nServer: bench-origin\r\nDate: ").append(httpDate());
    head_.append("\r\nX-Generated: ").append(std::to_string(now()));
    head_.append(keepAlive ? "\r\nConnection: keep-alive\r\n" : "\r\nConnection: close\r\n");
}

void
Answer::beginError(const char *const status)
{
    beginHead(status, keepAlive_);
    head_ += "Content-Length: 0\r\n\r\n";
}

void
Answer::beginBad()
{
    keepAlive_ = false;
    beginError("400 Bad Request");
}

void
Answer::begin(const Request &request, const AnswerStyle &style, const bool wrong)
{
    keepAlive_ = request.keepAlive;
    const bool isHead = request.method == "HEAD";
    Target target;
    if (!isHead && request.method != "GET") {
        beginError("405 Method Not Allowed");
        return;
    }
    if (!target.parse(request.path)) {
        beginError("404 Not Found");
        return;
    }
    const auto tag = entityTag(target);
    const bool unchanged = request.ifNoneMatch == tag;
    beginHead(unchanged ? "304 Not Modified" : "200 OK", request.keepAlive);
    head_.append("ETag: ").append(tag).append("\r\nLast-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\nCache-Control: ");
    head_ += style.noStore ? "no-store" : "public, max-age=" + std::to_string(style.maxAge);
    head_.append("\r\nContent-Type: ").append(infoOf(target.kind).contentType);
    chunked_ = lastChunk_ = style.chunked && request.http11 && !unchanged && !isHead;
    if (chunked_)
        head_ += "\r\nTransfer-Encoding: chunked";
    else if (!unchanged)
        head_.append("\r\nContent-Length: ").append(std::to_string(target.size));
    head_ += "\r\n\r\n";
    body_ = BodyStream(target.seed);
    bodyLeft_ = unchanged || isHead ? 0 : target.size;
    if (wrong)
        wrongAt_ = target.size / 2;
}

size_t
Answer::produce(char *const to, const size_t room)
{
    const size_t headSize = std::min(head_.size(), room);
    memcpy(to, head_.data(), headSize);
    head_.erase(0, headSize);
    size_t size = headSize;
    if (!chunked_)
        return size + produceBody(to + size, room - size);
    while (lastChunk_ && room - size > largestChunk + 16)
        size += produceChunk(to + size, room - size);
    return size;
}

size_t
Answer::produceBody(char *const to, const size_t room)
{
    const auto size = static_cast<size_t>(std::min<uint64_t>(room, bodyLeft_));
    body_.fill(at_, to, size);
    if (wrongAt_ >= at_ && wrongAt_ - at_ < size)
        to[wrongAt_ - at_] = static_cast<char>(to[wrongAt_ - at_] ^ 1);
    at_ += size;
    bodyLeft_ -= size;
    return size;
}

size_t
Answer::produceChunk(char *const to, const size_t room)
{
    const auto size = static_cast<size_t>(std::min<uint64_t>(largestChunk, bodyLeft_));
    auto end = to + snprintf(to, room, "%zx\r\n", size);
    end += produceBody(end, size);
    lastChunk_ = size > 0;
    memcpy(end, "\r\n", 2);
    return static_cast<size_t>(end + 2 - to);
}

} // namespace WebBench

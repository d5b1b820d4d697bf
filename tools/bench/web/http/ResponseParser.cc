// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads HTTP/1 responses as they arrive, in whatever pieces. */

#include "tools/bench/web/http/ResponseParser.h"
#include "tools/base/Text.h"
#include "tools/bench/web/http/HttpHead.h"

#include <algorithm>
#include <charconv>

namespace WebBench {

using namespace Tools;

namespace {

constexpr size_t longestLine = 1024; ///< of a chunk's size
constexpr size_t largestTrailer = 16384;

/// reads the size of a chunk, which may have extensions behind it
bool
parseChunkSize(std::string_view line, uint64_t &result)
{
    line = line.substr(0, line.find(';'));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t'))
        line.remove_suffix(1);
    const auto end = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data(), end, result, 16);
    return error == std::errc() && stop == end && result <= INT64_MAX;
}

} // namespace

void
ResponseParser::reset()
{
    state_ = State::head;
    text_.clear();
    error_.clear();
    left_ = 0;
    trailerBytes_ = 0;
    generated_ = 0;
    status_ = 0;
    started_ = keepAlive_ = chunked_ = hasLength_ = false;
}

void
ResponseParser::fail(const std::string &reason)
{
    state_ = State::failed;
    error_ = reason;
}

size_t
ResponseParser::feed(const char *const data, const size_t size, BodySink &sink)
{
    size_t used = 0;
    started_ = started_ || size > 0;
    while (used < size && !done() && !failed()) {
        const std::string_view rest(data + used, size - used);
        if (state_ == State::head)
            used += feedHead(rest);
        else if (state_ == State::fixed || state_ == State::chunk || state_ == State::untilClose)
            used += feedBody(rest, sink);
        else
            used += feedLine(rest);
    }
    return used;
}

void
ResponseParser::end()
{
    if (state_ == State::untilClose)
        state_ = State::done;
    else if (!done() && !failed())
        fail(started_ ? "the connection ended in the middle of the response" : "the connection ended before the response");
    keepAlive_ = false;
}

size_t
ResponseParser::feedHead(const std::string_view data)
{
    if (text_.empty()) { // mostly all of it comes at once and need not be copied
        if (const auto length = headLength(data)) {
            parseHead(data.substr(0, length));
            return length;
        }
    }
    const auto before = text_.size();
    text_ += data;
    const auto length = headLength(text_, before);
    if (length) {
        parseHead(std::string_view(text_).substr(0, length));
        text_.clear();
        return length - before;
    }
    if (text_.size() > largestHead)
        fail("the head of the response is larger than " + std::to_string(largestHead) + " bytes");
    return data.size();
}

bool
ResponseParser::parseStatusLine(const std::string_view line, bool &isOld)
{
    // HTTP/1.1 200 OK
    uint64_t code = 0;
    if (line.size() < 12 || line.compare(0, 7, "HTTP/1.") != 0 || line[8] != ' ' || !parseWhole(line.substr(9, 3), code)
            || code < 100 || code > 999)
        return false;
    isOld = line[7] == '0';
    status_ = static_cast<unsigned>(code);
    return true;
}

void
ResponseParser::parseHeader(const Header &header)
{
    if (header.is("content-length")) {
        uint64_t length = 0;
        if (!parseWhole(header.value, length) || length > INT64_MAX || (hasLength_ && length != left_))
            fail("bad Content-Length " + shown(header.value));
        left_ = length;
        hasLength_ = true;
    } else if (header.is("transfer-encoding")) {
        if (!equalNoCase(header.value, "chunked"))
            fail("unknown Transfer-Encoding " + shown(header.value));
        chunked_ = true;
    } else if (header.is("connection") || header.is("proxy-connection")) {
        if (equalNoCase(header.value, "close"))
            keepAlive_ = false;
        else if (equalNoCase(header.value, "keep-alive"))
            keepAlive_ = true;
    } else if (header.is("x-generated")) {
        uint64_t stamp = 0;
        if (!parseWhole(header.value, stamp) || stamp > INT64_MAX)
            fail("bad X-Generated " + shown(header.value));
        generated_ = static_cast<int64_t>(stamp);
    }
}

void
ResponseParser::parseHead(std::string_view head)
{
    const auto line = cutLine(head);
    bool isOld = false;
    if (!parseStatusLine(line, isOld)) {
        fail("no HTTP/1 response: it begins with " + shown(line));
        return;
    }
    keepAlive_ = !isOld;
    bool bad = false;
    for (Header header; header.cutFrom(head, bad) && !failed();)
        parseHeader(header);
    if (bad)
        fail("a header without a name");
    if (failed())
        return;
    if (status_ >= 200) {
        beginBody();
        return;
    }
    if (status_ == 101)
        fail("the connection changed its protocol (101)");
    hasLength_ = chunked_ = false;
    left_ = 0;
}

void
ResponseParser::beginBody()
{
    if (status_ == 204 || status_ == 304)
        state_ = State::done;
    else if (chunked_)
        state_ = State::chunkSize;
    else if (hasLength_)
        state_ = left_ ? State::fixed : State::done;
    else {
        state_ = State::untilClose;
        keepAlive_ = false;
    }
}

size_t
ResponseParser::feedBody(const std::string_view data, BodySink &sink)
{
    if (state_ == State::untilClose) {
        sink.bodyBytes(data.data(), data.size());
        return data.size();
    }
    const auto size = static_cast<size_t>(std::min<uint64_t>(data.size(), left_));
    sink.bodyBytes(data.data(), size);
    left_ -= size;
    if (!left_)
        state_ = state_ == State::chunk ? State::chunkEnd : State::done;
    return size;
}

size_t
ResponseParser::feedLine(const std::string_view data)
{
    const auto end = data.find('\n');
    const auto size = end == std::string_view::npos ? data.size() : end + 1;
    text_.append(data, 0, size);
    if (text_.size() > (state_ == State::trailer ? largestTrailer : longestLine)) {
        fail("a line between chunks is too long");
    } else if (end != std::string_view::npos) {
        text_.pop_back();
        if (!text_.empty() && text_.back() == '\r')
            text_.pop_back();
        lineArrived();
        text_.clear();
    }
    return size;
}

void
ResponseParser::lineArrived()
{
    if (state_ == State::chunkEnd) {
        state_ = State::chunkSize;
        if (!text_.empty())
            fail("a chunk is longer than it said");
    } else if (state_ == State::chunkSize) {
        if (!parseChunkSize(text_, left_))
            fail("bad chunk size " + shown(text_));
        else
            state_ = left_ ? State::chunk : State::trailer;
    } else { // trailer
        trailerBytes_ += text_.size();
        if (text_.empty())
            state_ = State::done;
        else if (trailerBytes_ > largestTrailer)
            fail("the trailer is larger than " + std::to_string(largestTrailer) + " bytes");
    }
}

} // namespace WebBench

// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads HTTP/1 responses as they arrive, in whatever pieces. */

#include "tools/bench/web/http/ResponseParser.h"
#include "tools/base/Text.h"

#include <algorithm>
#include <utility>

namespace WebBench {

using namespace Tools;

void
ResponseParser::Message::on_response_impl(const int status, beast::string_view, int, error_code &)
{
    owner_.status_ = static_cast<unsigned>(status);
}

void
ResponseParser::Message::on_field_impl(const http::field name, const beast::string_view text, const beast::string_view value, error_code &error)
{
    uint64_t stamp = 0;
    if (is_header_done()) // of a trailer
        return;
    if (name == http::field::transfer_encoding && !equalNoCase(view(value), "chunked"))
        owner_.fail("unknown Transfer-Encoding " + shown(view(value)));
    else if (name != http::field::unknown || !equalNoCase(view(text), "x-generated"))
        return;
    else if (!parseWhole(view(value), stamp) || stamp > INT64_MAX)
        owner_.fail("bad X-Generated " + shown(view(value)));
    else
        owner_.generated_ = static_cast<int64_t>(stamp);
    if (owner_.failed())
        error = http::error::bad_value;
}

size_t
ResponseParser::Message::on_body_impl(const beast::string_view text, error_code &)
{
    owner_.sink_->bodyBytes(text.data(), text.size());
    return text.size();
}

size_t
ResponseParser::Message::on_chunk_body_impl(uint64_t, const beast::string_view text, error_code &)
{
    owner_.sink_->bodyBytes(text.data(), text.size());
    return text.size();
}

void
ResponseParser::reset()
{
    message_.emplace(*this);
    pending_.clear();
    error_.clear();
    headBytes_ = 0;
    generated_ = 0;
    status_ = 0;
    started_ = false;
}

/// the first reason counts
void
ResponseParser::fail(const std::string &reason)
{
    if (error_.empty())
        error_ = reason;
}

size_t
ResponseParser::feed(const char *const data, const size_t size, BodySink &sink)
{
    size_t used = 0;
    sink_ = &sink;
    started_ = started_ || size > 0;
    while (used < size && !done() && !failed()) {
        if (pending_.empty())
            used += put(data + used, size - used);
        else
            used += putWithPending(data + used, size - used);
        if (done() && status_ < 200) {
            if (status_ == 101)
                fail("the connection changed its protocol (101)");
            message_.emplace(*this);
            headBytes_ = 0;
            status_ = 0;
        }
    }
    return used;
}

void
ResponseParser::end()
{
    if (done() || failed())
        return;
    error_code error = http::error::partial_message;
    if (message_->is_header_done())
        message_->put_eof(error);
    if (error)
        fail(started_ ? "the connection ended in the middle of the response" : "the connection ended before the response");
}

/// \returns how many bytes the message took; what is too little to go on with becomes pending
size_t
ResponseParser::put(const char *const data, const size_t size)
{
    error_code error;
    const bool inHead = !message_->is_header_done();
    const auto taken = message_->put(asio::const_buffer(data, size), error);
    const auto left = size - taken;
    if (error && error != http::error::need_more) {
        if (!status_)
            fail("no HTTP/1 response (" + error.message() + "): it begins with " + shown(std::string_view(data, std::min<size_t>(size, 40))));
        fail("bad HTTP: " + error.message());
        return taken;
    }
    if (!error)
        return taken;
    if (inHead && !message_->is_header_done())
        headBytes_ += taken;
    if (left + (message_->is_header_done() ? 0 : headBytes_) > largestHead)
        fail("the head, or a line between chunks, is larger than " + std::to_string(largestHead) + " bytes");
    pending_.assign(data + taken, left);
    return size;
}

/// Completes what is pending, with as little as will do: the rest need not be copied.
size_t
ResponseParser::putWithPending(const char *const data, const size_t size)
{
    constexpr size_t piece = 1024;
    const auto before = pending_.size();
    const auto text = std::move(pending_.append(data, std::min(size, piece)));
    pending_.clear();
    return std::max(put(text.data(), text.size()), before) - before;
}

} // namespace WebBench

// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads HTTP/1 responses as they arrive, in whatever pieces. */

#ifndef CLUSTERFS_BENCH_WEB_HTTP_RESPONSEPARSER_H
#define CLUSTERFS_BENCH_WEB_HTTP_RESPONSEPARSER_H

#include "tools/bench/web/http/HeadParser.h"

#include <optional>
#include <string>

namespace WebBench {

/// What takes the body of a response, piece by piece.
class BodySink
{
public:
    virtual ~BodySink() = default;
    virtual void bodyBytes(const char *data, size_t size) = 0;
};

/// One response at a time: its head, then its body of a stated length, in
/// chunks, or up to the end of the connection. Interim (1xx) responses are
/// passed over. Memory is bounded by largestHead. Boost.Beast does the parsing;
/// it wants the head, and each line between chunks, in one piece.
class ResponseParser
{
public:
    /// gets ready for the response to a GET
    void reset();

    /// Takes what has arrived. \returns how many bytes of it belong to this
    /// response; fewer than size only when it is done or has failed
    size_t feed(const char *data, size_t size, BodySink &);

    /// tells that the connection has ended
    void end();

    bool started() const { return started_; } ///< a byte has arrived
    bool done() const { return message_->is_done() && !failed(); }
    bool failed() const { return !error_.empty(); }
    const std::string &error() const { return error_; } ///< why it failed

    // valid once done
    unsigned status() const { return status_; }
    bool keepAlive() const { return message_->keep_alive(); } ///< another request may follow on the connection
    int64_t generated() const { return generated_; } ///< X-Generated; 0 when it has none

private:
    /// One message, interim ones included. Beast has no way to use it again.
    class Message: public HeadParser<false>
    {
    public:
        explicit Message(ResponseParser &owner): owner_(owner) {}

    private:
        void on_response_impl(int status, beast::string_view, int, error_code &) override;
        void on_field_impl(http::field, beast::string_view name, beast::string_view value, error_code &) override;
        size_t on_body_impl(beast::string_view, error_code &) override;
        size_t on_chunk_body_impl(uint64_t, beast::string_view, error_code &) override;

        ResponseParser &owner_;
    };

    size_t put(const char *data, size_t size);
    size_t putWithPending(const char *data, size_t size);
    void fail(const std::string &reason);

    std::optional<Message> message_; ///< never empty after reset()
    BodySink *sink_ = nullptr; ///< during feed()
    std::string pending_; ///< the part of a head or line that has arrived
    std::string error_;
    size_t headBytes_ = 0; ///< of it, what Beast has taken
    int64_t generated_ = 0;
    unsigned status_ = 0;
    bool started_ = false;
};

} // namespace WebBench

#endif

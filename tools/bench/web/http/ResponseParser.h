// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads HTTP/1 responses as they arrive, in whatever pieces. */

#ifndef CLUSTERFS_BENCH_WEB_HTTP_RESPONSEPARSER_H
#define CLUSTERFS_BENCH_WEB_HTTP_RESPONSEPARSER_H

#include <cstdint>
#include <string>
#include <string_view>

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
/// passed over. Memory is bounded by largestHead.
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
    bool done() const { return state_ == State::done; }
    bool failed() const { return state_ == State::failed; }
    const std::string &error() const { return error_; } ///< why it failed

    // valid once done
    unsigned status() const { return status_; }
    bool keepAlive() const { return keepAlive_; } ///< another request may follow on the connection
    int64_t generated() const { return generated_; } ///< X-Generated; 0 when it has none

private:
    enum class State { head, fixed, chunkSize, chunk, chunkEnd, trailer, untilClose, done, failed };

    size_t feedHead(std::string_view);
    size_t feedBody(std::string_view, BodySink &);
    size_t feedLine(std::string_view);
    void parseHead(std::string_view head);
    bool parseStatusLine(std::string_view line, bool &isOld);
    void parseHeader(const struct Header &);
    void beginBody();
    void lineArrived();
    void fail(const std::string &reason);

    State state_ = State::head;
    std::string text_; ///< the part of a head or line that has arrived
    std::string error_;
    uint64_t left_ = 0; ///< bytes of the body, or of the chunk, still to come
    size_t trailerBytes_ = 0;
    int64_t generated_ = 0;
    unsigned status_ = 0;
    bool started_ = false;
    bool keepAlive_ = false;
    bool chunked_ = false;
    bool hasLength_ = false;
};

} // namespace WebBench

#endif

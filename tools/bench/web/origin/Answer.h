// SPDX-License-Identifier: GPL-2.0-or-later
/* The response to one request, made as it is sent. */

#ifndef CLUSTERFS_BENCH_WEB_ORIGIN_ANSWER_H
#define CLUSTERFS_BENCH_WEB_ORIGIN_ANSWER_H

#include "tools/bench/web/corpus/BodyStream.h"
#include "tools/bench/web/corpus/Target.h"
#include "tools/bench/web/http/RequestParser.h"

#include <cstdint>
#include <string>

namespace WebBench {

/// How an origin answers.
struct AnswerStyle {
    uint64_t maxAge = 31536000; ///< seconds
    bool noStore = false; ///< nothing may be cached
    bool chunked = false; ///< bodies without a stated length, where the client knows HTTP/1.1
    uint64_t wrongEvery = 0; ///< one in so many bodies has a wrong byte in its middle, to test clients; 0 is none
};

/// Head and body of a response, piece by piece: a body of any size takes no memory.
class Answer
{
public:
    /// prepares the response to a request \param wrong damages the body
    void begin(const Request &, const AnswerStyle &, bool wrong);
    /// prepares the response to what is no request; it closes the connection
    void beginBad();

    /// writes what comes next \returns how many bytes; 0 at the end
    /// \param room at least minimalRoom
    size_t produce(char *to, size_t room);

    bool keepAlive() const { return keepAlive_; }
    uint64_t bodyBytes() const { return bodyLeft_ + at_; } ///< of the whole body
    bool isError() const { return status_ >= 400; }

    static constexpr size_t minimalRoom = 32768;

private:
    void beginHead(const char *status, bool keepAlive);
    void beginError(const char *status);
    size_t produceBody(char *to, size_t room);
    size_t produceChunk(char *to, size_t room);

    std::string head_; ///< what of it is still to be sent
    BodyStream body_;
    uint64_t at_ = 0; ///< offset in the body
    uint64_t bodyLeft_ = 0;
    uint64_t wrongAt_ = UINT64_MAX; ///< offset of the byte that is wrong
    unsigned status_ = 0;
    bool keepAlive_ = false;
    bool chunked_ = false;
    bool lastChunk_ = false; ///< still to be sent
};

} // namespace WebBench

#endif

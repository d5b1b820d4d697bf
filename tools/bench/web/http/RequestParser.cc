// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the head of an HTTP/1 request. */

#include "tools/bench/web/http/RequestParser.h"
#include "tools/base/Text.h"
#include "tools/bench/web/http/HttpHead.h"

namespace WebBench {

using namespace Tools;

namespace {

/// cuts scheme and host off a target in absolute form
std::string_view
pathOf(const std::string_view target)
{
    if (target.compare(0, 7, "http://") != 0)
        return target;
    const auto slash = target.find('/', 7);
    return slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
}

/// \returns false when the line is no request line of HTTP/1
bool
parseRequestLine(const std::string_view line, Request &request)
{
    const auto words = split(line, ' ');
    if (words.size() != 3 || words[0].empty() || words[2].compare(0, 7, "HTTP/1.") != 0)
        return false;
    request.method = words[0];
    request.path = pathOf(words[1]);
    request.http11 = request.keepAlive = words[2] != "HTTP/1.0";
    return !request.path.empty();
}

} // namespace

RequestOutcome
parseRequest(const std::string_view text, Request &request, size_t &length)
{
    length = headLength(text);
    if (!length)
        return text.size() > largestHead ? RequestOutcome::bad : RequestOutcome::incomplete;
    auto head = text.substr(0, length);
    request = Request();
    bool bad = !parseRequestLine(cutLine(head), request);
    for (Header header; !bad && header.cutFrom(head, bad);) {
        if (header.is("connection")) {
            if (equalNoCase(header.value, "close"))
                request.keepAlive = false;
            else if (equalNoCase(header.value, "keep-alive"))
                request.keepAlive = true;
        } else if (header.is("if-none-match")) {
            request.ifNoneMatch = header.value;
        } else if (header.is("transfer-encoding") || (header.is("content-length") && header.value != "0")) {
            bad = true; // nothing here takes a body
        }
    }
    return bad ? RequestOutcome::bad : RequestOutcome::complete;
}

} // namespace WebBench

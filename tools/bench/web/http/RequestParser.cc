// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the head of an HTTP/1 request. */

#include "tools/bench/web/http/RequestParser.h"
#include "tools/bench/web/http/HeadParser.h"

namespace WebBench {

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

class Reader: public HeadParser<true>
{
public:
    explicit Reader(Request &request): request_(request) { eager(false); }

private:
    void on_request_impl(http::verb, const beast::string_view method, const beast::string_view target, const int version, error_code &) override {
        request_.method = view(method);
        request_.path = pathOf(view(target));
        request_.http11 = version == 11;
    }
    void on_field_impl(const http::field name, beast::string_view, const beast::string_view value, error_code &error) override {
        if (name == http::field::if_none_match)
            request_.ifNoneMatch = view(value);
        else if (name == http::field::transfer_encoding)
            error = http::error::bad_transfer_encoding; // nothing here takes a body
    }

    Request &request_;
};

} // namespace

RequestOutcome
parseRequest(const std::string_view text, Request &request, size_t &length)
{
    request = Request();
    Reader reader(request);
    error_code error;
    length = reader.put(asio::const_buffer(text.data(), text.size()), error);
    if (error == http::error::need_more)
        return text.size() > largestHead ? RequestOutcome::bad : RequestOutcome::incomplete;
    if (error || !reader.is_done()) // it has a body
        return RequestOutcome::bad;
    request.keepAlive = reader.keep_alive();
    return RequestOutcome::complete;
}

} // namespace WebBench

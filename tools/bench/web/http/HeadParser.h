// SPDX-License-Identifier: GPL-2.0-or-later
/* Boost.Beast's HTTP/1 parser, where only a few headers matter. */

#ifndef CLUSTERFS_BENCH_WEB_HTTP_HEADPARSER_H
#define CLUSTERFS_BENCH_WEB_HTTP_HEADPARSER_H

#include "tools/bench/web/base/Asio.h"

#include <boost/beast/http/basic_parser.hpp>

#include <string_view>

namespace WebBench {

namespace beast = boost::beast;
namespace http = boost::beast::http;

/// the largest head of a message that is read, in bytes
constexpr uint32_t largestHead = 65536;

inline std::string_view
view(const beast::string_view text)
{
    return {text.data(), text.size()};
}

/// A parser that keeps nothing: what is of use overrides a function. Unlike
/// Beast's own message parsers it takes no memory for each header.
template<bool isRequest>
class HeadParser: public http::basic_parser<isRequest>
{
public:
    HeadParser() {
        this->header_limit(largestHead);
        this->body_limit(UINT64_MAX);
        this->eager(true);
    }

private:
    void on_request_impl(http::verb, beast::string_view, beast::string_view, int, error_code &) override {}
    void on_response_impl(int, beast::string_view, int, error_code &) override {}
    void on_field_impl(http::field, beast::string_view, beast::string_view, error_code &) override {}
    /// of newer versions of Beast; for older ones no override
    virtual void on_trailer_field_impl(http::field, beast::string_view, beast::string_view, error_code &) {}
    void on_header_impl(error_code &) override {}
    void on_body_init_impl(const boost::optional<uint64_t> &, error_code &) override {}
    size_t on_body_impl(const beast::string_view text, error_code &) override { return text.size(); }
    void on_chunk_header_impl(uint64_t, beast::string_view, error_code &) override {}
    size_t on_chunk_body_impl(uint64_t, const beast::string_view text, error_code &) override { return text.size(); }
    void on_finish_impl(error_code &) override {}
};

} // namespace WebBench

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes JSON. */

#include "tools/bench/web/base/Json.h"

#include <cmath>
#include <cstdio>

namespace WebBench {

void
Json::quote(const std::string &value)
{
    text_ += '"';
    for (const char c: value) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            text_ += '\\';
            text_ += c;
        } else if (code < 0x20 || code > 0x7e) {
            // a byte that is no ASCII stands for itself, whatever its encoding was
            char escape[8];
            snprintf(escape, sizeof(escape), "\\u%04x", code);
            text_ += escape;
        } else {
            text_ += c;
        }
    }
    text_ += '"';
}

void
Json::begin(const std::string &key)
{
    if (!first_)
        text_ += ',';
    first_ = false;
    if (!key.empty()) {
        quote(key);
        text_ += ':';
    }
}

void
Json::open(const std::string &key, const char bracket)
{
    begin(key);
    text_ += bracket;
    first_ = true;
}

void
Json::close(const char bracket)
{
    text_ += bracket;
    first_ = false;
}

void
Json::add(const std::string &key, const std::string &value)
{
    begin(key);
    quote(value);
}

void
Json::add(const std::string &key, const uint64_t value)
{
    begin(key);
    text_ += std::to_string(value);
}

void
Json::add(const std::string &key, const double value)
{
    if (!std::isfinite(value)) {
        addNull(key);
        return;
    }
    begin(key);
    char number[40];
    snprintf(number, sizeof(number), "%.9g", value);
    text_ += number;
}

void
Json::addNull(const std::string &key)
{
    begin(key);
    text_ += "null";
}

} // namespace WebBench

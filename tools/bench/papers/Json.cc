// SPDX-License-Identifier: GPL-2.0-or-later
/* Results as JSON text. */

#include "Json.h"

#include <cmath>
#include <cstdio>

namespace Papers {

static std::string
quoted(const std::string &text)
{
    std::string result = "\"";
    for (const char c: text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            result += std::string("\\") + c;
        else if (byte >= 0x20 && byte < 0x7f)
            result += c;
        else {
            char code[8];
            snprintf(code, sizeof(code), "\\u%04x", byte);
            result += code;
        }
    }
    return result + "\"";
}

static std::string
number(const double value)
{
    if (!std::isfinite(value))
        return "null";
    char text[40];
    snprintf(text, sizeof(text), "%.9g", value);
    return text;
}

std::string &
Json::lead(const char *const name)
{
    if (!text_.empty())
        text_ += ", ";
    return text_ += quoted(name) + ": ";
}

void
Json::put(const char *const name, const std::string &value)
{
    lead(name) += quoted(value);
}

void
Json::put(const char *const name, const double value)
{
    lead(name) += number(value);
}

void
Json::put(const char *const name, const uint64_t value)
{
    lead(name) += std::to_string(value);
}

void
Json::put(const char *const name, const bool value)
{
    lead(name) += value ? "true" : "false";
}

void
Json::put(const char *const name, const Json &value)
{
    lead(name) += value.text();
}

void
Json::add(const Json &value)
{
    list_ = true;
    text_ += (text_.empty() ? "" : ", ") + value.text();
}

void
Json::add(const double value)
{
    list_ = true;
    text_ += (text_.empty() ? "" : ", ") + number(value);
}

std::string
Json::text() const
{
    return (list_ ? "[" : "{") + text_ + (list_ ? "]" : "}");
}

} // namespace Papers

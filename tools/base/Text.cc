// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading numbers and fields from text, strictly. */

#include "tools/base/Text.h"

#include <charconv>
#include <cmath>
#include <strings.h>

namespace Tools {

namespace {

template <class Number>
bool
parse(const std::string_view text, Number &result)
{
    const auto end = text.data() + text.size();
    Number number{};
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end)
        return false;
    result = number;
    return true;
}

} // namespace

bool
parseWhole(const std::string_view text, uint64_t &result)
{
    return parse(text, result);
}

bool
parseReal(const std::string_view text, double &result)
{
    double number = 0;
    if (!parse(text, number) || !std::isfinite(number))
        return false;
    result = number;
    return true;
}

std::vector<std::string_view>
split(std::string_view text, const char separator)
{
    std::vector<std::string_view> result;
    for (;;) {
        const auto end = text.find(separator);
        result.push_back(text.substr(0, end));
        if (end == std::string_view::npos)
            return result;
        text.remove_prefix(end + 1);
    }
}

std::vector<std::string_view>
splitWords(const std::string_view text)
{
    std::vector<std::string_view> result;
    for (const auto word: split(text, ' ')) {
        if (!word.empty())
            result.push_back(word);
    }
    return result;
}

std::string
fit(const std::string_view text)
{
    constexpr size_t most = 60;
    std::string result;
    for (const char c: text.substr(0, most))
        result += c >= 0x20 && c < 0x7f ? c : '?';
    return result + (text.size() > most ? "..." : "");
}

std::string
shown(const std::string_view text)
{
    return "\"" + fit(text) + "\"";
}

bool
equalNoCase(const std::string_view a, const std::string_view b)
{
    return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

} // namespace Tools

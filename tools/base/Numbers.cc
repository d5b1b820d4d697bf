// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers as people write them, within bounds. */

#include "tools/base/Numbers.h"
#include "tools/base/Text.h"

#include <cmath>
#include <cstdio>

namespace Tools {

namespace {

/// a whole number that may have a unit
bool
parseScaled(std::string_view text, uint64_t &result)
{
    unsigned shift = 0;
    const auto unit = text.empty() ? std::string_view::npos : std::string_view("KMGTkmgt").find(text.back());
    if (unit != std::string_view::npos) {
        shift = 10 * (static_cast<unsigned>(unit) % 4 + 1);
        text.remove_suffix(1);
    }
    uint64_t number = 0;
    if (!parseWhole(text, number) || number > (UINT64_MAX >> shift))
        return false;
    result = number << shift;
    return true;
}

/// \param form what the text is not
[[noreturn]] void
refuse(const std::string &what, const std::string &text, const char *const form, const std::string &least, const std::string &most)
{
    throw BadRequest(what + "=" + fit(text) + " is not a " + form + " from " + least + " to " + most);
}

} // namespace

uint64_t
wholeFrom(const std::string &what, const std::string &text, const uint64_t least, const uint64_t most)
{
    uint64_t number = 0;
    if (!parseWhole(text, number) || number < least || number > most)
        refuse(what, text, "whole number", std::to_string(least), std::to_string(most));
    return number;
}

uint64_t
scaledFrom(const std::string &what, const std::string &text, const uint64_t least, const uint64_t most)
{
    uint64_t number = 0;
    if (!parseScaled(text, number) || number < least || number > most)
        refuse(what, text, "whole number", std::to_string(least), std::to_string(most));
    return number;
}

uint64_t
bytesFrom(const std::string &what, const std::string &text, const uint64_t least, const uint64_t most)
{
    uint64_t number = 0;
    if (!parseScaled(text, number) || number < least || number > most)
        refuse(what, text, "whole number of bytes (or of K, M, G, T)", sizeText(least), sizeText(most));
    return number;
}

double
realFrom(const std::string &what, const std::string &text, const double least, const double most)
{
    double number = 0;
    if (!parseReal(text, number) || number < least || number > most)
        refuse(what, text, "number", realText(least), realText(most));
    return number;
}

std::string
realText(const double value)
{
    char text[64];
    snprintf(text, sizeof(text), "%.12g", value);
    return text;
}

std::string
sizeText(const uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    double value = static_cast<double>(bytes);
    unsigned unit = 0;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        ++unit;
    }
    char text[64];
    snprintf(text, sizeof(text), value == std::floor(value) ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

} // namespace Tools

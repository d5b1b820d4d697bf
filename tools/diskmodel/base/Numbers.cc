// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers as people write them. */

#include "tools/diskmodel/base/Numbers.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace DiskModel {

/// a number without digits that say nothing
static std::string
shortText(const double value)
{
    char text[64];
    snprintf(text, sizeof(text), "%.10g", value);
    return text;
}

double
parseNumber(const std::string &what, const std::string &text, const double least, const double most)
{
    char *end = nullptr;
    const double value = strtod(text.c_str(), &end);
    if (text.empty() || *end || !std::isfinite(value))
        throw BadRequest(what + " is not a number: '" + text + "'");
    if (value < least || value > most)
        throw BadRequest(what + " must be from " + shortText(least) + " to " + shortText(most) + ", not " + text);
    return value;
}

uint64_t
parseWhole(const std::string &what, const std::string &text, const uint64_t least, const uint64_t most)
{
    char *end = nullptr;
    errno = 0;
    // strtoull() would take a minus sign and leading blanks
    const bool digit = !text.empty() && text[0] >= '0' && text[0] <= '9';
    const bool hexadecimal = text.compare(0, 2, "0x") == 0;
    const uint64_t value = digit ? strtoull(text.c_str(), &end, hexadecimal ? 16 : 10) : 0;
    if (!digit || *end || errno)
        throw BadRequest(what + " is not a whole number: '" + text + "'");
    if (value < least || value > most) {
        throw BadRequest(what + " must be from " + std::to_string(least) + " to " + std::to_string(most) +
                         ", not " + text);
    }
    return value;
}

uint64_t
parseSize(const std::string &what, const std::string &text, const uint64_t least, const uint64_t most)
{
    std::string digits = text;
    unsigned shift = 0;
    if (!digits.empty()) {
        switch (digits.back()) {
        case 'k': case 'K': shift = 10; break;
        case 'm': case 'M': shift = 20; break;
        case 'g': case 'G': shift = 30; break;
        case 't': case 'T': shift = 40; break;
        default: break;
        }
        if (shift)
            digits.pop_back();
    }
    const uint64_t value = parseWhole(what, digits, 0, UINT64_MAX);
    if (value > (UINT64_MAX >> shift) || value << shift < least || value << shift > most)
        throw BadRequest(what + " must be from " + sizeText(least) + " to " + sizeText(most) + ", not " + text);
    return value << shift;
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

} // namespace DiskModel

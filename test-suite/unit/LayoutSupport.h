// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tests of the media format share. */

#ifndef SQUID_TEST_SUITE_UNIT_LAYOUTSUPPORT_H
#define SQUID_TEST_SUITE_UNIT_LAYOUTSUPPORT_H

#include "EngineSupport.h"

namespace ClusterFs {
namespace Testing {

inline Uuid
uuidOf(const uint8_t first)
{
    Uuid u;
    for (size_t i = 0; i < u.size(); ++i)
        u[i] = static_cast<uint8_t>(first + i);
    return u;
}

inline std::string
hexOf(const std::string &bytes)
{
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (const auto c: bytes) {
        text += digits[static_cast<uint8_t>(c) >> 4];
        text += digits[static_cast<uint8_t>(c) & 15];
    }
    return text;
}

/// stores a checksum that a test has made itself
inline void
putCrc(std::string &bytes, const size_t at, const uint32_t crc)
{
    for (unsigned i = 0; i < 4; ++i)
        bytes[at + i] = static_cast<char>(crc >> (8 * i));
}

/// calls with each single bit changed, or each step-th of them
template <class Call>
void
forEachFlip(std::string bytes, const size_t step, const Call &call)
{
    for (size_t bit = 0; bit < bytes.size() * 8; bit += step) {
        auto &byte = bytes[bit / 8];
        byte = static_cast<char>(byte ^ (1 << (bit % 8)));
        call(static_cast<const std::string &>(bytes), bit);
        byte = static_cast<char>(byte ^ (1 << (bit % 8)));
    }
}

} // namespace Testing
} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Keys and bytes for tests. They are made often enough to be compiled as the engine is, and not as the tests are. */

#include "test-suite/doubles/Content.h"

#include <cstring>

uint64_t
ClusterFs::Testing::mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

ClusterFs::Key
ClusterFs::Testing::keyFrom(const uint64_t high, const uint64_t low)
{
    Key k;
    for (unsigned i = 0; i < 8; ++i) {
        k.bytes[i] = static_cast<uint8_t>(high >> (8 * i));
        k.bytes[8 + i] = static_cast<uint8_t>(low >> (8 * i));
    }
    return k;
}

ClusterFs::Key
ClusterFs::Testing::keyOf(const uint64_t n)
{
    return keyFrom(mix(2 * n), mix(2 * n + 1));
}

std::string
ClusterFs::Testing::bytesOf(const uint64_t seed, const size_t size)
{
    std::string s(size + 8, '\0');
    for (size_t at = 0; at < size; at += 8) {
        const auto word = mix(seed * 1000003 + at);
        memcpy(&s[at], &word, 8);
    }
    s.resize(size);
    return s;
}

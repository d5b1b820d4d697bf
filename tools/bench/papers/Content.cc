// SPDX-License-Identifier: GPL-2.0-or-later
/* Making and checking the bytes of objects. */

#include "Content.h"

#include <algorithm>
#include <cstring>

namespace Papers {

static constexpr size_t patternBytes = 256 * 1024; // stays in the processor's cache

Content::Content(const uint64_t seed):
    pattern_(2 * patternBytes)
{
    for (size_t at = 0; at < patternBytes; at += 8) {
        const auto word = scattered(seed * 1000003 + at);
        memcpy(&pattern_[at], &word, 8);
    }
    memcpy(&pattern_[patternBytes], &pattern_[0], patternBytes);
}

size_t
Content::startOf(const Item &item) const
{
    return scattered((uint64_t(item.version) << 32) | item.id) % patternBytes;
}

/// the first bytes of an object
static void
encodeHeader(const Item &item, char *to)
{
    const uint32_t words[4] = {0x70617065, item.id, item.version, item.size};
    static_assert(sizeof(words) == Content::headerBytes, "all of the header");
    memcpy(to, words, sizeof(words));
}

void
Content::fill(const Item &item, uint64_t offset, char *to, size_t size) const
{
    if (offset < headerBytes) {
        char header[headerBytes];
        encodeHeader(item, header);
        const auto n = std::min<size_t>(size, headerBytes - offset);
        memcpy(to, header + offset, n);
        offset += n;
        to += n;
        size -= n;
    }
    while (size > 0) {
        const auto from = (startOf(item) + offset) % patternBytes;
        const auto n = std::min(size, patternBytes);
        memcpy(to, &pattern_[from], n);
        offset += n;
        to += n;
        size -= n;
    }
}

bool
Content::check(const uint32_t id, const uint32_t size, uint64_t offset, const char *bytes, size_t length, uint32_t &version) const
{
    if (offset + length > size)
        return false;
    if (offset == 0 && length >= 12)
        memcpy(&version, bytes + 8, 4);
    Item item;
    item.id = id;
    item.version = version;
    item.size = size;
    if (offset < headerBytes) {
        char header[headerBytes];
        encodeHeader(item, header);
        const auto n = std::min<size_t>(length, headerBytes - offset);
        if (memcmp(bytes, header + offset, n) != 0)
            return false;
        offset += n;
        bytes += n;
        length -= n;
    }
    while (length > 0) {
        const auto n = compare(item, offset, bytes, length);
        if (!n)
            return false;
        offset += n;
        bytes += n;
        length -= n;
    }
    return true;
}

/// \returns how many bytes were compared and found right, 0 when some were wrong
size_t
Content::compare(const Item &item, const uint64_t offset, const char *bytes, const size_t length) const
{
    const auto n = std::min(length, patternBytes);
    return memcmp(bytes, &pattern_[(startOf(item) + offset) % patternBytes], n) == 0 ? n : 0;
}

} // namespace Papers

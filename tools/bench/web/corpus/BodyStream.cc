// SPDX-License-Identifier: GPL-2.0-or-later
/* The bytes of an object's body. */

#include "tools/bench/web/corpus/BodyStream.h"

#include <algorithm>
#include <cstring>
#include <endian.h>

namespace WebBench {

void
BodyStream::fill(uint64_t offset, char *to, size_t size) const
{
    for (; size && offset % 8; --size)
        *to++ = byteAt(offset++);
    for (uint64_t n = offset / 8; size >= 8; ++n, size -= 8, to += 8, offset += 8) {
        const uint64_t bytes = htole64(word(n));
        memcpy(to, &bytes, 8);
    }
    for (; size; --size)
        *to++ = byteAt(offset++);
}

size_t
BodyStream::check(const uint64_t offset, const char *const data, const size_t size) const
{
    const auto front = static_cast<size_t>(std::min<uint64_t>(size, (8 - offset % 8) % 8));
    const size_t words = (size - front) / 8;
    const uint64_t first = (offset + front) / 8;
    const char *from = data + front;
    uint64_t difference = 0; // gathered, since a branch for each word would cost more
    for (size_t i = 0; i < words; ++i, from += 8) {
        uint64_t bytes;
        memcpy(&bytes, from, 8);
        difference |= le64toh(bytes) ^ word(first + i);
    }
    const size_t checked = front + words * 8;
    if (difference || firstWrong(offset, data, front) < front
            || firstWrong(offset + checked, data + checked, size - checked) < size - checked)
        return firstWrong(offset, data, size);
    return size;
}

size_t
BodyStream::firstWrong(const uint64_t offset, const char *const data, const size_t size) const
{
    size_t i = 0;
    while (i < size && data[i] == byteAt(offset + i))
        ++i;
    return i;
}

} // namespace WebBench

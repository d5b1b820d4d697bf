// SPDX-License-Identifier: GPL-2.0-or-later
/* The bytes of an object's body. */

#ifndef CLUSTERFS_BENCH_WEB_CORPUS_BODYSTREAM_H
#define CLUSTERFS_BENCH_WEB_CORPUS_BODYSTREAM_H

#include <cstddef>
#include <cstdint>

namespace WebBench {

/// Bytes that a seed decides, from any offset on. They look random: they don't
/// compress, and bytes of another place or another object differ from them.
class BodyStream
{
public:
    explicit BodyStream(const uint64_t seed = 0): seed_(seed) {}

    /// writes what belongs at an offset of the body
    void fill(uint64_t offset, char *to, size_t size) const;

    /// compares with what belongs at an offset
    /// \returns how many bytes at the front are right; size when all are
    size_t check(uint64_t offset, const char *data, size_t size) const;

private:
    /// eight bytes of the body, the n-th
    uint64_t word(const uint64_t n) const {
        uint64_t x = seed_ + n * 0x9e3779b97f4a7c15ULL;
        x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
        return x ^ (x >> 32);
    }
    char byteAt(const uint64_t offset) const {
        return static_cast<char>(word(offset / 8) >> (offset % 8 * 8));
    }
    size_t firstWrong(uint64_t offset, const char *data, size_t size) const;

    uint64_t seed_;
};

} // namespace WebBench

#endif

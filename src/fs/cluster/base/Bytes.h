// SPDX-License-Identifier: GPL-2.0-or-later
/* Little-endian fields, written and read one by one with bounds. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_BYTES_H
#define SQUID_SRC_FS_CLUSTER_BASE_BYTES_H

#include "fs/cluster/base/Types.h"

#include <cassert>
#include <cstring>

namespace ClusterFs {

/// Appends fields to a buffer of known size. Overflow is a programming error.
class ByteWriter
{
public:
    ByteWriter(char *buffer, const size_t size): start_(buffer), at_(buffer), end_(buffer + size) {}

    void u8(const uint8_t v) { number(v, 1); }
    void u16(const uint16_t v) { number(v, 2); }
    void u32(const uint32_t v) { number(v, 4); }
    void u64(const uint64_t v) { number(v, 8); }
    template <class Tag, class N>
    void id(const Id<Tag, N> v) { number(v.value(), sizeof(N)); }
    void bytes(const void *from, const size_t n) {
        assert(n <= left());
        memcpy(at_, from, n);
        at_ += n;
    }
    void key(const Key &k) { bytes(k.bytes.data(), k.bytes.size()); }
    void zeros(const size_t n) {
        assert(n <= left());
        memset(at_, 0, n);
        at_ += n;
    }

    size_t used() const { return static_cast<size_t>(at_ - start_); }
    size_t left() const { return static_cast<size_t>(end_ - at_); }

private:
    void number(uint64_t v, const size_t n) {
        assert(n <= left());
        for (size_t i = 0; i < n; ++i, v >>= 8)
            *at_++ = static_cast<char>(v & 0xff);
    }

    char *start_;
    char *at_;
    char *end_;
};

/// Takes fields from a buffer of known size. Reading past the end gives zeros
/// and sets a flag that stays: check good() once after the last field.
class ByteReader
{
public:
    ByteReader(const char *buffer, const size_t size): at_(buffer), end_(buffer + size) {}

    uint8_t u8() { return static_cast<uint8_t>(number(1)); }
    uint16_t u16() { return static_cast<uint16_t>(number(2)); }
    uint32_t u32() { return static_cast<uint32_t>(number(4)); }
    uint64_t u64() { return number(8); }
    template <class Tag, class N>
    void id(Id<Tag, N> &to) { to = Id<Tag, N>(static_cast<N>(number(sizeof(N)))); }
    void bytes(void *to, const size_t n) {
        if (!take(n)) {
            memset(to, 0, n);
            return;
        }
        memcpy(to, at_ - n, n);
    }
    Key key() {
        Key k;
        bytes(k.bytes.data(), k.bytes.size());
        return k;
    }
    void skip(const size_t n) { take(n); }

    bool good() const { return good_; }
    size_t left() const { return static_cast<size_t>(end_ - at_); }

private:
    bool take(const size_t n) {
        if (!good_ || n > left()) {
            good_ = false;
            return false;
        }
        at_ += n;
        return true;
    }
    uint64_t number(const size_t n) {
        if (!take(n))
            return 0;
        uint64_t v = 0;
        for (size_t i = 0; i < n; ++i)
            v |= static_cast<uint64_t>(static_cast<uint8_t>((at_ - n)[i])) << (8 * i);
        return v;
    }

    const char *at_;
    const char *end_;
    bool good_ = true;
};

} // namespace ClusterFs

#endif

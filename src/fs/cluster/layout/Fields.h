// SPDX-License-Identifier: GPL-2.0-or-later
/* How structures on the device are described: once, for encoding, for decoding, and for docs/format.md. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_FIELDS_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_FIELDS_H

#include "fs/cluster/base/Bytes.h"

#include <array>
#include <string>
#include <type_traits>
#include <vector>

namespace ClusterFs {

/* Each structure has a function template, describe...(), that names its fields in order. Its callers give it one
 * of the three classes below, which have the same members: u8() to u64() for a number of so many bytes, id(),
 * key(), bytes(), expect() for bytes that must be there, zeros(). Each but the last is told the meaning of the field, a
 * phrase for docs/format.md. Fields beside each other that have the same meaning are one there. */

/// writes a structure; enumerations and bool go as numbers
class FieldWriter: public ByteWriter
{
public:
    using ByteWriter::ByteWriter;

    template <class T> void u8(const T &v, const char *) { ByteWriter::u8(static_cast<uint8_t>(v)); }
    template <class T> void u16(const T &v, const char *) { ByteWriter::u16(static_cast<uint16_t>(v)); }
    template <class T> void u32(const T &v, const char *) { ByteWriter::u32(static_cast<uint32_t>(v)); }
    template <class T> void u64(const T &v, const char *) { ByteWriter::u64(static_cast<uint64_t>(v)); }
    template <class I> void id(const I v, const char *) { ByteWriter::id(v); }
    void key(const Key &k, const char *) { ByteWriter::key(k); }
    template <size_t N> void bytes(const std::array<uint8_t, N> &b, const char *) { ByteWriter::bytes(b.data(), N); }
    void expect(const void *b, const size_t n, const char *) { ByteWriter::bytes(b, n); }
};

/// Reads a structure; a bool is true when the number is 1. Check good() and expected() at the end.
class FieldReader: public ByteReader
{
public:
    using ByteReader::ByteReader;

    template <class T> void u8(T &v, const char *) { take(v, ByteReader::u8()); }
    template <class T> void u16(T &v, const char *) { take(v, ByteReader::u16()); }
    template <class T> void u32(T &v, const char *) { take(v, ByteReader::u32()); }
    template <class T> void u64(T &v, const char *) { take(v, ByteReader::u64()); }
    template <class I> void id(I &v, const char *) { ByteReader::id(v); }
    void key(Key &k, const char *) { k = ByteReader::key(); }
    template <size_t N> void bytes(std::array<uint8_t, N> &b, const char *) { ByteReader::bytes(b.data(), N); }
    void expect(const void *b, const size_t n, const char *) {
        char there[16];
        assert(n <= sizeof(there));
        ByteReader::bytes(there, n);
        expected_ = expected_ && memcmp(there, b, n) == 0;
    }
    void zeros(const size_t n) { skip(n); }

    /// whether all bytes that must be there were there
    bool expected() const { return expected_; }

private:
    template <class T, class Number>
    static void take(T &v, const Number n) {
        if constexpr (std::is_same_v<T, bool>)
            v = n == 1;
        else
            v = static_cast<T>(n);
    }

    bool expected_ = true;
};

/// a field, for docs/format.md
struct FieldRow {
    size_t at; ///< bytes from the start of the structure
    size_t bytes;
    std::string meaning;
};

/// the fields of a structure
using FieldRows = std::vector<FieldRow>;

/// lists the fields of a structure
class FieldTable
{
public:
    template <class T> void u8(const T &, const char *meaning) { add(1, meaning); }
    template <class T> void u16(const T &, const char *meaning) { add(2, meaning); }
    template <class T> void u32(const T &, const char *meaning) { add(4, meaning); }
    template <class T> void u64(const T &, const char *meaning) { add(8, meaning); }
    template <class I> void id(const I, const char *meaning) { add(sizeof(typename I::Value), meaning); }
    void key(const Key &, const char *meaning) { add(16, meaning); }
    template <size_t N> void bytes(const std::array<uint8_t, N> &, const char *meaning) { add(N, meaning); }
    void expect(const void *, const size_t n, const char *meaning) { add(n, meaning); }
    void zeros(const size_t n) { add(n, "zero"); }

    size_t end() const { return rows.empty() ? 0 : rows.back().at + rows.back().bytes; }

    FieldRows rows;

private:
    void add(const size_t bytes, const char *const meaning) {
        if (!rows.empty() && rows.back().meaning == meaning)
            rows.back().bytes += bytes;
        else
            rows.push_back({end(), bytes, meaning});
    }
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* What the simulation knows of each object: every version it ever stored. */

#ifndef CLUSTERFS_TEST_SIMULATE_ORACLE_H
#define CLUSTERFS_TEST_SIMULATE_ORACLE_H

#include "fs/cluster/base/Types.h"

#include <map>
#include <string>
#include <vector>

namespace Simulate {

/// one version of one object
struct Version {
    uint64_t number = 0; ///< unique over all objects
    uint64_t size = 0; ///< bytes
    uint64_t headVersion = 0; ///< whose bytes the first headSize ones are
    uint64_t headSize = 0;
    uint64_t bodyVersion = 0; ///< whose bytes the others are
    uint64_t bodySkip = 0; ///< bytes of that version's body that came before
    uint64_t finished = 0; ///< when it was complete, microseconds; 0 = never
    bool lost = false; ///< a start did not find it: a crash or a replacement took it
    uint64_t removed = 0; ///< when it was deleted or replaced, microseconds; 0 = not
};

/// the byte at an offset of a version: a function of both, so that bytes of
/// another version, object or place never pass
inline char
byteAt(const uint64_t version, const uint64_t offset)
{
    uint64_t x = (version * 0x9e3779b97f4a7c15ULL) ^ ((offset >> 3) * 0xbf58476d1ce4e5b9ULL);
    x ^= x >> 29;
    x *= 0x94d049bb133111ebULL;
    x ^= x >> 32;
    return static_cast<char>(x >> (8 * (offset & 7)));
}

inline char
expectedByte(const Version &v, const uint64_t offset)
{
    return offset < v.headSize ? byteAt(v.headVersion, offset) :
           byteAt(v.bodyVersion, v.bodySkip + offset - v.headSize);
}

/// what a version's bytes are from an offset on
inline void
fill(const Version &v, const uint64_t offset, char *to, const size_t size)
{
    for (size_t i = 0; i < size; ++i)
        to[i] = expectedByte(v, offset + i);
}

inline bool
matches(const Version &v, const uint64_t offset, const char *bytes, const size_t size)
{
    if (offset + size > v.size)
        return false;
    for (size_t i = 0; i < size; ++i) {
        if (bytes[i] != expectedByte(v, offset + i))
            return false;
    }
    return true;
}

/// all versions of all objects
class Oracle
{
public:
    /// a new version of an object; not finished yet
    Version &add(const uint64_t object) {
        auto &list = versions_[object];
        list.emplace_back();
        list.back().number = ++last_;
        return list.back();
    }
    std::vector<Version> &of(const uint64_t object) { return versions_[object]; }

    /// the version that a lookup must give, or nil
    Version *current(const uint64_t object) {
        auto &list = versions_[object];
        for (auto v = list.rbegin(); v != list.rend(); ++v) {
            if (v->finished && !v->removed)
                return &*v;
        }
        return nullptr;
    }

    /// the object was deleted or replaced
    void remove(const uint64_t object, const uint64_t now) {
        for (auto &v: versions_[object]) {
            if (v.finished && !v.removed)
                v.removed = now;
        }
    }

    const std::map<uint64_t, std::vector<Version>> &all() const { return versions_; }

    static ClusterFs::Key KeyOf(const uint64_t object) {
        ClusterFs::Key k;
        for (size_t i = 0; i < 16; ++i)
            k.bytes[i] = static_cast<uint8_t>(byteAt(~object, i));
        return k;
    }

private:
    std::map<uint64_t, std::vector<Version>> versions_;
    uint64_t last_ = 0;
};

} // namespace Simulate

#endif

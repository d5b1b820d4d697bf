// SPDX-License-Identifier: GPL-2.0-or-later
/* The knowledge of the simulation: all versions of all objects that it stored. */

#ifndef CLUSTERFS_TEST_SIMULATE_ORACLE_H
#define CLUSTERFS_TEST_SIMULATE_ORACLE_H

#include "fs/cluster/base/Types.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace Simulate {

/// one version of one object
struct Version {
    uint64_t number = 0; ///< unique over all objects
    uint64_t size = 0; ///< bytes
    uint64_t headVersion = 0; ///< number of the version that gave the first headSize bytes
    uint64_t headSize = 0; ///< bytes
    uint64_t bodyVersion = 0; ///< number of the version that gave the other bytes
    uint64_t bodySkip = 0; ///< bytes of that version's body that are not in this one any more
    uint64_t finished = 0; ///< when it was complete, microseconds; 0 = never
    bool lost = false; ///< a start did not find it: a crash or a replacement took it
    uint64_t removed = 0; ///< when it was deleted or replaced, microseconds; 0 = not
    bool mayBeLost = false; ///< a crash came too early for it, and nobody has looked since
    bool mayBeBack = false; ///< a crash came too early for its removal, and nobody has looked since
    bool mayBeTorn = false; ///< a power cut came so early that its cluster may be damaged, even if it was found since
    uint64_t writes = 0; ///< writes of the device from its formatting until the version was complete
    uint32_t clusters = 0; ///< of the store when the version was complete; the store may have grown since
    std::vector<ClusterFs::ObjectInfo> infos; ///< all properties that it ever had, the newest last
    bool infoKnown = true; ///< it must have the last of these; if false, any of them
};

/// eight bytes of a version: a function of both, so that bytes of another
/// version, object or place never pass
inline uint64_t
wordAt(const uint64_t version, const uint64_t word)
{
    uint64_t x = (version * 0x9e3779b97f4a7c15ULL) ^ (word * 0xbf58476d1ce4e5b9ULL);
    x ^= x >> 29;
    x *= 0x94d049bb133111ebULL;
    x ^= x >> 32;
    return x;
}

/// the bytes of one version from an offset on
inline void
fillFrom(const uint64_t version, uint64_t offset, char *to, size_t size)
{
    while (size > 0) {
        const auto word = wordAt(version, offset >> 3) >> (8 * (offset & 7));
        const auto n = std::min<size_t>(size, 8 - (offset & 7));
        if (n == sizeof(word)) {
            memcpy(to, &word, n);
        } else {
            for (size_t i = 0; i < n; ++i)
                to[i] = static_cast<char>(word >> (8 * i));
        }
        offset += n;
        to += n;
        size -= n;
    }
}

/// makes a version that is another one with its first bytes replaced
/// \param oldHead how many bytes are replaced, at least old.headSize
/// \param newHead how many bytes of its own take their place
inline void
takeHead(Version &fresh, const Version &old, const uint64_t oldHead, const uint64_t newHead)
{
    fresh.headVersion = fresh.number;
    fresh.headSize = newHead;
    fresh.bodyVersion = old.bodyVersion;
    fresh.bodySkip = old.bodySkip + oldHead - old.headSize;
    fresh.size = newHead + old.size - oldHead;
}

/// the bytes of a version with head and body from an offset on
inline void
fill(const Version &v, const uint64_t offset, char *to, const size_t size)
{
    const auto head = offset < v.headSize ? std::min<size_t>(size, v.headSize - offset) : 0;
    fillFrom(v.headVersion, offset, to, head);
    fillFrom(v.bodyVersion, v.bodySkip + offset + head - v.headSize, to + head, size - head);
}

inline bool
matches(const Version &v, const uint64_t offset, const char *bytes, const size_t size)
{
    if (offset + size > v.size)
        return false;
    char expected[512];
    for (size_t at = 0; at < size; at += sizeof(expected)) {
        const auto n = std::min(sizeof(expected), size - at);
        fill(v, offset + at, expected, n);
        if (memcmp(expected, bytes + at, n) != 0)
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

    /// the only version that a look-up may give, or nil
    Version *current(const uint64_t object) {
        auto &list = versions_[object];
        for (auto v = list.rbegin(); v != list.rend(); ++v) {
            if (v->finished && !v->removed && !v->lost)
                return &*v;
        }
        return nullptr;
    }

    /// a version is complete and takes the place of the one before
    void finish(const uint64_t object, const uint64_t number, const uint64_t now) {
        remove(object, now);
        for (auto &v: versions_[object]) {
            if (v.number == number)
                v.finished = now;
        }
    }

    /// the object was deleted or replaced: all its versions are gone
    void remove(const uint64_t object, const uint64_t now) {
        for (auto &v: versions_[object]) {
            if (v.finished && (!v.removed || v.mayBeBack))
                v.removed = now;
            v.mayBeBack = false;
        }
    }

    /// The store was formatted anew. Numbers go on, so that no bytes of the former store pass.
    void forget() { versions_.clear(); }

    std::map<uint64_t, std::vector<Version>> &all() { return versions_; }
    const std::map<uint64_t, std::vector<Version>> &all() const { return versions_; }

    static ClusterFs::Key KeyOf(const uint64_t object) {
        ClusterFs::Key k;
        fillFrom(~object, 0, reinterpret_cast<char *>(k.bytes.data()), k.bytes.size());
        return k;
    }

private:
    std::map<uint64_t, std::vector<Version>> versions_;
    uint64_t last_ = 0;
};

} // namespace Simulate

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The part of a key that the index and the index log keep. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_HASHEDKEY_H
#define SQUID_SRC_FS_CLUSTER_BASE_HASHEDKEY_H

#include "fs/cluster/base/Types.h"

#include <array>

namespace ClusterFs {

/// the secret with which a store hashes its keys, so that nobody can choose keys that collide
using HashSecret = std::array<uint64_t, 4>;

/// A bucket of the smallest index, and a tag. Two keys that agree in both are taken for
/// one, so whoever reads an object from the media must compare the whole key.
struct HashedKey {
    uint32_t bucket = 0;
    uint32_t tag = 0;

    bool operator ==(const HashedKey &k) const { return bucket == k.bucket && tag == k.tag; }
    uint64_t number() const { return (uint64_t(bucket) << 32) | tag; }
};

/// Hashes keys with a secret of the store. Keys are digests of what clients ask for: without
/// the secret, somebody could choose them so that all are in one bucket. Dietzfelbinger's
/// multiply-shift (1996) over two words: two keys have the same hash of 64 bits with a chance
/// of about 2^-63. The tag keeps 32 of these bits, the bucket as many as its number has.
class KeyHasher
{
public:
    /// \param buckets of the smallest index
    KeyHasher(const HashSecret &secret, const uint32_t buckets):
        high_(Wide(secret[0], secret[1]) | 1),
        low_(Wide(secret[2], secret[3]) | 1),
        buckets_(buckets)
    {
    }

    HashedKey operator ()(const Key &k) const {
        const auto hash = static_cast<uint64_t>((high_ * k.high() + low_ * k.low()) >> 64);
        // multiplying spreads the upper half over any number of buckets without a division
        return {static_cast<uint32_t>((hash >> 32) * buckets_ >> 32), static_cast<uint32_t>(hash)};
    }

private:
    using Word = unsigned __int128;
    static Word Wide(const uint64_t high, const uint64_t low) { return Word(high) << 64 | low; }

    Word high_;
    Word low_;
    uint64_t buckets_;
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* How many stored bytes may be written once more. */

#ifndef SQUID_SRC_FS_CLUSTER_CONTEXT_REWRITEBUDGET_H
#define SQUID_SRC_FS_CLUSTER_CONTEXT_REWRITEBUDGET_H

#include <cstdint>

namespace ClusterFs {

/// Relocated bytes cost writes. The option write-budget says which share of all bytes packed since the start they may be.
/// Of seven parts, four are for evictions, and two for regrouping: each of its moves leaves a hole in the old
/// cluster. One part is for merging, which takes the holes away, unless that makes much more room than it takes. Replicas have an option of their own.
class RewriteBudget
{
public:
    void notePacked(const uint64_t bytes) { packed_ += bytes; } ///< relocated ones, too
    void noteEvicted(const uint64_t bytes) { evicted_ += bytes; } ///< relocated by an eviction
    void noteRegrouped(const uint64_t bytes) { regrouped_ += bytes; }
    void noteReplicated(const uint64_t bytes) { replicated_ += bytes; }
    void noteMerged(const uint64_t bytes) { merged_ += bytes; } ///< those that allowsMerging() allowed

    /// \param percent write-budget
    /// \returns the part of so many packed bytes that evictions may relocate
    static uint64_t evictionShare(const uint64_t bytes, const uint32_t percent) { return bytes * 4 * percent / 700; }

    /// \param spare bytes that count as packed besides
    /// \param percent write-budget
    /// \returns bytes that evictions may relocate now
    uint64_t forEviction(const uint64_t spare, const uint32_t percent) const {
        const auto budget = evictionShare(packed_ + spare, percent);
        return budget > evicted_ ? budget - evicted_ : 0;
    }

    /// whether regrouping may relocate so many bytes now
    /// \param before bytes that count as packed besides
    /// \param percent write-budget
    bool allowsRegrouping(const uint64_t bytes, const uint64_t before, const uint32_t percent) const {
        return regrouped_ + bytes <= (before + packed_) * 2 * percent / 700;
    }

    /// whether merging may relocate so many bytes now
    /// \param percent write-budget
    bool allowsMerging(const uint64_t bytes, const uint32_t percent) const { return merged_ + bytes <= packed_ * percent / 700; }

    /// whether so many bytes may be written as a replica now
    /// \param before bytes that count as packed besides
    /// \param percent the option replicas
    bool allowsReplica(const uint64_t bytes, const uint64_t before, const uint32_t percent) const {
        return replicated_ + bytes <= (before + packed_) * percent / 100;
    }

private:
    uint64_t packed_ = 0;
    uint64_t evicted_ = 0;
    uint64_t regrouped_ = 0;
    uint64_t merged_ = 0;
    uint64_t replicated_ = 0;
};

} // namespace ClusterFs

#endif

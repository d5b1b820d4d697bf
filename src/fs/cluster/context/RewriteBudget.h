// SPDX-License-Identifier: GPL-2.0-or-later
/* How much of what is stored may be written once more. */

#ifndef SQUID_SRC_FS_CLUSTER_CONTEXT_REWRITEBUDGET_H
#define SQUID_SRC_FS_CLUSTER_CONTEXT_REWRITEBUDGET_H

#include <cstdint>

namespace ClusterFs {

/// Relocated bytes cost writes. A twelfth of what is packed may be relocated by evictions, and as much for groups;
/// what is moved since its cluster holds little makes room, and has no bound here. All since the start.
class RewriteBudget
{
public:
    void notePacked(const uint64_t bytes) { packed_ += bytes; } ///< relocated ones, too
    void noteEvicted(const uint64_t bytes) { evicted_ += bytes; } ///< relocated by an eviction
    void noteRegrouped(const uint64_t bytes) { regrouped_ += bytes; }

    /// \param spare bytes that count as packed
    /// \returns bytes that evictions may relocate now
    uint64_t forEviction(const uint64_t spare) const {
        const auto budget = (packed_ + spare) / share;
        return budget > evicted_ ? budget - evicted_ : 0;
    }

    /// whether so many bytes may be relocated for groups
    /// \param before bytes that count as packed
    bool allowsRegrouping(const uint64_t bytes, const uint64_t before) const {
        return (regrouped_ + bytes) * share <= before + packed_;
    }

private:
    static constexpr unsigned share = 12; ///< of the bytes packed, one part

    uint64_t packed_ = 0;
    uint64_t evicted_ = 0;
    uint64_t regrouped_ = 0;
};

} // namespace ClusterFs

#endif

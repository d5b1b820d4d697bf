// SPDX-License-Identifier: GPL-2.0-or-later
/* How many stored bytes may be written once more. */

#ifndef SQUID_SRC_FS_CLUSTER_CONTEXT_REWRITEBUDGET_H
#define SQUID_SRC_FS_CLUSTER_CONTEXT_REWRITEBUDGET_H

#include <cstdint>

namespace ClusterFs {

/// Relocated bytes cost writes. Evictions may relocate a twelfth of all bytes packed since the start, and regrouping may
/// relocate as many. Merging has no bound here, because it makes more room than it takes.
class RewriteBudget
{
public:
    void notePacked(const uint64_t bytes) { packed_ += bytes; } ///< relocated ones, too
    void noteEvicted(const uint64_t bytes) { evicted_ += bytes; } ///< relocated by an eviction
    void noteRegrouped(const uint64_t bytes) { regrouped_ += bytes; }

    /// \param spare bytes that count as packed besides
    /// \returns bytes that evictions may relocate now
    uint64_t forEviction(const uint64_t spare) const {
        const auto budget = (packed_ + spare) / share;
        return budget > evicted_ ? budget - evicted_ : 0;
    }

    /// whether regrouping may relocate so many bytes now
    /// \param before bytes that count as packed besides
    bool allowsRegrouping(const uint64_t bytes, const uint64_t before) const {
        return (regrouped_ + bytes) * share <= before + packed_;
    }

private:
    static constexpr unsigned share = 12; ///< one part of so many of the packed bytes may be written once more

    uint64_t packed_ = 0;
    uint64_t evicted_ = 0;
    uint64_t regrouped_ = 0;
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbered things in the order of their use. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_RECENCY_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_RECENCY_H

#include <cstdint>
#include <vector>

namespace Papers {

/// A list of ids, used last first; all of its memory is there from the start.
class Recency
{
public:
    static constexpr uint32_t none = 0xffffffffU;

    explicit Recency(const uint32_t ids): links_(ids) {}

    void add(const uint32_t id) {
        links_[id] = {none, newest_};
        (newest_ != none ? links_[newest_].newer : oldest_) = id;
        newest_ = id;
    }

    void remove(const uint32_t id) {
        const auto link = links_[id];
        (link.newer != none ? links_[link.newer].older : newest_) = link.older;
        (link.older != none ? links_[link.older].newer : oldest_) = link.newer;
    }

    uint32_t oldest() const { return oldest_; } ///< or none
    uint32_t newer(const uint32_t id) const { return links_[id].newer; } ///< or none

private:
    struct Link {
        uint32_t newer = none;
        uint32_t older = none;
    };

    std::vector<Link> links_;
    uint32_t newest_ = none;
    uint32_t oldest_ = none;
};

} // namespace Papers

#endif

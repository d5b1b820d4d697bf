// SPDX-License-Identifier: GPL-2.0-or-later
/* Putting clusters in order of use. */

#include "fs/cluster/recovery/UseOrder.h"

#include <algorithm>

namespace ClusterFs {
namespace {
constexpr size_t slice = 1024; ///< items between looks at the time
} // namespace
} // namespace ClusterFs

void
ClusterFs::UseOrder::add(const ClusterNo n, const uint32_t age)
{
    if (counts_[0].empty()) {
        for (auto &c: counts_)
            c.resize(size_t(1) << digitBits);
    }
    items_.push_back({age, n});
    for (unsigned i = 0; i < passes; ++i)
        ++counts_[i][(age >> (i * digitBits)) & ((1U << digitBits) - 1)];
}

bool
ClusterFs::UseOrder::run(const std::function<bool()> &goOn)
{
    while (pass_ <= passes) {
        if (next_ == 0 && pass_ < passes && !items_.empty()) {
            size_t at = 0;
            starts_.clear();
            for (const auto count: counts_[pass_]) {
                starts_.push_back(at);
                at += count;
            }
            sorted_.resize(items_.size());
        }
        while (next_ < items_.size()) {
            const auto end = std::min(next_ + slice, items_.size());
            for (; next_ < end; ++next_) {
                const auto &item = items_[next_];
                if (pass_ < passes)
                    sorted_[starts_[(item.age >> (pass_ * digitBits)) & ((1U << digitBits) - 1)]++] = item;
                else
                    place(item.cluster);
            }
            if (next_ < items_.size() && !goOn())
                return false;
        }
        if (pass_ < passes)
            items_.swap(sorted_);
        ++pass_;
        next_ = 0;
    }
    items_ = std::vector<Item>();
    sorted_ = std::vector<Item>();
    return true;
}

/// What was packed or used meanwhile keeps its place in front of all.
void
ClusterFs::UseOrder::place(const ClusterNo n)
{
    if (clusters_[n].state != ClusterState::packed)
        return; // evicted meanwhile
    clusters_.unlink(n);
    clusters_.pushTail(n);
}

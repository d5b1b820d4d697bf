// SPDX-License-Identifier: GPL-2.0-or-later
/* Putting clusters in the order of their use. */

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
        items_.reserve(catalog_.clusters().inState(ClusterState::packed)); // at once: to grow it would copy millions of items
    }
    items_.push_back({age, n});
    for (unsigned i = 0; i < passes; ++i)
        ++counts_[i][(age >> (i * digitBits)) & ((1U << digitBits) - 1)];
}

bool
ClusterFs::UseOrder::run(const std::function<bool()> &goOn)
{
    const auto count = items_.size();
    while (pass_ <= passes) {
        if (next_ == 0 && pass_ < passes && count) {
            size_t at = 0;
            starts_.clear();
            for (const auto items: counts_[pass_]) {
                starts_.push_back(at);
                at += items;
            }
            sorted_[pass_] = std::make_unique<Table<Item>>(count);
        }
        while (next_ < count) {
            const auto end = std::min(next_ + slice, count);
            for (; next_ < end; ++next_) {
                const auto &item = items()[next_];
                if (pass_ < passes)
                    (*sorted_[pass_])[starts_[(item.age >> (pass_ * digitBits)) & ((1U << digitBits) - 1)]++] = item;
                else
                    place(item.cluster);
            }
            if (next_ < count && !goOn())
                return false;
        }
        ++pass_;
        next_ = 0;
    }
    items_ = std::vector<Item>();
    for (auto &table: sorted_)
        table.reset();
    return true;
}

/// Clusters that were packed or used meanwhile keep their places in front of all.
void
ClusterFs::UseOrder::place(const ClusterNo n)
{
    if (catalog_.clusters()[n].state == ClusterState::packed) // if not, it was evicted meanwhile
        catalog_.moveToTail(n);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Putting clusters in the order of their use. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_USEORDER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_USEORDER_H

#include "fs/cluster/catalog/Catalog.h"

#include <functional>
#include <memory>
#include <vector>

namespace ClusterFs {

/// Puts the list of packed clusters into an order, a slice at a time, because a table of
/// millions of clusters takes seconds. A radix sort, whose passes can be interrupted anywhere.
class UseOrder
{
public:
    explicit UseOrder(Catalog &catalog): catalog_(catalog) {}

    /// takes a packed cluster into the order
    /// \param age the cluster with the least goes to the head of the list
    void add(ClusterNo, uint32_t age);

    /// \param goOn asked now and then: false ends this call
    /// \returns whether all clusters are in their places
    bool run(const std::function<bool()> &goOn);

private:
    struct Item {
        uint32_t age;
        ClusterNo cluster;
    };
    static constexpr unsigned digitBits = 16;
    static constexpr unsigned passes = 32 / digitBits;

    void place(ClusterNo);

    Catalog &catalog_;
    const Item *items() const { return pass_ ? &(*sorted_[pass_ - 1])[0] : items_.data(); }

    std::vector<Item> items_;
    std::unique_ptr<Table<Item>> sorted_[passes]; ///< the items, sorted by the digits of this pass and those before
    std::vector<size_t> starts_; ///< by digit: where the next item goes
    std::vector<size_t> counts_[passes]; ///< by digit: how many items have it
    unsigned pass_ = 0;
    size_t next_ = 0; ///< the next item of this pass
};

} // namespace ClusterFs

#endif

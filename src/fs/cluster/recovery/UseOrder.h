// SPDX-License-Identifier: GPL-2.0-or-later
/* Putting clusters in order of use. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_USEORDER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_USEORDER_H

#include "fs/cluster/catalog/Catalog.h"

#include <functional>
#include <memory>
#include <vector>

namespace ClusterFs {

/// Brings the list of victims into an order, a slice at a time: a table of millions of
/// clusters takes seconds. A radix sort, whose passes can be interrupted anywhere.
class UseOrder
{
public:
    explicit UseOrder(Catalog &catalog): catalog_(catalog) {}

    /// takes a packed cluster into the order
    /// \param age the least goes to the head of the list
    void add(ClusterNo, uint32_t age);

    /// \param goOn asked now and then: false ends this slice
    /// \returns whether all that was added is in its place
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
    std::unique_ptr<Table<Item>> sorted_[passes]; ///< by the digits of the passes up to each
    std::vector<size_t> starts_; ///< where the next item of each digit goes
    std::vector<size_t> counts_[passes];
    unsigned pass_ = 0;
    size_t next_ = 0; ///< item of this pass
};

} // namespace ClusterFs

#endif

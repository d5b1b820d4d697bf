// SPDX-License-Identifier: GPL-2.0-or-later
/* The policies that a program brings along. */

#ifndef CLUSTERFS_SRC_LIB_POLICIES_H
#define CLUSTERFS_SRC_LIB_POLICIES_H

#include "clusterfs/clusterfs.h"
#include "fs/cluster/api/Config.h"

namespace ClusterFs::Library {

/// The functions of a program as policies of the engine (Hummingbird's "client-provided daemons", section 3.5).
class Policies
{
public:
    explicit Policies(const clusterfs_policies &);
    Policies(const Policies &) = delete;
    Policies &operator =(const Policies &) = delete;

    /// makes a store use those that the program has; they must live as long as it
    void apply(Config &) const;

private:
    class Eviction final : public EvictionPolicy
    {
    public:
        explicit Eviction(const clusterfs_policies &functions): functions_(functions) {}
        float worth(const ObjectView &, float sizeWeight) const override;

    private:
        const clusterfs_policies &functions_;
    };
    class Packing final : public PackingPolicy
    {
    public:
        explicit Packing(const clusterfs_policies &functions): functions_(functions) {}
        bool takes(const GroupView &, const PackView &) const override;

    private:
        const clusterfs_policies &functions_;
    };
    class Layout final : public LayoutPolicy
    {
    public:
        explicit Layout(const clusterfs_policies &functions): functions_(functions) {}
        ClusterNo next(const FreePlaces &, const LayoutView &) const override;

    private:
        const clusterfs_policies &functions_;
    };

    const clusterfs_policies functions_;
    const Eviction eviction_;
    const Packing packing_;
    const Layout layout_;
};

} // namespace ClusterFs::Library

#endif

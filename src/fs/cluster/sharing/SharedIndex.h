// SPDX-License-Identifier: GPL-2.0-or-later
/* The owner's index, as a worker maps it. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_SHAREDINDEX_H
#define SQUID_SRC_FS_CLUSTER_SHARING_SHAREDINDEX_H

#include "fs/cluster/api/SharedTables.h"
#include "fs/cluster/base/Descriptor.h"
#include "fs/cluster/base/SharedMemory.h"
#include "fs/cluster/catalog/IndexView.h"

#include <array>
#include <optional>
#include <string>

namespace ClusterFs {

/// Maps the tables of an engine in another process, and looks objects up in them.
class SharedIndex
{
public:
    using Descriptors = std::array<Descriptor, SharedTables::count>;

    /// \param tables as the owner has them; its descriptors mean nothing here
    /// \param error receives the reason when it fails
    bool map(Descriptors, const SharedTables &tables, std::string &error);

    /// \see IndexView::find()
    bool find(const Key &key, ObjectInfo &info) const { return view_ && view_->find(key, info); }

private:
    std::array<SharedMemory, SharedTables::count> memories_;
    std::optional<IndexView> view_;
};

} // namespace ClusterFs

#endif

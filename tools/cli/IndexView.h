// SPDX-License-Identifier: GPL-2.0-or-later
/* What a start would know, found out without writing anything. */

#ifndef CLUSTERFS_TOOLS_CLI_INDEXVIEW_H
#define CLUSTERFS_TOOLS_CLI_INDEXVIEW_H

#include "Image.h"

#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/recovery/Journal.h"
#include "fs/cluster/recovery/Recovery.h"

#include <functional>

namespace ClusterFs::Cli {

/// an object of the index and what the media has of it
struct FoundObject {
    Status status = Status::ok; ///< of the extent; corrupt: a start would index it, but no read would succeed
    bool named = false; ///< the key is known
    Key key;
    SlotNo slot = noSlot; ///< in the index
    ObjectInfo info;
    ClusterNo cluster = noCluster;
    uint32_t offset = 0; ///< of the extent in the cluster
    ClusterNo firstPart = noCluster;
    const char *bytes = nullptr; ///< payload of the extent, when its status is ok
    uint32_t size = 0; ///< of that
};

/// a packed cluster that the index uses
struct FoundCluster {
    ClusterNo number = noCluster;
    Status read = Status::ok;
    Status directoryStatus = Status::ok; ///< corrupt, too, when it is whole but of another time
    Directory directory;
    const char *bytes = nullptr; ///< when it could be read
    std::vector<FoundObject> objects; ///< in the order of their offsets
};

/// Runs the engine's recovery on a device and stops there: nothing is evicted,
/// checkpointed or written.
class IndexView
{
public:
    IndexView(Image &, const Superblock &, const Log &);

    /// Waits until the index is whole. \returns false with the reason in error
    bool load(std::string &error);

    const Catalog &catalog() const { return context_.catalog; }
    const RecoveryStats &stats() const { return recovery_.stats(); }

    /// whether there are objects in a cluster
    bool holdsObjects(ClusterNo) const;

    /// Reads such a cluster and checks the extent of each object of the index.
    /// \param found is valid until the next read from the image
    void examine(ClusterNo, FoundCluster &found);

    /// checks the parts of an object
    /// \param damaged receives the clusters whose part is not what it must be
    void examineParts(const FoundObject &, std::vector<ClusterNo> &damaged);

private:
    static Config ConfigFor(const Superblock &);
    void collect(FoundCluster &) const;
    void judge(FoundObject &, const FoundCluster &, const DirectoryEntry *) const;
    bool suits(const Key &, SlotNo) const;

    Image &image_;
    StoreContext context_;
    Journal journal_;
    Recovery recovery_;
};

} // namespace ClusterFs::Cli

#endif

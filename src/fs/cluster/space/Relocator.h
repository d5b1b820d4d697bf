// SPDX-License-Identifier: GPL-2.0-or-later
/* Moving objects from where they are to other clusters. */

#ifndef SQUID_SRC_FS_CLUSTER_SPACE_RELOCATOR_H
#define SQUID_SRC_FS_CLUSTER_SPACE_RELOCATOR_H

#include "fs/cluster/cache/WindowStore.h"
#include "fs/cluster/context/StoreContext.h"

namespace ClusterFs {

/// Stages objects of packed clusters again, so that they are packed once more,
/// somewhere else. Until they are, and the device was flushed, the cluster that
/// they come from stays as it is: a crash loses none of them.
class Relocator
{
public:
    Relocator(StoreContext &, WindowStore &);

    /// an object of a cluster, as it was when it was chosen
    struct Wanted {
        SlotNo slot;
        uint32_t tag;
        uint32_t offset;
        uint32_t payload; ///< bytes
    };

    /// Keeps a cluster from being evicted or relocated from by others. relocate(), begin() or letGo() must follow.
    /// \param evict whether all that remains is to go afterwards
    void hold(ClusterNo, bool evict);
    void letGo(ClusterNo); ///< others may have it
    bool holds(ClusterNo) const;
    /// whether objects of a packed cluster may have come from one that is still held, and so be there, too
    bool copied(ClusterNo) const;

    /// Stages objects of a held cluster whose bytes are in the read cache.
    /// \param sequence what it was when they were chosen
    /// \param asOld whether they stay as old as they were, or begin another turn
    /// \returns bytes staged
    uint64_t relocate(ClusterNo, Sequence, const std::vector<Wanted> &, bool asOld = false);

    /* the same in several turns */
    /// \returns false when the cluster was emptied meanwhile; it is no longer held then
    bool begin(ClusterNo, Sequence);
    /// \param window its bytes, or nil
    /// \returns bytes staged
    uint64_t relocate(ClusterNo, const Wanted &, const Window *, bool asOld);
    void end(ClusterNo c) { settled(c); }

    bool full() const { return evicting() >= mostEvicting(); } ///< no more should be evicted by way of us
    size_t held() const { return held_.size(); }
    size_t evicting() const; ///< held clusters that are to go
    bool waitsForPacking() const; ///< all held clusters do, and some are held

    std::function<void(StageNo)> onComplete; ///< an object was staged again
    std::function<void(ClusterNo)> onEmptied; ///< nothing that was wanted remains in a cluster that is to go

    /// A flush of the device would let clusters go.
    /// \param urgent clusters are needed
    bool wantsFlush(bool urgent) const;
    /// clusters whose relocated objects were written before now
    std::vector<ClusterNo> takeSettled();
    /// a flush that began after takeSettled() is done
    void flushed(const std::vector<ClusterNo> &);

    static constexpr unsigned maxEvicting = 8; ///< clusters; on small devices an eighth of all, and two

private:
    struct Held {
        ClusterNo cluster;
        bool evict;
        Sequence since; ///< what is packed from it has a higher one
    };
    size_t mostEvicting() const;
    std::vector<Held>::iterator find(ClusterNo);
    bool relocateOne(ClusterNo, const Wanted &, const Window &, bool asOld);
    void settled(ClusterNo);

    StoreContext &context_;
    WindowStore &windows_;
    std::vector<uint32_t> offsets_; ///< used while a call lasts
    std::vector<Held> held_;
    std::vector<ClusterNo> settled_; ///< those of held_ that only wait for a flush
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads that bring windows into memory. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_WINDOWLOADER_H
#define SQUID_SRC_FS_CLUSTER_CACHE_WINDOWLOADER_H

#include "fs/cluster/cache/ReadPolicy.h"
#include "fs/cluster/cache/WindowStore.h"
#include "fs/cluster/catalog/Catalog.h"
#include "fs/cluster/device/Device.h"

#include <deque>
#include <unordered_map>
#include <vector>

namespace ClusterFs {

/// Reads ranges of clusters into the window store. Readers that want bytes that are on their way
/// share that read. Reads that somebody waits for are deferred, in their order, while memory is at
/// its limit or too many requests wait at the device; prefetches and read-ahead are left out then.
class WindowLoader
{
public:
    using Done = std::function<void(Status)>;

    WindowLoader(Device &, Catalog &, const Geometry &, WindowStore &, UseMeter &, const ReadPolicy &);
    ~WindowLoader();

    /// whether bytes are in memory or on their way
    bool has(const ClusterRange &) const;

    /// Reads bytes, or joins a read under way that covers them. Done is called in a later turn, with the status of
    /// the device; the window is in the store while Done runs.
    /// \param pin the cluster whose pin keeps the bytes in place meanwhile
    void load(const ClusterRange &, ClusterNo pin, IoClass, Done);

    /// Joins a read under way that covers the bytes. Where somebody waits for them, a read for housekeeping goes first from now on.
    /// \returns whether there is one, which then has taken the callback
    bool join(const ClusterRange &, IoClass, Done &);

    /// Whether a look at the members of a group may be worth its time: whether the group would be read although only
    /// half of its bytes had to come, or is due for a trial. Counts a refusal. It spares the look where groups do not pay.
    bool mayReadGroup(const Catalog::Run &);

    /// Reads one extent that no read under way brings, and its group with it when that pays (a group read).
    /// \param extent the bytes that are wanted
    /// \param run the group around it
    /// \returns whether the group comes, too
    bool loadWithGroup(const ClusterRange &extent, const Catalog::Run &run, Done);

    /// Prefetches bytes that nobody has asked for yet, when nothing is deferred and prefetches have been of use to
    /// the client lately.
    /// \param objects how many in these bytes are expected to be wanted
    /// \param client who opened the page
    /// \returns whether a read was begun; never one of more than maxPrefetch() bytes
    bool prefetch(const ClusterRange &, uint32_t objects, uint64_t client);

    /// Read-ahead: reads the next part of a large object before somebody asks for it. Such parts may take a
    /// quarter of the memory until somebody asks for them, in the place of windows that were not used lately.
    /// \param pin the cluster whose pin keeps the bytes in place meanwhile
    /// \returns whether a read was begun
    bool readAhead(const ClusterRange &, ClusterNo pin);

    /// most bytes of a prefetch or a group read: one read must not push everything else out of memory
    uint64_t maxPrefetch() const { return windows_.limit() / 8; }

    /// starts deferred reads for which there is room now; called each turn
    void poll();

    /// requests that may wait at the device when a read is begun; more reads wait here, where none is refused
    static constexpr size_t maxQueued = 4096;

private:
    /// a read, until its answer
    struct Load {
        ClusterRange range; ///< aligned for the device
        ClusterNo pin;
        IoClass ioClass;
        Window::Extra extra;
        std::vector<Done> waiters; ///< called in this order
    };
    using LoadPointer = std::shared_ptr<Load>;

    bool pays(unsigned mates, uint64_t bytes) const;
    Load *coming(const ClusterRange &) const;
    LoadPointer enqueue(const ClusterRange &, ClusterNo pin, IoClass, Done);
    void begin(const LoadPointer &);
    void start(const LoadPointer &);
    void loaded(const LoadPointer &, const WindowPointer &, Status);
    void startDeferred();
    bool mayStart(const Load &);

    Device &device_;
    Catalog &catalog_;
    const Geometry &geometry_;
    WindowStore &windows_;
    UseMeter &use_;
    const ReadPolicy &policy_;
    std::unordered_map<ClusterNo, std::vector<LoadPointer>> underWay_; ///< by cluster; deferred ones are here, too
    std::deque<LoadPointer> deferred_; ///< wait for memory or the device; at most one for each waiting reader
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace ClusterFs

#endif

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

/// Reads ranges of clusters into the window store. Who wants bytes that are on their way waits
/// for that read. Reads of bytes that somebody waits for are deferred, in their order, while memory is at its
/// limit or too many wait at the device; reads of others are not begun then.
class WindowLoader
{
public:
    using Done = std::function<void(Status)>;

    WindowLoader(Device &, Catalog &, const Geometry &, WindowStore &, UseMeter &, const ReadPolicy &);
    ~WindowLoader();

    /// whether bytes are in memory or on their way
    bool has(const ClusterRange &) const;

    /// Reads bytes, or joins a read under way that covers them.
    /// \param pin the cluster whose pin keeps the bytes in place meanwhile
    void load(const ClusterRange &, ClusterNo pin, IoClass, Done);

    /// \returns whether a read under way brings the bytes; takes done then
    bool join(const ClusterRange &, Done &);

    /// Reads one extent that no read under way brings, and its group with it when that pays.
    /// \param extent the bytes that are wanted
    /// \param run the group around it
    /// \returns whether the group comes, too
    bool loadWithGroup(const ClusterRange &extent, const Catalog::Run &run, Done);

    /// Reads bytes that nobody has asked for yet, when there is room and such reads
    /// have been of use lately.
    /// \param objects that are expected to be wanted
    /// \param client who opened the page
    /// \returns whether a read was begun; never of more than maxAhead() bytes
    bool loadAhead(const ClusterRange &, uint32_t objects, uint64_t client);

    /// Reads the next part of a large object before somebody asks for it. What is read so, and not used yet,
    /// may take a quarter of the memory, in the place of what was not used lately.
    /// \param pin the cluster whose pin keeps the bytes in place meanwhile
    /// \returns whether a read was begun
    bool loadNext(const ClusterRange &, ClusterNo pin);

    /// bytes of one read ahead: it must not push everything else out of memory
    uint64_t maxAhead() const { return windows_.limit() / 8; }

    /// starts reads that waited for memory which others have given back, or for the device
    void poll();

    /// requests that may wait at the device when a read is begun: more reads wait here, where none is refused
    static constexpr size_t maxQueued = 4096;

private:
    /// a read, until its answer
    struct Load {
        ClusterRange range; ///< aligned for the device
        ClusterNo pin;
        IoClass ioClass;
        Window::Extra extra;
        std::vector<Done> waiters;
    };
    using LoadPointer = std::shared_ptr<Load>;

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
    std::unordered_map<ClusterNo, std::vector<LoadPointer>> underWay_; ///< the deferred ones included
    std::deque<LoadPointer> deferred_; ///< wait for memory or the device; one for each waiting reader at most
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The windows in memory. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_WINDOWSTORE_H
#define SQUID_SRC_FS_CLUSTER_CACHE_WINDOWSTORE_H

#include "fs/cluster/cache/UseMeter.h"
#include "fs/cluster/cache/Window.h"
#include "fs/cluster/catalog/Listeners.h"
#include "fs/cluster/device/CostMeter.h"

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ClusterFs {

/// A bounded set of windows. Those go first whose bytes would cost least to read
/// again, the longer unused the sooner: GreedyDual-Size (Cao and Irani, Cost-aware
/// WWW proxy caching algorithms, 1997). Where positioning costs most, many small
/// windows are so kept for a large one; windows of one size go in the order of
/// their last use. A window that somebody else holds a pointer to is not evicted,
/// and one that was used just now not before all others: large ones would leave
/// before their readers have come to the end. When a window has to go, the pieces that
/// were used stay as a smaller one, if they are clearly less.
class WindowStore final : public ReleaseListener
{
public:
    /// \param cost of reading bytes again
    /// \param use learns from the windows that leave
    /// \param limit bytes
    WindowStore(const CostMeter &cost, UseMeter &use, uint64_t limit);

    /// A reader wants bytes: counts a hit or a miss, and a hit is a use.
    /// \returns a window that covers the bytes, or nil
    WindowPointer find(const ClusterRange &);

    /// the same for whoever is no reader, without any effect
    WindowPointer peek(const ClusterRange &) const;

    /// a use of the window that has these bytes, if any: it leaves memory later
    void touch(const ClusterRange &);

    /// Makes a window whose bytes a read is to bring. find() does not know it before they have arrived.
    WindowPointer expect(const ClusterRange &, const Window::Extra &);
    /// \param well whether the bytes came; else the window goes
    void arrived(const WindowPointer &, bool well);

    /// Adds bytes that are on their way to the device, from the cluster's start. Who writes bounds them:
    /// they don't count against the limit until written(), or readers would wait for writes.
    /// \returns the window: it stays in memory while the pointer is held
    WindowPointer insert(ClusterNo, Sequence, BufferPointer, uint32_t size);
    void written(Window &);

    /// Gives a part of an inserted window one of its own, so that it leaves memory when its own time has
    /// come. The inserted one is to be dropped when all are split off.
    /// \param run beginning and end, in bytes from the cluster's start
    /// \returns false when it has left memory before
    bool split(const WindowPointer &, const std::pair<uint32_t, uint32_t> &run);

    /// takes a window out of memory, unless it has left before
    void drop(const WindowPointer &);

    /// lets the window that has these bytes, if any, be the first to leave memory
    void putFirst(const ClusterRange &);

    /// Drops the windows of a cluster, whose bytes are void, but for those that somebody holds. One of these that
    /// has arrived is forgotten: its loader drops it when those who waited for it have copied what they came for.
    void forget(ClusterNo);
    void released(const ClusterNo c) override { forget(c); }

    /// drops the windows of a cluster that have no object
    /// \param offsets where the objects of the cluster begin, in bytes from its start and in order
    void forgetUnused(ClusterNo, Sequence, const std::vector<uint32_t> &offsets);

    /// Lets windows go until so many bytes would find room, as far as that is possible in one turn.
    /// \returns whether they would; a single window always does, or none larger than the limit could be read
    bool makeRoom(uint64_t bytes);
    /// the same, at no cost of windows that were used lately; then, a single window has no privilege
    bool makeRoomFromIdle(uint64_t bytes);

    uint64_t bytes() const { return bytes_; } ///< in windows, those still held elsewhere included
    uint64_t unaskedBytes() const { return unaskedBytes_; } ///< of parts that nobody has looked for yet
    uint64_t limit() const { return limit_; } ///< bytes
    void setLimit(const uint64_t bytes) { limit_ = bytes; }

    uint64_t hits() const { return hits_; } ///< find() that found
    uint64_t misses() const { return misses_; }

private:
    using Windows = std::multimap<double, WindowPointer>; ///< by worth

    /// The windows of one cluster, by how many bits their size has and then by their start: of one size,
    /// only those that start shortly before a byte can cover it, however many there are.
    struct Places {
        std::multimap<uint64_t, Windows::iterator> all;
        uint64_t sizes = 0; ///< bits that were seen, as a set

        static unsigned BitsOf(uint32_t size);
        static uint64_t PlaceOf(const unsigned bits, const uint32_t start) { return uint64_t(bits) << 32 | start; }
        void add(Windows::iterator);
        void remove(Windows::iterator);
    };

    uint64_t counted() const { return bytes_ - writingBytes_; } ///< against the limit
    void evict(uint64_t wanted, bool recentToo);
    bool recent(const Window &) const;
    double costOf(uint64_t bytes) const;
    double worth(const Window &) const;
    Windows::iterator give(Windows::iterator, double worth, uint64_t used);
    Windows::iterator *covering(const ClusterRange &);
    Windows::iterator *placeOf(const WindowPointer &);
    WindowPointer add(const ClusterRange &, BufferPointer);
    void remove(Windows::iterator);
    void reduce(Windows::iterator);
    template <class IsVoid> void removeIf(ClusterNo, IsVoid &&);
    void touch(Windows::iterator &);
    void noteAsked(Window &);
    void noteLeaving(const Window &);

    const CostMeter &cost_;
    UseMeter &use_;
    uint64_t limit_;
    uint64_t bytes_ = 0;
    uint64_t unaskedBytes_ = 0; ///< of windows that are
    uint64_t writingBytes_ = 0; ///< the same
    uint64_t clock_ = 0; ///< bytes of all windows so far
    double age_ = 0; ///< the most that an evicted window was worth
    Windows windows_;
    std::unordered_map<ClusterNo, Places> byCluster_;
    uint64_t hits_ = 0;
    uint64_t misses_ = 0;
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The windows in memory. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_WINDOWSTORE_H
#define SQUID_SRC_FS_CLUSTER_CACHE_WINDOWSTORE_H

#include "fs/cluster/cache/SharedWindows.h"
#include "fs/cluster/cache/UseMeter.h"
#include "fs/cluster/cache/Window.h"
#include "fs/cluster/catalog/Listeners.h"
#include "fs/cluster/device/CostMeter.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ClusterFs {

/// A bounded set of windows. Those go first whose bytes would cost least to read
/// again, the longer unused the sooner: GreedyDual-Size (Cao and Irani, Cost-aware
/// WWW proxy caching algorithms, 1997). Where positioning costs most, many small
/// windows stay in the place of a large one; windows of one size go in the order
/// of their last use. A window to which somebody else holds a pointer is not
/// evicted. Windows that were used recently go after all others, or large ones
/// would leave before their readers have come to the end. When a window has to
/// go, the pieces that were used stay as a smaller one, if they are clearly less.
class WindowStore final : public ReleaseListener
{
public:
    /// \param cost of reading bytes again
    /// \param use learns from the windows that leave
    /// \param limit bytes of windows
    WindowStore(const CostMeter &cost, UseMeter &use, uint64_t limit);

    /// From now on, windows come into memory that other processes may map to read, once.
    /// \param most bytes of windows that there will be
    /// \param error receives the reason when it fails
    /// \returns false when there is no such memory
    bool share(uint64_t most, std::string &error);
    const SharedPages *pages() const { return pages_.get(); } ///< where the windows are that others see; nil before share()
    const SharedWindows *shown() const { return shown_.get(); } ///< which ones these are; nil before share()

    /// A reader wants bytes: counts a hit or a miss, and a hit is a use.
    /// \returns a window that covers the bytes, or nil
    WindowPointer find(const ClusterRange &);

    /// the same, without any effect
    WindowPointer peek(const ClusterRange &) const;

    /// counts as a use of the window that has these bytes, if any: it leaves memory later
    void touch(const ClusterRange &);

    /// Makes a window for the bytes of a read. find() does not find it before arrived().
    WindowPointer expect(const ClusterRange &, const Window::Extra &);
    /// \param well whether the bytes came; else the window goes
    void arrived(const WindowPointer &, bool well);

    /// Adds the first bytes of a cluster that is on its way to the device. They don't count against the limit
    /// until written(), or readers would wait for writes; those who write bound their own writes.
    /// \param size bytes; the buffer may be larger
    /// \returns the window, which stays in memory while the pointer is held
    WindowPointer insert(ClusterNo, Sequence, BufferPointer, uint32_t size);
    void written(Window &); ///< the write is done, well or not

    /// Copies a run of an inserted window into a window of its own, so that it leaves memory when its own time
    /// has come. The caller drops the inserted window when all runs are split off.
    /// \param run begin and end, in bytes from the cluster's start
    /// \returns false when the inserted window has left memory
    bool split(const WindowPointer &, const std::pair<uint32_t, uint32_t> &run);

    /// takes a window out of memory, if it is there
    void drop(const WindowPointer &);

    /// makes the window that has these bytes, if any, the first to leave memory
    void putFirst(const ClusterRange &);

    /// The bytes of a cluster are void: drops its windows, but for those that somebody holds. If one of these has
    /// arrived, the loader drops it once the readers who waited for it have copied.
    void forget(ClusterNo);
    void released(const ClusterNo c) override { forget(c); }

    /// drops the windows of a cluster in which no object begins, or which are of older contents
    /// \param offsets of the extents in the cluster, bytes from its start, in order
    void forgetUnused(ClusterNo, Sequence, const std::vector<uint32_t> &offsets);

    /// Lets windows go until so many bytes find room, as many as one turn may.
    /// \returns whether they find room; if no other window is there, a window always does, however large it is
    bool makeRoom(uint64_t bytes);
    /// the same, but windows that were used recently stay, and a single window needs room, too
    bool makeRoomFromIdle(uint64_t bytes);

    /// what is in memory and on the device, from that on that would leave last
    /// \param most ranges
    std::vector<ClusterRange> hottest(size_t most) const;

    uint64_t bytes() const { return bytes_; } ///< bytes of all windows in the store, those on their way to the device included
    uint64_t unaskedBytes() const { return unaskedBytes_; } ///< bytes of parts that were read ahead, and no reader has asked for yet
    uint64_t pooledBytes() const { return pooledBytes_; } ///< bytes of windows in buffers of a PagePool
    uint64_t writingBytes() const { return writingBytes_; } ///< bytes of windows on their way to the device
    uint64_t limit() const { return limit_; } ///< bytes
    void setLimit(const uint64_t bytes) { limit_ = bytes; }

    uint64_t hits() const { return hits_; } ///< calls of find() that found a window
    uint64_t misses() const { return misses_; } ///< calls of find() that did not

private:
    using Windows = std::multimap<double, WindowPointer>; ///< by worth

    /// The windows of one cluster, by the number of bits of their size and then by their start. To find the
    /// one that covers a byte, only those of each size that start shortly before it are looked at.
    struct Places {
        std::multimap<uint64_t, Windows::iterator> all;
        uint64_t sizes = 0; ///< the set of the numbers of bits that windows had so far

        static unsigned BitsOf(uint32_t size);
        static uint64_t PlaceOf(const unsigned bits, const uint32_t start) { return uint64_t(bits) << 32 | start; }
        void add(Windows::iterator);
        void remove(Windows::iterator);
    };

    uint64_t counted() const { return bytes_ - writingBytes_; } ///< bytes that count against the limit
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
    template <class Change> void changeShown(const Window &, const Change &);
    void show(Window &);
    void hide(Window &);
    void noteAsked(Window &);
    void noteLeaving(const Window &);

    const CostMeter &cost_;
    UseMeter &use_;
    uint64_t limit_;
    std::shared_ptr<SharedPages> pages_; ///< see pages()
    std::unique_ptr<SharedWindows> shown_; ///< see shown()
    uint64_t bytes_ = 0; ///< see bytes()
    uint64_t pooledBytes_ = 0; ///< see pooledBytes()
    uint64_t unaskedBytes_ = 0; ///< see unaskedBytes()
    uint64_t writingBytes_ = 0; ///< see writingBytes()
    uint64_t clock_ = 0; ///< bytes of all windows that ever came in
    double age_ = 0; ///< the highest worth of an evicted window so far: the inflation value of GreedyDual-Size
    Windows windows_;
    std::unordered_map<ClusterNo, Places> byCluster_;
    uint64_t hits_ = 0;
    uint64_t misses_ = 0;
};

} // namespace ClusterFs

#endif

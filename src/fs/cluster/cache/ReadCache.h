// SPDX-License-Identifier: GPL-2.0-or-later
/* Pieces of clusters that were read or just written and are still in memory. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_READCACHE_H
#define SQUID_SRC_FS_CLUSTER_CACHE_READCACHE_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/cache/ReadPolicy.h"
#include "fs/cluster/cache/UseMeter.h"
#include "fs/cluster/catalog/Catalog.h"
#include "fs/cluster/device/Device.h"

#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

namespace ClusterFs {

/// The bytes of [start, start + size) of a cluster, or of those only that were used.
struct Window {
    /// bytes that somebody has copied from: an extent
    struct Piece {
        uint32_t start; ///< bytes from the cluster's start
        uint32_t size;
        uint32_t at; ///< of a reduced window: bytes from the buffer's start
    };

    ClusterNo cluster = noCluster;
    Sequence sequence = 0; ///< of the cluster when the window was made
    uint32_t start = 0; ///< bytes from the cluster's start
    uint32_t size = 0;
    BufferPointer buffer;
    bool loading = false;
    bool forgotten = false; ///< to go when those who waited for it have copied what they came for
    bool trusted = false; ///< written by us in this run: no checksum needed
    std::vector<uint32_t> checked; ///< offsets of extents whose checksum was right
    uint32_t mates = 0; ///< objects that were read along with the wanted one
    uint32_t ahead = 0; ///< objects that nobody had asked for, but a page was expected to
    uint64_t client = 0; ///< who had opened that page
    uint64_t used = 0; ///< the read cache's clock at the last use
    bool unasked = false; ///< the next part of a large object, which nobody has looked for yet
    std::vector<Piece> pieces; ///< that were used
    bool writing = false; ///< its bytes are on their way to the device, and in memory anyway
    bool reduced = false; ///< to its pieces
    uint64_t splitOff = 0; ///< bytes of its buffer that are counted with windows of their own

    bool covers(const uint32_t from, const uint32_t bytes) const {
        return from >= start && uint64_t(from) + bytes <= uint64_t(start) + size && (!reduced || pieceOf(from, bytes));
    }
    /// \param offset of a byte that it covers
    const char *at(const uint32_t offset) const {
        if (!reduced)
            return buffer->data() + (offset - start);
        const auto *const piece = pieceOf(offset, 1);
        return buffer->data() + piece->at + (offset - piece->start);
    }
    /// \returns the piece with all of these bytes, or nil
    const Piece *pieceOf(uint32_t from, uint32_t bytes) const;
    /// somebody copies from an extent
    void use(uint32_t from, uint32_t bytes);
};
using WindowPointer = std::shared_ptr<Window>;

/// A bounded set of windows. Those go first whose bytes would cost least to read
/// again, the longer unused the sooner: GreedyDual-Size (Cao and Irani, Cost-aware
/// WWW proxy caching algorithms, 1997). Where positioning costs most, many small
/// windows are so kept for a large one; windows of one size go in the order of
/// their last use. A window that somebody else holds a pointer to is not evicted,
/// and one that was used just now not before all others: large ones would leave
/// before their readers have come to the end. What was used of a window that has to
/// go stays once more by itself, when that is clearly less.
class ReadCache
{
public:
    using Done = std::function<void(Status)>;

    ReadCache(Device &, Catalog &, const Geometry &, uint64_t limit);
    ~ReadCache();

    /// \returns a window in memory that covers the bytes, or nil
    WindowPointer find(ClusterNo, Sequence, uint32_t start, uint32_t size);

    /// Reads bytes of a cluster; joins a read under way that covers them.
    /// Waits when memory is at its limit, or too many wait at the device.
    /// \param pin the cluster whose pin keeps the bytes in place meanwhile
    void load(ClusterNo, Sequence, uint32_t start, uint32_t size, ClusterNo pin, IoClass, Done);

    /// \returns whether a read under way brings the bytes; takes done then
    bool join(ClusterNo, Sequence, uint32_t start, uint32_t size, Done &);

    /// Reads one extent that no read under way brings, and its group with it when
    /// that pays.
    /// \param alone the bytes that are wanted
    /// \param run the group around it
    /// \returns whether the group comes, too
    bool loadWithGroup(ClusterNo, Sequence, uint32_t start, uint32_t alone, const Catalog::Run &run, Done);

    /// Reads bytes that nobody has asked for yet, when there is room and such reads
    /// have been of use lately.
    /// \param objects that are expected to be wanted
    /// \param client who opened the page
    /// \returns whether a read was begun; never of more than maxAhead() bytes
    bool loadAhead(ClusterNo, Sequence, uint32_t start, uint32_t size, uint32_t objects, uint64_t client);

    /// Reads the next part of a large object before somebody asks for it. What is read so, and not used yet,
    /// may take a quarter of the memory, in the place of what was not used lately.
    /// \param pin the cluster whose pin keeps the bytes in place meanwhile
    /// \returns whether a read was begun
    bool loadNext(ClusterNo, Sequence, uint32_t start, uint32_t size, ClusterNo pin);

    /// bytes of one read ahead: it must not push everything else out of memory
    uint64_t maxAhead() const { return limit_ / 8; }

    /// whether bytes of a cluster are in memory or on their way
    bool has(ClusterNo, Sequence, uint32_t start, uint32_t size);

    /// starts reads that waited for memory which others have given back, or for the device
    void poll();

    /// Adds bytes that are on their way to the device. Who writes bounds them: they don't count
    /// against the limit until written(), or readers would wait for writes.
    /// \returns the window: it stays in memory while the pointer is held
    WindowPointer insert(ClusterNo, Sequence, BufferPointer, uint32_t size);
    void written(Window &);

    /// lets the window that has these bytes, if any, be the first to leave memory
    void putFirst(ClusterNo, Sequence, uint32_t start, uint32_t size);

    /// drops what is known of a cluster, since its bytes are void
    void forget(ClusterNo);

    /// drops the windows of a cluster in which no object is left, unless it has too many objects to look at
    void forgetUnused(ClusterNo);

    /// Gives a part of an inserted window one of its own, so that it leaves memory when its own time has
    /// come. The inserted one is to be dropped when all are split off.
    /// \param run beginning and end, in bytes from the cluster's start
    /// \returns false when it has left memory before
    bool split(const WindowPointer &, const std::pair<uint32_t, uint32_t> &run);
    /// takes a window out of memory, unless it has left before
    void drop(const WindowPointer &w) { (void)remove(w); }

    /// bytes in windows, those still held elsewhere included
    uint64_t bytes() const { return bytes_; }
    uint64_t limit() const { return limit_; }
    void setLimit(const uint64_t bytes) { limit_ = bytes; }

    /// what was read unasked, and what became of it
    const UseMeter &use() const { return use_; }

    /// requests that may wait at the device when a read is begun: more reads wait here, where none is refused
    static constexpr size_t maxQueued = 4096;

    uint64_t hits = 0; ///< find() that found
    uint64_t misses = 0;

private:
    struct Load {
        ClusterNo cluster;
        Sequence sequence;
        uint32_t start;
        uint32_t size;
        ClusterNo pin;
        IoClass ioClass;
        uint32_t mates = 0;
        uint32_t ahead = 0;
        uint64_t client = 0;
        bool unasked = false;
        std::vector<Done> waiters;
    };
    using LoadPointer = std::shared_ptr<Load>;
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

    Load *coming(ClusterNo, Sequence, uint32_t start, uint32_t size);
    LoadPointer enqueue(ClusterNo, Sequence, uint32_t start, uint32_t size, ClusterNo pin, IoClass, Done);
    void begin(const LoadPointer &);
    void start(const LoadPointer &);
    void loaded(const LoadPointer &, const WindowPointer &, Status);
    void startDeferred();
    bool mayStart(const Load &);
    bool makeRoom(uint64_t bytes);
    uint64_t counted() const { return bytes_ - writingBytes_; } ///< against the limit
    void evict(uint64_t wanted, bool recentToo);
    bool recent(const Window &) const;
    double costOf(uint64_t bytes) const;
    double worth(const Window &) const;
    Windows::iterator give(Windows::iterator, double worth, uint64_t used);
    Windows::iterator *covering(ClusterNo, Sequence, uint32_t start, uint32_t size);
    Windows::iterator *placeOf(const WindowPointer &);
    WindowPointer add(ClusterNo, Sequence, uint32_t start, uint32_t size, BufferPointer);
    void remove(Windows::iterator);
    void reduce(Windows::iterator);
    bool remove(const WindowPointer &);
    template <class IsVoid> void removeIf(ClusterNo, IsVoid &&);
    void noteDrop(const Window &);
    void noteAsked(Window &);

    Device &device_;
    Catalog &catalog_;
    const Geometry &geometry_;
    const LeastCostReads policy_;
    UseMeter use_;
    uint64_t limit_;
    uint64_t bytes_ = 0;
    uint64_t unaskedBytes_ = 0; ///< of windows that are
    uint64_t writingBytes_ = 0; ///< the same
    uint64_t clock_ = 0; ///< bytes of all windows so far
    double age_ = 0; ///< the most that an evicted window was worth
    Windows windows_;
    std::unordered_map<ClusterNo, Places> byCluster_;
    std::vector<uint32_t> offsets_; ///< used by forgetUnused()
    std::unordered_map<ClusterNo, std::vector<LoadPointer>> underWay_;
    std::deque<LoadPointer> deferred_; ///< wait for memory or the device; one for each waiting reader at most
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace ClusterFs

#endif

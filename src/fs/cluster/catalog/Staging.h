// SPDX-License-Identifier: GPL-2.0-or-later
/* Staging: memory for objects that are stored and not packed yet. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_STAGING_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_STAGING_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Types.h"
#include "fs/cluster/catalog/ChunkMemory.h"

#include <map>
#include <unordered_map>

namespace ClusterFs {

enum class StageState : uint8_t {
    free,
    writing, ///< bytes are still coming
    complete, ///< may be packed
    packing, ///< in a cluster image on its way to the device
    leaving ///< forgotten, but a reader still wants the bytes
};

/// one staged object
struct Staged {
    uint64_t id; ///< differs from those of all other objects that had this slot
    Key key;
    ObjectInfo info; ///< info.size is set when complete, parts included
    uint64_t since; ///< Clock::micros() when it was completed
    SlotNo record; ///< its index record, or noSlot
    uint32_t firstChunk;
    uint32_t lastChunk;
    uint32_t size; ///< bytes in staging: those of a large object's parts are not among them
    uint32_t pins; ///< readers
    StageNo previous; ///< neighbour in the list of complete objects
    StageNo next;
    ClusterNo firstPart; ///< of a large object, or noCluster
    ClusterNo origin; ///< the cluster from which it is being relocated, or noCluster
    uint32_t originOffset; ///< of its extent there, bytes
    uint32_t heat; ///< see StoreContext::heatOf(); its record gets it when it is packed
    StageState state;
    bool moved; ///< it lay in a cluster before, and was worth moving; it waits in a list of its own
};

class Catalog;

/// Objects as chains of small chunks in flat memory, and two lists of complete
/// ones, each in the order of their use, or by orderBySize(): those that were moved out of clusters, and all
/// others. Writers and readers use it for the bytes. Only
/// the catalog changes an object's record, its first part and its origin.
class Staging
{
public:
    static constexpr uint32_t chunkBytes = ChunkMemory::chunkBytes;

    /// \param bytes of all chunks
    explicit Staging(uint64_t bytes);

    /// From now on, and before there is any object, lists are in the order of GreedyDual-Size (Cao and Irani, Cost-aware WWW proxy
    /// caching algorithms, 1997, with a cost of 1): of two objects used at the same time, the larger one leaves first.
    void orderBySize() { bySize_ = true; }

    /// starts an object. \returns noStage when the table is full
    StageNo open(const Key &, const ObjectInfo &);

    /// appends bytes to an object in state writing
    /// \returns false when memory is used up; the bytes that were taken stay
    bool append(StageNo, const char *, size_t);

    /// No more bytes come; the object stays in state writing until complete().
    /// \param size stored bytes, those in parts included
    /// \param heat see Staged::heat
    void close(StageNo, uint64_t size, uint32_t heat);

    /// puts a closed object at the used-last end of a list: it may be packed
    /// \param now Clock::micros()
    /// \param moved see Staged::moved
    void complete(StageNo, uint64_t now, bool moved = false);

    /// moves a complete object to the used-last end of its list
    void touch(StageNo);

    /// moves a complete object to the end of its list that is packed first
    void putLast(StageNo);

    /// complete -> packing, and back when the write failed
    void startPacking(StageNo);
    void packingFailed(StageNo);

    /// Forgets an object that has no index record; its memory is free once no reader has a pin.
    void drop(StageNo);

    void pin(const StageNo s) { ++table_[s].pins; }
    void unpin(StageNo);

    /// remembers where the last copy() stopped, so that the next one need not walk from the first chunk
    struct Cursor {
        uint32_t chunk = 0xffffffffU;
        uint32_t start = 0; ///< offset of the chunk's first byte in the object
    };

    /// copies bytes of an object
    /// \returns bytes copied: fewer than asked for at the end of the object
    size_t copy(StageNo, uint32_t offset, char *to, size_t, Cursor &) const;

    const Staged &operator [](const StageNo s) const { return table_[s]; }

    StageNo leastRecent(const bool moved) const { return listOf(moved).tail; } ///< of the complete ones, or noStage
    StageNo mostRecent(const bool moved) const { return listOf(moved).head; } ///< the other end, or noStage
    StageNo moreRecent(const StageNo s) const { return table_[s].previous; } ///< the next one of the same list, or noStage
    StageNo lessRecent(const StageNo s) const { return table_[s].next; } ///< the same in the other direction

    /// sets memory aside for an object of known size, so that it will not fail half way
    /// \returns false when so much is not free
    bool promise(uint64_t bytes);
    void unpromise(uint64_t bytes);

    /* bytes of memory, whole chunks */
    uint64_t bytesUsed() const { return chunks_.used() * uint64_t(chunkBytes); }
    uint64_t bytesLimit() const { return chunks_.count() * uint64_t(chunkBytes); }
    uint64_t bytesResident() const { return chunks_.residentBytes(); } ///< most that it takes now: little more than is used
    uint64_t bytesFree() const; ///< neither used nor promised
    uint64_t completeBytes() const { return lists_[0].bytes + lists_[1].bytes; } ///< memory of objects that could be packed now
    uint64_t completeBytes(const bool moved) const { return listOf(moved).bytes; } ///< of those of one list
    /// memory of objects whose bytes are still coming, and memory that is promised
    uint64_t incompleteBytes() const { return writingBytes_ + promised_; }
    /// memory that an object of that size takes
    static uint64_t MemoryOf(const uint64_t bytes) { return roundUp(bytes ? bytes : 1, chunkBytes); }
    uint32_t objects() const { return objects_; }
    /* for StagingView in another process */
    const Region &bytesMemory() const { return chunks_.memory(); }
    const Region &chainMemory() const { return nextChunk_.region(); }
    const Region &objectMemory() const { return table_.region(); }

    StageNo slotsTouched() const { return freshStage_; } ///< this one and higher ones were never used

private:
    friend class Catalog;
    Staged &entry(const StageNo s) { return table_[s]; }
    void forget(StageNo);

    /// complete objects
    struct List {
        StageNo head = noStage; ///< the one that was used last
        StageNo tail = noStage; ///< the one that was used least recently
        uint64_t bytes = 0; ///< of memory
    };
    /// the objects of a list by what they are worth, while orderBySize() holds
    using Worths = std::multimap<double, StageNo>;

    List &listOf(const bool moved) { return lists_[moved]; }
    const List &listOf(const bool moved) const { return lists_[moved]; }
    void link(StageNo);
    void linkBelow(StageNo above, StageNo);
    StageNo placeByWorth(StageNo, double worth);
    void unlink(StageNo);
    void freeObject(StageNo);
    static uint64_t ChunksOf(const Staged &o) { return roundUp(o.size, chunkBytes); } ///< bytes of an object's chunks

    ChunkMemory chunks_;
    Table<uint32_t> nextChunk_; ///< by chunk: the next one of the object
    Table<Staged, StageNo> table_;
    StageNo freeStage_ = noStage;
    StageNo freshStage_{0};
    List lists_[2]; ///< by Staged::moved
    bool bySize_ = false; ///< see orderBySize()
    double inflation_ = 0; ///< of GreedyDual-Size: the highest worth of an object that was packed
    Worths worths_[2]; ///< by Staged::moved
    std::unordered_map<StageNo, Worths::iterator> worthOf_;
    uint64_t lastId_ = 0;
    uint64_t promised_ = 0; ///< bytes
    uint64_t writingBytes_ = 0; ///< bytes of the chunks of objects in state writing
    uint32_t objects_ = 0;
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Stored objects that are in memory and not packed yet. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_STAGING_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_STAGING_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Types.h"

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
    uint64_t id; ///< tells objects that used this slot apart
    Key key;
    ObjectInfo info; ///< info.size is set when complete, parts included
    uint64_t since; ///< Clock::micros() when it was completed
    SlotNo record; ///< its index record, or noSlot
    uint32_t firstChunk;
    uint32_t lastChunk;
    uint32_t size; ///< bytes here
    uint32_t pins; ///< readers
    StageNo previous; ///< neighbour in the list of complete objects
    StageNo next;
    ClusterNo firstPart; ///< where a large object goes on, or noCluster
    ClusterNo origin; ///< the cluster that still holds it, while it is being relocated; or noCluster
    uint32_t originOffset; ///< of its extent there
    uint32_t heat; ///< replacement bits to give to the index when packed
    StageState state;
};

class Catalog;

/// Objects as chains of small chunks in flat memory, and the list of complete
/// ones in order of use. Who brings or reads bytes does so here; where an object
/// belongs (its record, its parts, where it comes from) only the catalog changes.
class Staging
{
public:
    static constexpr uint32_t chunkBytes = 1024;

    explicit Staging(uint64_t bytes);

    /// starts an object. \returns noStage when the table is full
    StageNo open(const Key &, const ObjectInfo &);

    /// \returns false when memory is used up; what was taken so far stays
    bool append(StageNo, const char *, size_t);

    /// No more bytes come.
    /// \param size stored bytes, those in parts included
    /// \param heat replacement bits to give to the index when packed
    void close(StageNo, uint64_t size, uint32_t heat);

    /// puts a closed object at the used-last end of the list: it may be packed
    void complete(StageNo, uint64_t now);

    /// moves a complete object to the used-last end
    void touch(StageNo);

    /// moves a complete object to the other end
    void putLast(StageNo);

    /// complete -> packing, and back when the write failed
    void startPacking(StageNo);
    void packingFailed(StageNo);

    /// Forgets an object that has no index record; its memory goes when the last reader has.
    void drop(StageNo);

    void pin(const StageNo s) { ++table_[s].pins; }
    void unpin(StageNo);

    /// remembers where the last copy() stopped, so that the next needs no walk
    struct Cursor {
        uint32_t chunk = 0xffffffffU;
        uint32_t start = 0; ///< offset of the chunk's first byte
    };

    /// \returns bytes copied
    size_t copy(StageNo, uint32_t offset, char *to, size_t, Cursor &) const;

    const Staged &operator [](const StageNo s) const { return table_[s]; }

    StageNo leastRecent() const { return tail_; } ///< of the complete ones, or noStage
    StageNo moreRecent(const StageNo s) const { return table_[s].previous; }

    /// sets memory aside for an object of known size, so that it will not fail half way
    bool promise(uint64_t bytes);
    void unpromise(uint64_t bytes);

    uint64_t bytesUsed() const { return usedChunks_ * uint64_t(chunkBytes); }
    uint64_t bytesLimit() const { return chunkCount_ * uint64_t(chunkBytes); }
    uint64_t bytesFree() const; ///< neither used nor promised
    uint64_t completeBytes() const { return completeBytes_; } ///< memory of objects that could be packed now
    /// memory that objects have, or were promised, whose bytes are still coming
    uint64_t incompleteBytes() const { return writingBytes_ + promised_; }
    /// memory that an object of that size takes
    static uint64_t MemoryOf(const uint64_t bytes) { return roundUp(bytes ? bytes : 1, chunkBytes); }
    uint32_t objects() const { return objects_; }
    StageNo slotsTouched() const { return freshStage_; } ///< this one and higher ones were never used

private:
    friend class Catalog;
    Staged &entry(const StageNo s) { return table_[s]; }
    void forget(StageNo);

    void link(StageNo);
    void unlink(StageNo);
    void freeObject(StageNo);
    static uint64_t ChunksOf(const Staged &o) { return roundUp(o.size, chunkBytes); } ///< their bytes
    char *chunk(const uint32_t c) const { return memory_.data() + size_t(c) * chunkBytes; }

    uint32_t chunkCount_;
    Region memory_;
    Table<uint32_t> nextChunk_; ///< of a chain; of the free list when free
    Table<Staged, StageNo> table_;
    uint32_t freeChunk_ = 0xffffffffU;
    uint32_t freshChunk_ = 0;
    StageNo freeStage_ = noStage;
    StageNo freshStage_{0};
    StageNo head_ = noStage;
    StageNo tail_ = noStage;
    uint64_t lastId_ = 0;
    uint64_t usedChunks_ = 0;
    uint64_t promised_ = 0;
    uint64_t completeBytes_ = 0;
    uint64_t writingBytes_ = 0; ///< in chunks of objects in that state
    uint32_t objects_ = 0;
};

} // namespace ClusterFs

#endif

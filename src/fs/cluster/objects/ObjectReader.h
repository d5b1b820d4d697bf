// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading one object: from staging, from its extent, from its parts. */

#ifndef SQUID_SRC_FS_CLUSTER_OBJECTS_OBJECTREADER_H
#define SQUID_SRC_FS_CLUSTER_OBJECTS_OBJECTREADER_H

#include "fs/cluster/api/Reader.h"
#include "fs/cluster/cache/ReadCache.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/learning/Tracker.h"
#include "fs/cluster/objects/WritingObject.h"
#include "fs/cluster/recovery/Journal.h"

namespace ClusterFs {

/// the parts of an engine that its readers work with
struct ReaderGroup {
    StoreContext &context;
    ReadCache &cache;
    const Tracker &tracker;
    Journal &journal;
};

/// The engine's Reader. It pins the object, so that its space is not reused, and
/// holds no memory between calls. Where a replica of the object is in memory, and the object itself is not, it reads that.
class ObjectReader final : public Reader
{
public:
    /// opens a finished object
    /// \param slot its record
    ObjectReader(const ReaderGroup &, const Key &, SlotNo);
    /// opens an object that is being written
    ObjectReader(const ReaderGroup &, const Key &, const WritingPointer &);
    ~ObjectReader() override;

    uint64_t size() const override;
    int64_t copy(uint64_t offset, char *to, size_t size) override;
    void fetch(uint64_t offset, std::function<void(Status)> done) override;

    /// bytes of the object that are not in parts
    uint32_t frontBytes() const { return headBytes(); }
    /// whether a record of the index is that of the version that this reader opened
    bool reads(SlotNo) const;

private:
    /// an extent or a part: bytes of the object with one checksum
    struct Piece {
        ClusterRange range; ///< with its header
        uint32_t payloadAt = 0; ///< bytes from the cluster's start
        uint32_t payload = 0; ///< bytes
        uint64_t offset = 0; ///< of the first payload byte in the object
        ClusterNo pin = noCluster; ///< the cluster whose pin keeps the bytes in place
        bool part = false;
        uint32_t number = 0; ///< of a part, from 0
    };

    /// where an extent is
    struct Extent {
        ClusterNo cluster = noCluster;
        Sequence sequence{0}; ///< of the cluster
        uint32_t offset = 0; ///< bytes from the cluster's start
    };

    bool locate(uint64_t offset, Piece &);
    bool locatePart(uint64_t offset, Piece &);
    bool isEmptyFront(uint64_t offset) const;
    bool inMemory(uint64_t offset) const;
    uint64_t fillingStart() const;
    void answerLater(Status, std::function<void(Status)>);
    int64_t copyFilling(uint64_t offset, char *to, size_t size) const;
    Status check(Window &, const Piece &) const;
    static Key ownerOf(const Window &, const Piece &);
    Status checkFront(const Window &, const Piece &, const Key &owner) const;
    Status checkPart(const Window &, const Piece &) const;
    void fetched(const Piece &, Status, const std::function<void(Status)> &);
    ClusterRange rangeOf(const Extent &) const;
    void chooseReplica();
    void leaveReplica();
    bool readsReplica() const { return at_.cluster != own_.cluster; } // never two of an object in a cluster
    bool isReplica(const Piece &piece) const { return !piece.part && piece.range.cluster != own_.cluster; }
    void failed(const Piece &, Status);
    uint32_t headBytes() const;
    ClusterNo firstPart();
    Catalog::Run groupAround(const Piece &) const;
    void addReplicas(Catalog::Run &, const ClusterRange &wanted, uint32_t end) const;
    void readAhead(const Piece &);
    void count(uint64_t Counters::*);

    StoreContext &context_;
    ReadCache &cache_;
    const Tracker &tracker_;
    Journal &journal_;
    std::shared_ptr<bool> engineAlive_; ///< false once the engine is closed
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true); ///< false once this reader is gone
    Key key_;
    SlotNo slot_ = noSlot; ///< of the record that was opened; another object may have it by now: see reads()
    WritingPointer writing_; ///< set when the object was not finished at opening
    StageNo stage_ = noStage; ///< pinned
    Staging::Cursor cursor_;
    Extent own_; ///< where the record said that the extent is; pinned
    Extent at_; ///< where it is read: there, or at a replica, which is pinned then, too
    uint32_t headBytes_ = 0; ///< payload in the extent or in staging
    uint64_t size_ = 0; ///< stored bytes
    ClusterNo firstPart_ = noCluster; ///< pinned
    ClusterNo atPart_ = noCluster; ///< the part that was looked up last: the next one is close
    uint64_t atPartNumber_ = 0; ///< its number, from 0
    bool counted_ = false; ///< the statistics have the place that it was read from
    bool alone_ = false; ///< the extent is read without its group
};

} // namespace ClusterFs

#endif

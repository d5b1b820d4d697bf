// SPDX-License-Identifier: GPL-2.0-or-later
/* Taking in one object. */

#ifndef SQUID_SRC_FS_CLUSTER_OBJECTS_OBJECTWRITER_H
#define SQUID_SRC_FS_CLUSTER_OBJECTS_OBJECTWRITER_H

#include "fs/cluster/api/Writer.h"
#include "fs/cluster/cache/WindowStore.h"
#include "fs/cluster/objects/WritingObject.h"
#include "fs/cluster/packing/Allocator.h"
#include "fs/cluster/packing/PackingQueue.h"
#include "fs/cluster/packing/RoomMaker.h"

#include <algorithm>
#include <list>

namespace ClusterFs {

class ObjectWriter;

/// what the writers of one engine have in common
class WriterGroup
{
public:
    WriterGroup(StoreContext &, Allocator &, WindowStore &, Journal &, PackingQueue &, RoomMaker &);

    /// an object is complete: gives it its index record
    /// \returns ok or full
    Status publish(StageNo);

    uint64_t largestObject() const; ///< stored bytes
    uint64_t bytesInFlight = 0; ///< of parts
    uint64_t maxBytesInFlight() const { return uint64_t(std::max(context.config.stagingMb, 16U)) << 20; }
    /// Others read the object while it comes in: Squid could not give them the
    /// rest if it were refused, so it may take more memory.
    static constexpr unsigned joinedFactor = 4;

    /// Objects that come in faster than the device writes should be slowed
    /// down before they meet the limit, but not by a device that hangs.
    bool congested() const;
    void partSent(uint64_t bytes);
    void partDone(uint64_t bytes);

    /// writes once the journal has got that far
    void send(Journal::Ticket, Io);
    /// sends what has waited for the journal
    void poll();

    /// bytes of an object that go to staging, the rest going to parts
    uint64_t frontOf(int64_t expectedSize) const;
    /// Bytes of staging that are set aside for an object of known size before any have come:
    /// no more than each has in front of its parts, or slow ones would hold all of it.
    uint64_t promiseOf(int64_t expectedSize) const;

    /// Counts more memory for the part that an object is filling, until that part is sent or given
    /// up. When there is too little, that of others gives way which have got nothing for longest.
    /// \returns false when there is none
    bool takeFilling(ObjectWriter &, uint64_t bytes);
    uint64_t fillingBytes() const { return fillingBytes_; } ///< of all parts that are being filled
    uint64_t maxFilling() const { return maxBytesInFlight(); }

    /// an object begins, has got bytes, or ends
    void noteBegin(ObjectWriter &);
    void noteBytes(ObjectWriter &);
    void noteEnd(ObjectWriter &);

    StoreContext &context;
    Allocator &allocator;
    WindowStore &windows;
    Journal &journal;
    PackingQueue &packing;
    RoomMaker &roomMaker;

    uint64_t smallestFront() const; ///< bytes that each object has in front of its parts

private:
    bool giveWay(const ObjectWriter *to, uint64_t idle);
    bool slowGivesWay();
    void makeWay();

    struct Waiting {
        Journal::Ticket ticket;
        Io io;
    };
    std::deque<Waiting> waiting_; ///< bounded by maxBytesInFlight()
    std::list<ObjectWriter *> writers_; ///< unfinished ones, what has got nothing for longest first
    uint64_t fillingBytes_ = 0;
    uint64_t lastProgress_ = 0; ///< Clock::micros() when a part was done, or sent after none was in flight
};

/// The engine's Writer. Small objects gather in staging; what goes beyond is
/// written to clusters of its own while it comes in (Hummingbird's
/// write_nomem_file).
class ObjectWriter final : public Writer
{
public:
    /// how an object is to be taken in
    struct Plan {
        int64_t expected; ///< stored bytes, -1 when unknown
        uint64_t frontLimit; ///< see WriterGroup::frontOf()
        uint64_t promised; ///< bytes of staging that were set aside
    };
    ObjectWriter(WriterGroup &, const Key &, StageNo, const Plan &);
    ~ObjectWriter() override;

    bool append(const char *, size_t) override;
    Status finish() override;
    uint64_t size() const override { return object_->size; }
    bool congested() const override;
    bool parted() const override { return object_->parts || object_->filling; }

    const Key &key() const { return key_; }
    const WritingPointer &object() const { return object_; }

    /// Gives way to others: the object is not stored.
    void refuse() { (void)fail(); }

    std::list<ObjectWriter *>::iterator place; ///< the group's
    uint64_t begun = 0; ///< Clock::micros()
    uint64_t lastBytes = 0; ///< Clock::micros() of the newest

private:
    bool mayStage(uint64_t bytes) const;
    bool stageLess(uint64_t &bytes);
    bool makeFilling(uint64_t bytes);
    bool appendToPart(const char *, size_t);
    bool submitPart();
    void sealPart(ClusterNo, uint32_t bytes, uint32_t size);
    void linkPart(ClusterNo, uint32_t bytes);
    void pinParts();
    static void PartDone(WriterGroup &, const WritingPointer &, ClusterNo, Status);
    bool fail();
    void giveUp();

    WriterGroup &group_;
    std::shared_ptr<bool> engineAlive_;
    Key key_;
    WritingPointer object_;
    const int64_t expected_; ///< stored bytes, -1 when unknown
    uint64_t promised_;
};

} // namespace ClusterFs

#endif

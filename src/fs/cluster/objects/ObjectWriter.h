// SPDX-License-Identifier: GPL-2.0-or-later
/* Taking in one object. */

#ifndef SQUID_SRC_FS_CLUSTER_OBJECTS_OBJECTWRITER_H
#define SQUID_SRC_FS_CLUSTER_OBJECTS_OBJECTWRITER_H

#include "fs/cluster/api/Writer.h"
#include "fs/cluster/cache/WindowStore.h"
#include "fs/cluster/objects/Moves.h"
#include "fs/cluster/objects/WritingObject.h"
#include "fs/cluster/packing/Allocator.h"
#include "fs/cluster/packing/PackingQueue.h"
#include "fs/cluster/packing/RoomMaker.h"

#include <algorithm>
#include <deque>
#include <list>

namespace ClusterFs {

class ObjectWriter;

/// The writers of one engine: their limits, the memory that they share, and their way to the device.
class WriterGroup
{
public:
    WriterGroup(StoreContext &, Allocator &, WindowStore &, Journal &, PackingQueue &, RoomMaker &);

    /// Gives a closed staged object its index record in place of an older version's.
    /// \returns ok, or full when the index is
    Status publish(StageNo);

    /// whether an object that is stored was here not long ago, for policies that try new ones: it is not new
    bool isKnown(StageNo) const;

    uint64_t largestObject() const; ///< stored bytes
    uint64_t bytesInFlight = 0; ///< bytes of parts on their way to the device
    uint64_t maxBytesInFlight() const { return uint64_t(std::max(context.config.stagingMb, 16U)) << 20; }
    /// An object that others read while it comes in may take so many times the
    /// memory: if it were refused, Squid could not give them the rest.
    static constexpr unsigned joinedFactor = 4;

    /// Whether objects with parts come in faster than the device writes and should
    /// be slowed down before they meet the limit. A device that hangs slows nobody.
    bool congested() const;
    void partSent(uint64_t bytes);
    void partDone(uint64_t bytes);

    /// submits a write once the journal has a ticket's record on the device
    void send(Journal::Ticket, Io);
    /// refuses objects that are too slow, and submits writes that waited for the journal; called each turn
    void poll();

    /// bytes of an object that go to staging; the rest goes to parts
    /// \param expectedSize stored bytes, -1 when unknown
    uint64_t frontOf(int64_t expectedSize) const;
    /// Bytes of staging to set aside for an object of known size before any of them have come. They
    /// are at most smallestFront(), or slow objects would hold all of staging.
    /// \param expectedSize stored bytes, -1 when unknown
    uint64_t promiseOf(int64_t expectedSize) const;

    /// Counts more memory for the part that an object is filling, until that part is sent or given
    /// up. When there is too little, other objects are refused, those first that have got no byte
    /// for longest.
    /// \returns false when there is too little all the same
    bool takeFilling(ObjectWriter &, uint64_t bytes);
    uint32_t clustersInRuns = 0; ///< clusters that objects keep for their next parts
    /// how many more of them there may be: slow objects must not keep the disk from others
    uint32_t spareForRuns() const;
    uint64_t fillingBytes() const { return fillingBytes_; } ///< memory of all parts that are being filled
    uint64_t maxFilling() const { return maxBytesInFlight(); }

    /// an object begins, gets bytes, or ends
    void noteBegin(ObjectWriter &);
    void noteBytes(ObjectWriter &);
    void noteEnd(ObjectWriter &);

    StoreContext &context;
    Allocator &allocator;
    WindowStore &windows;
    Journal &journal;
    PackingQueue &packing;
    RoomMaker &roomMaker;
    Moves moves;

    uint64_t smallestFront() const; ///< bytes that each object has in front of its parts, at least

private:
    bool giveWay(const ObjectWriter *to, uint64_t idle);
    bool slowGivesWay();
    void makeWay();

    struct Waiting {
        Journal::Ticket ticket;
        Io io;
    };
    std::deque<Waiting> waiting_; ///< writes that wait for the journal; maxBytesInFlight() bounds them
    std::list<ObjectWriter *> writers_; ///< unfinished ones; the first has got no byte for longest
    uint64_t fillingBytes_ = 0; ///< see fillingBytes()
    uint64_t lastProgress_ = 0; ///< Clock::micros() when a part was done, or sent after none was in flight
};

/// The engine's Writer. Small objects gather in staging. The bytes of a large one
/// beyond its front are written to clusters of their own while they come in
/// (Hummingbird's write_nomem_file, section 3.1).
class ObjectWriter final : public Writer
{
public:
    /// how the bytes of an object are divided
    struct Plan {
        int64_t expected; ///< stored bytes, -1 when unknown
        uint64_t frontLimit; ///< see WriterGroup::frontOf()
        uint64_t promised; ///< bytes of staging that were set aside
    };
    ObjectWriter(WriterGroup &, const Key &, StageNo, const Plan &);
    ~ObjectWriter() override;

    bool append(const char *, size_t) override;
    Status finish(std::function<void(Status)>) override;
    uint64_t size() const override { return object_->size; }
    bool congested() const override;
    bool parted() const override { return object_->parts || object_->filling; }

    const Key &key() const { return key_; }
    const WritingPointer &object() const { return object_; }

    /// Gives way to others: the object is not stored.
    void refuse() { (void)fail(); }

    std::list<ObjectWriter *>::iterator place; ///< in the group's list
    uint64_t begun = 0; ///< Clock::micros() when it was opened
    uint64_t lastBytes = 0; ///< Clock::micros() when its newest bytes came

private:
    bool mayStage(uint64_t bytes) const;
    bool stageLess(uint64_t &bytes);
    bool makeFilling(uint64_t bytes);
    bool appendToPart(const char *, size_t);
    bool submitPart();
    Allocator::Taken nextCluster();
    uint32_t partsToCome() const;
    void endRun();
    void sealPart(ClusterNo, uint32_t bytes, uint32_t size);
    void linkPart(ClusterNo, uint32_t bytes);
    void pinParts();
    static void PartDone(WriterGroup &, const WritingPointer &, ClusterNo, Status);
    bool fail();
    void giveUp();

    WriterGroup &group_;
    std::shared_ptr<bool> engineAlive_; ///< false once the engine is closed
    Key key_;
    WritingPointer object_;
    const int64_t expected_; ///< stored bytes, -1 when unknown
    uint64_t promised_; ///< bytes of staging that are still set aside
    std::deque<Allocator::Taken> run_; ///< clusters for its next parts
};

} // namespace ClusterFs

#endif

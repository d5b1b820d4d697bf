// SPDX-License-Identifier: GPL-2.0-or-later
/* Taking in one object. */

#ifndef SQUID_SRC_FS_CLUSTER_WRITING_OBJECTWRITER_H
#define SQUID_SRC_FS_CLUSTER_WRITING_OBJECTWRITER_H

#include "fs/cluster/engine/Engine.h"
#include "fs/cluster/reading/ReadCache.h"
#include "fs/cluster/writing/Allocator.h"
#include "fs/cluster/writing/WritingObject.h"

#include <algorithm>

namespace ClusterFs {

/// what the writers of one engine have in common
class WriterGroup
{
public:
    WriterGroup(Shared &, Allocator &, ReadCache &);

    /// an object is complete: gives it its index record
    /// \returns ok or full
    Status publish(StageNo);

    uint64_t largestObject() const; ///< stored bytes
    uint64_t bytesInFlight = 0; ///< of parts
    uint64_t bytesInFlightMost() const { return uint64_t(std::max(shared.config.stagingMb, 16U)) << 20; }
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

    Shared &shared;
    Allocator &allocator;
    ReadCache &cache;
    Journal *journal = nullptr;
    std::function<void(StageNo)> onComplete; ///< an object may be packed now
    std::function<void()> makeRoom; ///< clusters are needed at once

    uint64_t smallestFront() const; ///< bytes that each object has in front of its parts

private:
    struct Waiting {
        Journal::Ticket ticket;
        Io io;
    };
    std::deque<Waiting> waiting_; ///< bounded by bytesInFlightMost()
    uint64_t lastProgress_ = 0; ///< Clock::micros() when a part was done, or sent after none was in flight
};

/// The engine's Writer. Small objects gather in staging; what goes beyond is
/// written to clusters of its own while it comes in (Hummingbird's
/// write_nomem_file).
class ObjectWriter final : public Writer
{
public:
    ObjectWriter(WriterGroup &, const Key &, StageNo, uint64_t frontLimit, uint64_t promised);
    ~ObjectWriter() override;

    bool append(const char *, size_t) override;
    Status finish() override;
    uint64_t size() const override { return object_->size; }
    bool congested() const override;

    const Key &key() const { return key_; }
    const WritingPointer &object() const { return object_; }

private:
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
    uint64_t promised_;
};

} // namespace ClusterFs

#endif

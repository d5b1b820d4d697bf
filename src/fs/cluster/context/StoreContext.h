// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of an open store that all its parts work on. */

#ifndef SQUID_SRC_FS_CLUSTER_CONTEXT_STORECONTEXT_H
#define SQUID_SRC_FS_CLUSTER_CONTEXT_STORECONTEXT_H

#include "fs/cluster/api/Config.h"
#include "fs/cluster/api/Stats.h"
#include "fs/cluster/catalog/Catalog.h"
#include "fs/cluster/context/ClusterQueues.h"
#include "fs/cluster/context/Health.h"
#include "fs/cluster/context/Inflation.h"
#include "fs/cluster/context/RewriteBudget.h"
#include "fs/cluster/device/Device.h"
#include "fs/cluster/layout/Superblock.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace ClusterFs {

/// Tells which objects may have an older copy that a start would find: they were moved out of a
/// cluster that stays for the sake of its other objects, and the newest checkpoint still names
/// them there. A checkpoint that begins after the move ends that.
class LeftBehind
{
public:
    /// objects were moved out of a cluster that stays
    /// \param since the clusters that they are packed into have a higher sequence number
    void note(const Sequence since) { now_ = std::min(now_, since); }

    void checkpointBegins() { closing_ = std::min(closing_, std::exchange(now_, maxSequence)); }
    void checkpointDone() { closing_ = maxSequence; } ///< not called when the checkpoint failed

    /// whether objects of a cluster with that sequence number may have such older copies
    bool mayConcern(const Sequence s) const { return s > std::min(now_, closing_); }

private:
    Sequence now_ = maxSequence;
    Sequence closing_ = maxSequence; ///< the same for the moves that the running checkpoint will end, or would have if it had not failed
};

/// The state of one open store. LocalEngine owns it, and its parts hold a reference. One thread uses it.
struct StoreContext {
    StoreContext(Device &aDevice, const Clock &aClock, const Config &aConfig, Log aLog,
           const Superblock &superblock):
        device(aDevice),
        clock(aClock),
        config(aConfig),
        log(std::move(aLog)),
        geometry(superblock.geometry),
        uuid(superblock.uuid),
        sequence(superblock.lastSequence),
        logClusters(superblock.logClusters),
        writtenBefore(superblock.written - aDevice.stats().of(IoOp::write).bytes),
        catalog(geometry, superblock.secret, uint64_t(config.stagingMb) << 20, config.list),
        queues(geometry.clusterCount, geometry.objectsExpected)
    {
    }

    Device &device;
    const Clock &clock;
    Config config;
    Log log;
    Geometry geometry; ///< only logSkips changes while the store is open, see Evictor::claimForLog()
    const Uuid uuid;
    Sequence sequence; ///< the newest that was given to a cluster
    uint32_t logClusters; ///< how many of the first clusters belong to the index log, bad ones counted
    uint32_t logClustersWanted = 0; ///< how many usable clusters the index log needs; the evictor claims them
    const uint64_t writtenBefore; ///< see written()
    Catalog catalog;
    mutable Counters counters; ///< mutable, because queries are counted, too
    RewriteBudget rewrites;
    ClusterQueues queues; ///< for policies that try new objects
    Inflation inflation; ///< for policies that inflate
    Health health;
    std::vector<Key> readKeys; ///< objects that callers read from the device since the last turn, at most maxReadKeys
    static constexpr size_t maxReadKeys = 1024;
    std::deque<std::function<void()>> later; ///< to be called in the next turn
    bool recovered = false; ///< the whole index is known
    uint64_t newHeads = 0; ///< counts large objects that got another head and kept their parts
    /// Counts how often objects left the index while copies that a start would find stay on the device. It is 1 at first,
    /// for the objects that this start has not found yet.
    uint64_t forgotten = 1;
    uint64_t covered = 0; ///< forgotten when the newest whole checkpoint began: a start would find no copy of those any more
    LeftBehind leftBehind;
    std::shared_ptr<bool> alive = std::make_shared<bool>(true); ///< false once the engine is closed

    /// Whether a start could find an object that the index does not have. Then the journal must
    /// have each delete and each replacement, even of an object that the index does not have.
    bool mayReturn() const { return forgotten != covered; }

    /// bytes that were written to the device since it was formatted, see Superblock::written
    uint64_t written() const { return writtenBefore + device.stats().of(IoOp::write).bytes; }

    /// whether the index log needs more clusters than it has
    bool logIsShort() const {
        return logClusters - geometry.logSkips.size() < logClustersWanted && logClusters + 1 < geometry.clusterCount;
    }

    /// payload bytes that a part can have
    uint32_t partCapacity() const { return geometry.clusterBytes - partPayloadAt; }

    /// payload bytes that an extent can have that is alone in its cluster
    uint32_t extentCapacity() const {
        const auto front = Directory::BytesFor(1, 0) + ExtentHeader::encodedBytes + 2 * extentAlignment;
        return geometry.clusterBytes - static_cast<uint32_t>(front);
    }

    /// seconds since 1970, low 32 bits, as clusters store them
    uint32_t wallSeconds() const { return static_cast<uint32_t>(clock.wallSeconds()); }

    /// whether an object is past its lifetime
    bool expired(const SlotNo slot) const {
        return pastLifetime(catalog.index()[slot].timestamp, config.fileLifetime, clock);
    }

    /// an object in a cluster, as policies see it
    ObjectView viewOf(const SlotNo slot) const {
        const auto heat = catalog.index()[slot].heat();
        return {catalog.payloadBytes(slot), ageOf(heat), usesOf(heat), inflation.since(heat >> 3)};
    }

    /// the exponent of an object's size, see EvictionPolicy
    float sizeWeight() const { return static_cast<float>(config.sizeWeight) / 100; }

    /* Heat, the 11 replacement bits of a record: a coarse date of the last use (8 bits), whose clock is the number of
     * cluster writes, and a small count of uses (3 bits). */

    /// cluster writes in one tick of the coarse date
    uint64_t heatTickWrites() const { return geometry.clusterCount / 64 + 1; }

    /// the coarse date of now, modulo 256; the device is written over once in 64 ticks
    uint32_t heatTick() const {
        return static_cast<uint32_t>(sequence.value() / heatTickWrites()) & 0xff;
    }
    /// the heat of an object that is used now; 7 uses stand for more, too
    uint32_t heatOf(const uint32_t uses) const { return heatTick() << 3 | (uses > 7 ? 7 : uses); }
    static uint32_t usesOf(const uint32_t heat) { return heat & 7; }
    /// ticks since the last use, 0 to 255
    uint32_t ageOf(const uint32_t heat) const { return (heatTick() - (heat >> 3)) & 0xff; }
};

/// Measures a call into the engine, for Counters::longestTurn: the caller's
/// event loop does nothing else while the call lasts.
class Turn
{
public:
    explicit Turn(const StoreContext &context): context_(context), begin_(context.clock.micros()) {}
    ~Turn() {
        auto &longest = context_.counters.longestTurn;
        longest = std::max(longest, context_.clock.micros() - begin_);
    }
    Turn(const Turn &) = delete;
    Turn &operator =(const Turn &) = delete;

private:
    const StoreContext &context_;
    const uint64_t begin_; ///< Clock::micros()
};

} // namespace ClusterFs

#endif

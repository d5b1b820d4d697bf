// SPDX-License-Identifier: GPL-2.0-or-later
/* What all parts of an open engine work on. */

#ifndef SQUID_SRC_FS_CLUSTER_CONTEXT_STORECONTEXT_H
#define SQUID_SRC_FS_CLUSTER_CONTEXT_STORECONTEXT_H

#include "fs/cluster/api/Config.h"
#include "fs/cluster/api/Stats.h"
#include "fs/cluster/base/Messages.h"
#include "fs/cluster/catalog/Catalog.h"
#include "fs/cluster/context/RewriteBudget.h"
#include "fs/cluster/device/Device.h"
#include "fs/cluster/layout/Superblock.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace ClusterFs {

/// How well the device does. Errors are answered in steps: a cluster is put
/// out of use, then nothing is written any more, then the device is given up.
/// Each step but the first is taken only when another place fails, too: one
/// place may be bad that a lot is written to or read from. Superblocks are
/// asked as soon as writing is given up, so that a disk that died under load
/// cuts few replies whose hit had begun. A request that our own queue refused
/// (busy) never reached the device and says nothing about it. \see HealthProbe
class Health
{
public:
    enum class Level : uint8_t { good, noWrites, gone };

    static constexpr unsigned maxWriteErrors = 8; ///< in a row, then another place is tried
    static constexpr unsigned maxWriteErrorsAnywhere = 64; ///< in a row, of clusters alone or of all, whatever another place says
    static constexpr unsigned maxReadErrors = 64; ///< in a row
    static constexpr unsigned maxClusterErrors = 3; ///< of one cluster

    Level level = Level::good;
    bool writesSuspect = false; ///< many writes have failed: another place is to be tried
    bool suspect = false; ///< many requests have failed: superblocks are to be tried

    /// \param cluster whether it was one: of a full backing store, what was written before still takes writes
    void writeDone(const Status s, const Log &log, const bool cluster = false) {
        if (s == Status::busy)
            return;
        if (s == Status::ok) {
            writeErrors_ = 0;
            clusterErrors_ = cluster ? 0 : clusterErrors_;
            return;
        }
        ++writeErrors_;
        clusterErrors_ += cluster;
        if (std::max(writeErrors_, clusterErrors_) >= maxWriteErrorsAnywhere)
            noMoreWrites(log);
        else if (writeErrors_ % maxWriteErrors == 0 && level == Level::good)
            writesSuspect = true;
    }
    /// \param well whether a write elsewhere succeeded
    void writeProbed(const bool well, const Log &log) {
        writesSuspect = false;
        if (!well)
            noMoreWrites(log);
        else
            sayBad(writeErrors_, "writes", log);
    }
    void readDone(const Status s) {
        if (s == Status::busy)
            return;
        if (s == Status::ok) {
            readErrors_ = 0;
        } else if (++readErrors_ >= maxReadErrors && level != Level::gone) {
            suspect = true;
        }
    }
    /// \param answers whether a superblock could be read
    void probed(const bool answers, const Log &log) {
        suspect = false;
        const auto failed = std::exchange(readErrors_, 0);
        if (!answers) {
            level = Level::gone;
            say<Message::deviceGone>(log);
        } else if (failed >= maxReadErrors) {
            sayBad(failed, "reads", log);
        }
    }

private:
    void noMoreWrites(const Log &log) {
        if (level != Level::good)
            return;
        level = Level::noWrites;
        suspect = true;
        say<Message::writesFailed>(log, std::max(writeErrors_, clusterErrors_));
    }
    void sayBad(const unsigned failed, const char *const what, const Log &log) {
        if (!std::exchange(saidBad_, true))
            say<Message::placesBad>(log, failed, what);
    }

    unsigned writeErrors_ = 0;
    unsigned clusterErrors_ = 0;
    unsigned readErrors_ = 0;
    bool saidBad_ = false;
};

/// Which objects may lie in an older cluster, too, where a start would find them: they were
/// moved out of it, it stays for the sake of others, and the newest checkpoint still names
/// them there. That ends with a checkpoint that begins after the move.
class LeftBehind
{
public:
    /// objects were moved out of a cluster that stays
    /// \param since what they were packed into has a higher sequence number
    void note(const Sequence since) { now_ = std::min(now_, since); }

    void checkpointBegins() { closing_ = std::min(closing_, std::exchange(now_, maxSequence)); }
    void checkpointDone() { closing_ = maxSequence; } ///< not called when it failed

    /// whether objects of a cluster of that number may have such older copies
    bool mayConcern(const Sequence s) const { return s > std::min(now_, closing_); }

private:
    Sequence now_ = maxSequence;
    Sequence closing_ = maxSequence; ///< what a running checkpoint, or one that failed, is to end
};

/// The state of one open store. Owned by LocalEngine; parts hold a reference.
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
        catalog(geometry, superblock.secret, uint64_t(config.stagingMb) << 20, config.list)
    {
    }

    Device &device;
    const Clock &clock;
    Config config;
    Log log;
    Geometry geometry; ///< of which only the log's room changes, see claimForLog()
    const Uuid uuid;
    Sequence sequence; ///< the newest that was given to a cluster
    uint32_t logClusters; ///< the first clusters, which belong to the index log but for bad ones
    uint32_t logClustersWanted = 0; ///< how many of them it needs; the evictor claims them
    Catalog catalog;
    mutable Counters counters; ///< queries are counted, too, and the time that they take
    RewriteBudget rewrites;
    Health health;
    std::vector<Key> readKeys; ///< objects just read from the device for callers; emptied by each poll()
    static constexpr size_t maxReadKeys = 1024;
    std::deque<std::function<void()>> later; ///< to be called at the next poll()
    bool recovered = false; ///< the whole index is known
    uint64_t newHeads = 0; ///< large objects that got another head, and kept their parts
    uint64_t forgotten = 1; ///< times that copies of what was forgotten remained; all that is not found yet is the first
    uint64_t covered = 0; ///< of these, those that no start would find any more
    LeftBehind leftBehind;
    std::shared_ptr<bool> alive = std::make_shared<bool>(true); ///< false once the engine is closed

    /// Whether a start could find an object that the index does not have. What replaces or
    /// deletes an object must be in the journal then, though nothing is known of it.
    bool mayReturn() const { return forgotten != covered; }

    /// whether the index log is to have more clusters than it has
    bool logIsShort() const {
        return logClusters - geometry.logSkips.size() < logClustersWanted && logClusters + 1 < geometry.clusterCount;
    }

    /// payload bytes of a part
    uint32_t partCapacity() const { return geometry.clusterBytes - partPayloadAt; }

    /// payload bytes of the largest extent, alone in its cluster
    uint32_t extentCapacity() const {
        const auto front = Directory::BytesFor(1, 0) + ExtentHeader::encodedBytes + 2 * extentAlignment;
        return geometry.clusterBytes - static_cast<uint32_t>(front);
    }

    /// seconds since 1970, as clusters store them
    uint32_t wallSeconds() const { return static_cast<uint32_t>(clock.wallSeconds()); }

    /// whether an object is past its lifetime
    bool expired(const SlotNo slot) const {
        const auto timestamp = catalog.index()[slot].timestamp;
        return config.fileLifetime && timestamp && int64_t(timestamp) + config.fileLifetime < clock.wallSeconds();
    }

    /* replacement bits of a record: a coarse date of the last use (8 bits) and
     * a small count of uses (3 bits); the date counts cluster writes */

    /// cluster writes in one tick of the coarse date
    uint64_t heatTickWrites() const { return geometry.clusterCount / 64 + 1; }

    /// the coarse date of now: the device is written over in 64 of them
    uint32_t heatTick() const {
        return static_cast<uint32_t>(sequence.value() / heatTickWrites()) & 0xff;
    }
    uint32_t heatOf(const uint32_t uses) const { return heatTick() << 3 | (uses > 7 ? 7 : uses); }
    static uint32_t usesOf(const uint32_t heat) { return heat & 7; }
    /// ticks since the last use
    uint32_t ageOf(const uint32_t heat) const { return (heatTick() - (heat >> 3)) & 0xff; }
};

/// Measures a call into the engine, for Counters::longestTurn: as long as it
/// lasts, the caller's event loop does nothing else.
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

// SPDX-License-Identifier: GPL-2.0-or-later
/* An open engine: its parts, and how they work together. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_LOCALENGINE_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_LOCALENGINE_H

#include "fs/cluster/cache/Prefetcher.h"
#include "fs/cluster/cache/ReadCache.h"
#include "fs/cluster/context/HealthProbe.h"
#include "fs/cluster/api/Engine.h"
#include "fs/cluster/engine/Chores.h"
#include "fs/cluster/engine/GroupControl.h"
#include "fs/cluster/engine/LearnedState.h"
#include "fs/cluster/learning/Tracker.h"
#include "fs/cluster/objects/Admission.h"
#include "fs/cluster/objects/ObjectReader.h"
#include "fs/cluster/objects/ObjectWriter.h"
#include "fs/cluster/packing/Allocator.h"
#include "fs/cluster/packing/Packer.h"
#include "fs/cluster/recovery/Checkpointer.h"
#include "fs/cluster/recovery/GroupLoader.h"
#include "fs/cluster/recovery/Journal.h"
#include "fs/cluster/recovery/Recovery.h"
#include "fs/cluster/space/Evictor.h"
#include "fs/cluster/space/Regrouper.h"

namespace ClusterFs {

/// The engine of a store whose device this process has opened. It owns all parts
/// and calls them in the right order; each part is described in its own file.
class LocalEngine final : public Engine
{
public:
    /// Writes a superblock that says that the store is in use, which blocks, and starts recovery, which does not.
    /// \throws std::bad_alloc when the process may not have the memory for index and tables
    LocalEngine(Device &, const Clock &, const Config &, const Log &, const Superblock &);
    ~LocalEngine() override;

    /* Engine API */
    Status close(unsigned maxMilliseconds) override;
    EngineState state() const override;
    void poll() override;
    bool find(const Key &, ObjectInfo &) override;
    bool peek(const Key &, ObjectInfo &) const override;
    bool has(const Key &key) const override { return usable(key) != noSlot; }
    void note(const Request &) override;
    void touch(const Key &) override;
    bool canCreate(int64_t size, int &load) const override;
    std::unique_ptr<Writer> create(const Key &, const ObjectInfo &, int64_t expectedSize) override;
    void noteUnadmitted(const Key &) override;
    std::unique_ptr<Reader> read(const Key &) override;
    std::unique_ptr<Reader> read(const Writer &) override;
    bool remove(const Key &) override;
    void updateInfo(const Key &, const ObjectInfo &) override;
    void replaceHead(const Key &, uint32_t oldHeadSize, const std::string &newHead,
                     const ObjectInfo &, std::function<void(Status)> done) override;
    void rename(const Key &, const Key &newKey, uint32_t oldHeadSize, const std::string &newHead,
                std::function<void(Status)> done) override;
    bool next(uint64_t &cursor, Key &, ObjectInfo &, unsigned &looks) const override;
    bool nextInOrder(Walk, uint64_t &cursor, Key &, ObjectInfo &, unsigned &looks) const override;
    void collocate(const Key &leader, const std::vector<Key> &members) override { tracker_.collocate(leader, members); }
    Status assign(const uint64_t group, const Key &key) override { return groups_.assign(group, key); }
    bool unassign(const Key &key) override { return tracker_.numbered().leave(key); }
    bool dissolve(const uint64_t group) override { return tracker_.numbered().dissolve(group); }
    bool groupsLoaded() const override { return recoveryNoted_ && !groupLoader_.loading(); }
    uint64_t groupOf(const Key &key) const override { return tracker_.numbered().groupOf(key); }
    bool nextOfGroup(const uint64_t group, uint64_t &cursor, Key &key) const override { return tracker_.numbered().next(group, cursor, key); }
    Status setFavour(const uint64_t group, const Favour favour) override { return groups_.setFavour(group, favour); }
    Status setPersist(uint64_t group, uint32_t seconds) override;
    void reconfigure(const Config &) override;
    void noteMemory(const MemoryRoom &) override;
    void requestCheckpoint() override { checkpointer_.request(); }
    void run(Chore, uint64_t bytes, std::function<void(Status)> done) override;
    std::vector<Key> removalsPending() const override { return journal_.removals(); }
    uint64_t objectCount() const override { return context_.catalog.objects(); }
    uint64_t liveBytes() const override { return context_.catalog.liveBytes(); }
    uint64_t capacityBytes() const override;
    uint64_t deviceBytes() const override { return context_.geometry.deviceBytes; }
    uint32_t clusterBytes() const override { return context_.geometry.clusterBytes; }
    uint64_t maxObjectSize() const override { return writers_.largestObject(); }
    bool indexLoaded() const override { return recovery_.storable(); }
    double recoveryProgress() const override { return recovery_.progress(); }
    Stats stats() const override;
    const Superblock *superblock() const override { return closed() ? nullptr : &checkpointer_.superblock(); }
    std::string report() const override;
    bool share(SharedTables &, std::string &error) override;
    void noteRead(const Key &) override;

    /// index, cluster table and staging, to look at between two calls; searches and maps of a running store need them
    const StoreContext &context() const { return context_; }

private:
    static constexpr uint64_t noBound = ~uint64_t(0);

    void start();
    bool closed() const { return !*context_.alive; }
    void work();
    uint64_t mostWindows() const;
    uint64_t leastWindows() const { return uint64_t(context_.config.leastMb()) << 20; } ///< bytes that the read cache has at least
    uint64_t indexBytes() const;
    uint64_t memoryOfOthers() const;
    void divideMemory();
    Status finish(unsigned maxMilliseconds);
    SlotNo usable(const Key &) const;
    void noteRecovery();
    void learn();
    void addLocality(Stats &) const;
    void flushWhenDue();
    uint64_t nextFlush() const;
    bool pollUntil(const std::function<bool()> &, uint64_t deadline);

    StoreContext context_;
    Tracker tracker_;
    Journal journal_;
    Allocator allocator_;
    const LeastCostReads readPolicy_;
    ReadCache cache_;
    const ReaderGroup readers_;
    HotList hotList_;
    GroupControl groups_;
    LearnedState learnedState_;
    Packer packer_;
    Admission admission_;
    Relocator relocator_;
    Evictor evictor_;
    WriterGroup writers_;
    Regrouper regrouper_;
    Prefetcher prefetcher_;
    Checkpointer checkpointer_;
    Recovery recovery_;
    GroupLoader groupLoader_;
    Chores chores_;
    HealthProbe probe_;

    std::vector<Key> group_; ///< scratch memory of note()
    uint64_t nextFlush_ = 0; ///< the earliest disk flush for packed clusters, Clock::micros()
    bool flushing_ = false; ///< a disk flush is under way
    bool closing_ = false; ///< close() has packed, and only checkpoints go on
    bool recoveryNoted_ = false; ///< noteRecovery() was called
    uint64_t windowsAllowed_ = noBound; ///< most bytes of windows while memory is short, see noteMemory()
    bool littleMemoryNoted_ = false; ///< divideMemory() has said that there is too little
    bool shortMemoryNoted_ = false; ///< noteMemory() has said that the system has too little
    bool checkpointOwed_ = false; ///< a start after a crash wants a checkpoint, once the saved groups are loaded, which it contains
};

} // namespace ClusterFs

#endif

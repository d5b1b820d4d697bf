// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of an open engine and how they work together. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_CORE_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_CORE_H

#include "fs/cluster/engine/Engine.h"
#include "fs/cluster/engine/GroupControl.h"
#include "fs/cluster/engine/Probe.h"
#include "fs/cluster/locality/Regrouper.h"
#include "fs/cluster/locality/Tracker.h"
#include "fs/cluster/reading/Prefetcher.h"
#include "fs/cluster/reading/ReadCache.h"
#include "fs/cluster/recovery/Checkpointer.h"
#include "fs/cluster/recovery/GroupLoader.h"
#include "fs/cluster/recovery/Journal.h"
#include "fs/cluster/recovery/Recovery.h"
#include "fs/cluster/replacement/Evictor.h"
#include "fs/cluster/writing/Admission.h"
#include "fs/cluster/writing/Allocator.h"
#include "fs/cluster/writing/ObjectWriter.h"
#include "fs/cluster/writing/Packer.h"

namespace ClusterFs {

/// Everything behind Engine. Exists from open() to close().
class Core
{
public:
    Core(Device &, const Clock &, const Config &, const Log &, const Superblock &);
    ~Core();

    Status start();
    void poll();
    Status close(unsigned maxMilliseconds);
    EngineState state() const;

    void note(const Request &);
    bool find(const Key &, ObjectInfo &);
    bool peek(const Key &, ObjectInfo &) const;
    bool indexLoaded() const { return recovery.storable(); }
    bool has(const Key &key) const { return usable(key) != noSlot; }
    void touch(const Key &);
    bool canCreate(int64_t size, int &load) const;
    std::unique_ptr<Writer> create(const Key &, const ObjectInfo &, int64_t expectedSize);
    void noteUnadmitted(const Key &);
    std::unique_ptr<Reader> read(const Key &);
    std::unique_ptr<Reader> read(const Writer &);
    bool remove(const Key &);
    void updateInfo(const Key &, const ObjectInfo &);
    void replaceHead(const Key &, uint32_t oldHeadSize, const std::string &newHead,
                     const ObjectInfo &, std::function<void(Status)> done);
    void rename(const Key &, const Key &newKey, uint32_t oldHeadSize, const std::string &newHead,
                std::function<void(Status)> done);
    bool next(uint64_t &cursor, Key &, ObjectInfo &, unsigned &looks) const;
    void reconfigure(const Config &);
    bool setPersist(uint64_t group, uint32_t seconds);

    Stats stats() const;

    Shared shared;
    Tracker tracker;
    Journal journal;
    Allocator allocator;
    ReadCache cache;
    GroupControl groups;
    Packer packer;
    Admission admission;
    WriterGroup writers;
    Carrier carrier;
    Regrouper regrouper;
    Prefetcher prefetcher;
    Evictor evictor;
    Checkpointer checkpointer;
    Recovery recovery;
    GroupLoader groupLoader;
    Probe probe;

private:
    SlotNo usable(const Key &) const;
    void stagedGroup(StageNo, std::vector<StageNo> &);
    void noteRecovery();
    void learn();
    void addLocality(Stats &) const;
    void flushWhenDue();
    uint64_t nextFlush() const;
    bool pollUntil(const std::function<bool()> &, uint64_t deadline);

    std::vector<Key> group_; ///< used while a call lasts
    uint64_t nextFlush_ = 0; ///< Clock::micros()
    bool flushing_ = false;
    bool closing_ = false;
    bool recoveryNoted_ = false;
    bool checkpointOwed_ = false; ///< after a crash: when what was learned is back, to be in it
};

} // namespace ClusterFs

#endif

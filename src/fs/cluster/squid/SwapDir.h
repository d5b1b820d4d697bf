// SPDX-License-Identifier: GPL-2.0-or-later
/* cache_dir clusterfs */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_SWAPDIR_H
#define SQUID_SRC_FS_CLUSTER_SQUID_SWAPDIR_H

#include "base/RefCount.h"
#include "fs/cluster/api/Config.h"
#include "fs/cluster/api/Engine.h"
#include "fs/cluster/base/Clock.h"
#include "fs/cluster/engine/MissedDeletes.h"
#include "fs/cluster/squid/DirLine.h"
#include "fs/cluster/squid/EngineSide.h"
#include "fs/cluster/squid/EventLoop.h"
#include "fs/cluster/squid/HandleTable.h"
#include "fs/cluster/squid/HeadUpdates.h"
#include "fs/cluster/squid/NotedRequests.h"
#include "fs/cluster/squid/RebuildNotice.h"
#include "fs/cluster/squid/SquidStatistics.h"
#include "fs/cluster/squid/WorkerSide.h"
#include "store/Disk.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ClusterFs {

class IoState;

/// Translates between Squid's store core and one store. With one worker, the engine is in this process. With several,
/// a disker of Squid's, the owner, has the engine. Each method may be called
/// on a dir that was never started (wrong process, bad device, added by a
/// reconfiguration), and on one that was stopped.
class SwapDir: public Store::Disk
{
public:
    SwapDir();
    ~SwapDir() override;

    /// calls a function for each configured cache_dir of our type
    static void ForEach(const std::function<void(SwapDir &)> &);

    /* Storage API */
    void create() override;
    void init() override;
    uint64_t currentSize() const override;
    uint64_t currentCount() const override;
    int64_t maxObjectSize() const override;
    void evictCached(StoreEntry &) override;
    void evictIfFound(const cache_key *) override;
    int callback() override;
    void maintain() override {}
    void sync() override;

    /* Controlled API */
    StoreEntry *get(const cache_key *) override;
    void reference(StoreEntry &) override;
    bool dereference(StoreEntry &) override;
    void updateHeaders(StoreEntry *) override;
    bool anchorToCache(StoreEntry &) override;
    bool updateAnchored(StoreEntry &) override;

    /* Disk API */
    void parse(int anIndex, char *aPath) override;
    void reconfigure() override;
    void dump(StoreEntry &) const override;
    bool needsDiskStrand() const override;
    bool unlinkdUseful() const override { return false; }
    bool smpAware() const override { return needsDiskStrand(); }
    bool doReportStat() const override { return isHome(); }
    bool hasReadableEntry(const StoreEntry &) const override;
    bool canStore(const StoreEntry &, int64_t diskSpaceNeeded, int &load) const override;
    StoreIOState::Pointer createStoreIO(StoreEntry &, StoreIOState::STIOCB *, void *) override;
    StoreIOState::Pointer openStoreIO(StoreEntry &, StoreIOState::STIOCB *, void *) override;
    void finalizeSwapoutSuccess(const StoreEntry &) override;
    void finalizeSwapoutFailure(StoreEntry &) override;
    void disconnect(StoreEntry &) override;
    void diskFull() override {} // the engine makes room itself
    void logEntry(const StoreEntry &, int op) const override;
    void statfs(StoreEntry &) const override;

    /// whether it is for this process to have the engine
    bool isHome() const;

    /// whether there is an engine in this process that is not closed
    bool started() const { return home_ && !stopped_; }

    /// whether sync() has closed the engine, for good
    bool stopped() const { return stopped_; }

    /// the state in one line, for reports
    std::string stateText() const;

    /// the engine's report, and that of this process; empty unless started()
    std::string report() const;

    /// what this worker has done with the engine of another process, as aligned text; empty in other processes
    std::string workerReport() const;

    /// all figures, for other forms of the report; nothing unless started()
    std::optional<SquidSnapshot> snapshot() const;

    /// whether nextObject() can list the objects, and Squid asks it: one without our patches does not
    bool lists() const;

    /// Walks the objects that the engine can list.
    /// \param cursor 0 to start; moved on by each call
    /// \param looks see Engine::next()
    /// \returns false at the end, when listing is off, or when looks is 0
    bool nextObject(uint64_t &cursor, Key &, ObjectInfo &, unsigned &looks) const;

    /// the engine and its device; nil when there is none. Who keeps more than a turn what they say compares starts().
    Engine *engine() const { return home_ ? &home_->engine() : nullptr; }
    Device *device() const { return home_ ? &home_->device() : nullptr; }
    unsigned starts() const { return starts_; } ///< counts engines

    /// whether all calls of the engine do what they are for, and objects are stored and found
    bool serving() const { return inUse() && !clearing() && store_->state() == EngineState::serving; }

    /// Asks this process or the one that has the engine. See Question
    std::unique_ptr<PageText> ask(const std::string &question);

    /// see StoreSide
    bool removalsAreBehind() const { return side() && side()->removalsAreBehind(); }

    /// looks an object up without counting that, as get() would find it
    bool peekObject(const Key &key, ObjectInfo &info) const { return readable() && !clearing() && store_->peek(key, info); }

    /// see EngineSide; does nothing without an engine
    void setClearing(const bool clearing) {
        if (home_)
            home_->setClearing(clearing);
    }

    /// Calls a function after each turn of the engine; an empty one ends that.
    void watch(std::function<void()> watch) { watch_ = std::move(watch); }

    /// calls IoState::kickProducer() once its writer is not congested any more
    void kickWhenDrained(const RefCount<IoState> &);

    /// counts the time that a client has waited for a hit or a miss, microseconds
    void noteHit(uint64_t micros);
    void noteMiss(uint64_t micros);

    size_t openStates = 0; ///< IoState objects of this dir
    size_t comingIn = 0; ///< those of these that store an object

protected:
    ConfigOption *getOptionTree() const override;

private:
    /* configuration */
    void parseLine(int reconfiguring);
    bool parseOption(char const *name, char const *value, int reconfiguring);
    void dumpOption(StoreEntry *) const;
    void reject(const std::string &why) const;
    void resolveDefaults(Config &) const;

    /* start and stop */
    Status open(std::string &error);
    void start();
    void startEngine();
    void startWorker();
    std::string socketPath() const;
    void noteOwner();
    StoreSide *side() const;
    void tell(FigureKind, uint64_t value) const;
    static void FinishStart(void *self);
    static void StartAgain(void *self);
    void startAgain();
    void joinOthers();
    bool letGo();
    bool mayReturn() const;
    void finishStart();
    void poll();
    void kickProducers();
    void noteRebuild();
    std::string named(const std::string &error) const;
    Log log() const;

    /* objects */
    bool inUse() const { return store_ && !stopped_; }
    bool clearing() const { return home_ && home_->clearing(); }
    bool readable() const;
    double share() const;
    int countOfThoseBehind() const;
    bool attach(StoreEntry &, const Key &, const ObjectInfo &);
    void evict(Attachment &) const;
    void remove(const Key &) const;
    void noteRequest(const Key &);
    void timeMiss(const StoreEntry &);
    static ObjectInfo FreshInfo(const StoreEntry &, const Attachment &);

    DirLine line_; ///< the cache_dir line that is being parsed, or was last
    Config config_; ///< the options in use
    uint64_t sizeMb_ = 0; ///< MB, as configured; 0 = the whole device

    SystemClock clock_;
    std::unique_ptr<EngineSide> home_; ///< nil unless this process has the engine
    std::unique_ptr<WorkerSide> worker_; ///< nil unless another process has it
    ObjectStore *store_ = nullptr; ///< of either of them
    EventLoop loop_;
    HandleTable handles_;
    uint64_t received_ = 0; ///< bytes of all objects that began to be stored, objectKb for each of unknown size
    ClientWaits waits_; ///< since the engine started
    NotedRequests noted_;
    HeadUpdates updates_;
    std::vector< RefCount<IoState> > congested_; ///< swapouts whose producers wait; each is here at most once
    std::string trouble_; ///< the reason why there is no engine; empty when there is one, or before start()
    unsigned idleWaits_ = 0; ///< how often letGo() has waited for the device to become idle
    mutable MissedDeletes missed_; ///< deletes while there was no engine, or its device was out of service
    RebuildNotice rebuild_;
    /// What a PURGE has removed by its key. The core tells other workers only afterwards that they are not to store it: it is removed once
    /// more then, before a client has its answer.
    std::vector<Key> again_;
    bool stopped_ = false; ///< see stopped()
    std::function<void()> watch_; ///< see watch()
    unsigned starts_ = 0; ///< see starts()
};

} // namespace ClusterFs

#endif

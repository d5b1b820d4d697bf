// SPDX-License-Identifier: GPL-2.0-or-later
/* One simulated machine: a disk, a clock, an engine, and somebody who uses it. */

#ifndef CLUSTERFS_TEST_SIMULATE_WORLD_H
#define CLUSTERFS_TEST_SIMULATE_WORLD_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/engine/EngineView.h"
#include "test-suite/doubles/FaultyDevice.h"
#include "test-suite/simulate/Access.h"
#include "test-suite/simulate/Oracle.h"
#include "tools/models/ManualClock.h"
#include "tools/models/MemoryDevice.h"

#include <functional>
#include <memory>
#include <random>
#include <set>

namespace Simulate {

/// the arguments of one world
struct Plan {
    uint64_t seed = 1;
    unsigned cycles = 10; ///< runs of the engine, each ended by a stop or a crash
    bool verbose = false;
};

/// seconds after which a group's objects survive a power cut, at most; it may be more than Config::persist
constexpr uint32_t mostPersist = 5;

/// counters, to see that the simulation does something
struct Tally {
    uint64_t stores = 0;
    uint64_t reads = 0;
    uint64_t hits = 0;
    uint64_t removes = 0;
    uint64_t headUpdates = 0;
    uint64_t renames = 0;
    uint64_t kills = 0;
    uint64_t cuts = 0;
    uint64_t closes = 0;
    uint64_t scans = 0;
    uint64_t faults = 0;
    uint64_t evictions = 0;
    uint64_t groupReads = 0;
    uint64_t regrouped = 0; ///< groups
    uint64_t reformats = 0;
    uint64_t hangs = 0; ///< requests that never completed
    uint64_t grown = 0; ///< devices that became larger
    uint64_t storesGrown = 0; ///< those with which the store was to grow
    uint64_t shrunk = 0; ///< starts on a smaller device, all refused
    uint64_t reconfigured = 0; ///< while the engine ran
    uint64_t busyStarts = 0; ///< starts during which somebody used the store
    uint64_t endedStarts = 0; ///< starts that a stop, a kill or a power cut ended
    uint64_t startHits = 0; ///< hits before the whole index was known
    uint64_t startRemoves = 0;
    uint64_t infoUpdates = 0;
    uint64_t sharedReads = 0; ///< objects that were read as another process reads them
    uint64_t listed = 0; ///< objects that Engine::next() listed
    uint64_t outages = 0; ///< times that no write succeeded
    uint64_t readOnly = 0; ///< runs that were read-only at their end
    uint64_t clockSteps = 0;
    uint64_t waits = 0; ///< reads whose time was checked
    uint64_t chores = 0; ///< answers to Engine::run()
};

/// A history that its seed determines. Half of the worlds have an honest disk, on which
/// every promise is checked; some of these have times in which no write succeeds. In the
/// other worlds, the disk lies and fails, or leaves requests unanswered, and these
/// promises remain: never wrong bytes, no other version than the one that is known to be
/// there since the last start, and a stop that ends in time.
class World
{
public:
    explicit World(const Plan &);

    /// \throws Broken
    void run();

    const Tally &tally() const { return tally_; }

private:
    struct Writing {
        std::unique_ptr<ClusterFs::Writer> writer;
        uint64_t object = 0;
        Version version;
        bool known = false; ///< its size was announced
    };
    struct Reading {
        std::unique_ptr<ClusterFs::Reader> reader;
        Version version;
        uint64_t offset = 0;
    };
    /// the promises that hold from some time of a run on
    struct Promise {
        uint64_t since; ///< Clock::micros()
        uint32_t persist; ///< seconds
        uint32_t deleteTime; ///< seconds
    };
    /// the writes that a start has to read, counted from formatting on
    struct Work {
        uint64_t clusters = 0; ///< clusters written
        uint64_t journalBlocks = 0; ///< blocks of the journal written
    };

    void beginLife();
    void format();
    void start();
    bool startUp();
    void startStep();
    void noteStarted(bool quiet);
    void formatWithFaults();
    void open(bool wellNow);
    void share();
    void stop();
    bool stopInOrder();
    void countRun();
    void use();
    void step();
    void verifyAll();
    bool verifyOne(uint64_t object, std::vector<Version> &);
    Version *identify(uint64_t object, std::vector<Version> &, const std::string &bytes, const ClusterFs::ObjectInfo &);
    void checkDurable(std::vector<Version> &, uint64_t object);
    void judgeEnd(bool clean);
    bool mustBeKept(const Version &) const;
    bool mayBeHidden(const std::vector<Version> &) const;
    void checkLoss(const ClusterFs::RecoveryStats &) const;
    void checkWait(uint64_t micros);
    void checkInfo(uint64_t object, const Version &, const ClusterFs::ObjectInfo &) const;
    uint64_t deviceWrites() const;
    void settle(uint64_t object);
    bool settled(uint64_t object) const { return settled_.count(object); }

    uint64_t smallestDevice() const;
    void chooseOptions();
    void promise();
    uint64_t windowOf(uint64_t since, uint32_t Promise::*) const;
    void changeOutage();
    void stepClock();
    void reconfigure();
    void grow();
    void growStore();
    void connectForTool();
    void refuseSmaller();
    void setDelay();
    void setFaults();
    void turn();
    void observe();
    void noteCrowd(const ClusterFs::Stats &);
    void checkReads() const;

    void beginStore();
    void continueStore();
    void beginRead();
    void readObject(uint64_t object, bool slowly);
    void visitPage();
    void controlGroups();
    void keepHouse();
    void choreDone(ClusterFs::Chore, uint64_t asked, ClusterFs::Status);
    void note(uint64_t object);
    void continueRead();
    void removeOne();
    void gone(uint64_t object);
    void replaceHead();
    void rename();
    void newHead(uint64_t from, uint64_t to, const ClusterFs::ObjectInfo &,
                 const std::function<void(uint32_t, const std::string &, std::function<void(ClusterFs::Status)>)> &how);
    void updateInfo();
    void complete(uint64_t object, uint64_t number);
    void listAll();
    ClusterFs::ObjectInfo someInfo();
    void pass(uint64_t micros);
    void readShared(uint64_t object);
    void readWhole(uint64_t object, const Version &);
    /// reads an object to its end
    /// \returns false when the device did not give all bytes
    bool fetchAll(ClusterFs::Reader &, std::string &);
    bool await(const std::function<bool()> &) const;

    uint64_t below(const uint64_t limit) { return limit ? random_() % limit : 0; }
    bool chance(const unsigned percent) { return below(100) < percent; }
    uint64_t someObject() { return below(objects_); }
    uint64_t someSize();
    [[noreturn]] void broken(const std::string &what) const;
    void say(const std::string &) const;

    Plan plan_;
    const bool slowClock_; ///< each look at the clock takes time
    const bool shared_; ///< another process reads by itself
    std::mt19937_64 random_;
    ClusterFs::ManualClock clock_;
    ClusterFs::Config config_;
    std::unique_ptr<ClusterFs::MemoryDevice> media_;
    std::unique_ptr<ClusterFs::FaultyDevice> device_;
    std::unique_ptr<ClusterFs::Engine> engine_;
    ClusterFs::EngineView view_; ///< as another process has it; of no engine, unless shared_
    Oracle oracle_;
    std::vector<Writing> writing_;
    std::vector<Reading> reading_;
    bool honest_ = true;
    bool hangs_ = false; ///< the disk is not honest: it never answers some requests
    bool lifetimes_ = false; ///< objects expire
    bool outages_ = false; ///< there are times in which no write succeeds
    uint64_t formatted_ = 0; ///< the fewest bytes that a superblock on the device may have as its size
    uint64_t objects_ = 0; ///< different keys
    std::vector<Promise> promises_; ///< of this run, in order
    std::set<uint64_t> settled_; ///< objects whose presence and version are known in this run
    Work before_; ///< in the runs before this one
    Work last_; ///< at the last look
    Work begun_; ///< at a look before the newest checkpoint began
    Work next_; ///< at a look before the next checkpoint begins
    uint64_t checkpoints_ = 0; ///< in this run
    uint64_t writesBefore_ = 0; ///< writes of the device in the runs before, since formatting
    uint64_t startBegan_ = 0; ///< when this run began, Clock::micros()
    uint64_t startEnded_ = 0; ///< when its start was over, Clock::micros(); 0 = it is not
    uint64_t troubleEnds_ = 0; ///< until then, no object of this run had to become durable, Clock::micros()
    uint64_t requestMost_ = 0; ///< most microseconds that a request of the device takes
    bool outage_ = false; ///< no write succeeds now
    bool troubled_ = false; ///< in this run there was an outage
    bool listing_ = false; ///< this run has Config::list
    bool afterCut_ = false; ///< the power was cut after the last start that was verified
    bool cutUnhealed_ = false; ///< the power was cut after the last clean stop
    bool everEvicted_ = false; ///< objects may have been evicted: a missing one is a fault only when it is new
    bool everRetired_ = false; ///< a cluster was put out of use
    uint64_t crowded_ = 0; ///< deviceWrites() when parts of large objects had nearly all clusters last, or room was asked for; 0 = never
    bool hadTrials_ = false; ///< some run had S3-FIFO since the store was formatted
    unsigned clearing_ = 0; ///< calls under way that make room, whatever the objects are worth
    uint64_t synced_ = 0; ///< what was stored or deleted before survives a power cut, Clock::micros()
    bool scanned_ = false; ///< the start scanned: deleted objects may be back, marked as doubtful
    Tally tally_;
};

} // namespace Simulate

#endif

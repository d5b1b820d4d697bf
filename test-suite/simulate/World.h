// SPDX-License-Identifier: GPL-2.0-or-later
/* One simulated machine: a disk, a clock, an engine, and somebody who uses it. */

#ifndef CLUSTERFS_TEST_SIMULATE_WORLD_H
#define CLUSTERFS_TEST_SIMULATE_WORLD_H

#include "fs/cluster/device/FaultyDevice.h"
#include "fs/cluster/device/MemoryDevice.h"
#include "fs/cluster/engine/Engine.h"
#include "test-suite/simulate/Access.h"
#include "test-suite/simulate/Oracle.h"

#include <memory>
#include <random>

namespace Simulate {

/// what to do, for one seed
struct Plan {
    uint64_t seed = 1;
    unsigned cycles = 10; ///< runs of the engine, each ended by a stop or a crash
    bool verbose = false;
};

/// counts of what happened, to see that the simulation does something
struct Tally {
    uint64_t stores = 0;
    uint64_t reads = 0;
    uint64_t hits = 0;
    uint64_t removes = 0;
    uint64_t headUpdates = 0;
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
    uint64_t shrunk = 0; ///< starts on a smaller device, all refused
    uint64_t reconfigured = 0; ///< while the engine ran
};

/// A history that its seed determines. Half of the worlds have an honest disk,
/// on which every promise is checked; in the others the disk lies and fails, or leaves
/// requests unanswered, and two promises are left: never wrong bytes, and a stop ends
/// in time.
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
    /// what holds from some time of a run on
    struct Promise {
        uint64_t since; ///< Clock::micros()
        uint32_t persist; ///< seconds
        uint32_t deleteTime; ///< seconds
    };
    /// what a start has to read, since formatting
    struct Work {
        uint64_t clusters = 0; ///< written
        uint64_t journalBlocks = 0;
    };

    void format();
    void start();
    void open(bool wellNow);
    void stop();
    void stopInOrder();
    void countRun();
    void use();
    void step();
    void verifyAll();
    bool verifyOne(uint64_t object, std::vector<Version> &);
    void checkDurable(std::vector<Version> &, uint64_t object);

    uint64_t smallestDevice() const;
    void chooseOptions();
    void promise();
    uint64_t windowOf(uint64_t since, uint32_t Promise::*) const;
    void reconfigure();
    void grow();
    void refuseSmaller();
    void setFaults();
    void turn();
    void observe();
    void checkReads() const;

    void beginStore();
    void continueStore();
    void beginRead();
    void readObject(uint64_t object, bool slowly);
    void visitPage();
    void controlGroups();
    void note(uint64_t object);
    void continueRead();
    void removeOne();
    void replaceHead();
    void pass(uint64_t micros);
    void readWhole(uint64_t object, const Version &);
    /// \returns the bytes, or false when the device kept them
    bool fetchAll(ClusterFs::Reader &, std::string &);
    bool await(const std::function<bool()> &) const;

    uint64_t below(const uint64_t limit) { return limit ? random_() % limit : 0; }
    bool chance(const unsigned percent) { return below(100) < percent; }
    uint64_t someObject() { return below(objects_); }
    uint64_t someSize();
    [[noreturn]] void broken(const std::string &what) const;
    void say(const std::string &) const;

    Plan plan_;
    std::mt19937_64 random_;
    ClusterFs::ManualClock clock_;
    ClusterFs::Config config_;
    std::unique_ptr<ClusterFs::MemoryDevice> media_;
    std::unique_ptr<ClusterFs::FaultyDevice> device_;
    std::unique_ptr<ClusterFs::Engine> engine_;
    Oracle oracle_;
    std::vector<Writing> writing_;
    std::vector<Reading> reading_;
    bool honest_ = true;
    bool hangs_ = false; ///< not honest in that some requests are never answered
    bool lifetimes_ = false; ///< objects expire
    uint64_t formatted_ = 0; ///< bytes of the device then
    uint64_t objects_ = 0; ///< different keys
    std::vector<Promise> promises_; ///< of this run, in order
    std::vector<Promise> ended_; ///< of the run before
    Work before_; ///< in the runs before
    Work last_; ///< when it was looked at last
    Work begun_; ///< no later than when the newest checkpoint was begun
    Work next_; ///< no later than when the next one will be
    uint64_t checkpoints_ = 0; ///< in this run
    uint64_t crashed_ = 0; ///< when the last run ended
    bool afterClean_ = false;
    bool afterCut_ = false;
    bool everEvicted_ = false; ///< then a missing object proves nothing
    bool scanned_ = false; ///< then deleted objects may be back, marked as doubtful
    Tally tally_;
};

} // namespace Simulate

#endif

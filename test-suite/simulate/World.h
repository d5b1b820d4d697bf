// SPDX-License-Identifier: GPL-2.0-or-later
/* One simulated machine: a disk, a clock, an engine, and somebody who uses it. */

#ifndef CLUSTERFS_TEST_SIMULATE_WORLD_H
#define CLUSTERFS_TEST_SIMULATE_WORLD_H

#include "fs/cluster/device/FaultyDevice.h"
#include "fs/cluster/device/MemoryDevice.h"
#include "fs/cluster/engine/Engine.h"
#include "test-suite/simulate/Oracle.h"

#include <memory>
#include <random>
#include <stdexcept>

namespace Simulate {

/// the engine broke a promise
class Broken : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

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
};

/// A history that its seed determines. Half of the worlds have an honest disk,
/// on which every promise is checked; in the others the disk lies and fails,
/// and only one promise is left: never wrong bytes, never a crash.
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

    void format();
    void start();
    void stop();
    void use();
    void step();
    void verifyAll();
    bool verifyOne(uint64_t object, std::vector<Version> &);
    void checkDurable(std::vector<Version> &, uint64_t object);

    void beginStore();
    void continueStore();
    void beginRead();
    void readObject(uint64_t object, bool slowly);
    void visitPage();
    void note(uint64_t object);
    void continueRead();
    void removeOne();
    void replaceHead();
    void pass(uint64_t micros);
    void readWhole(uint64_t object, const Version &);
    /// \returns the bytes, or false when the device kept them
    bool fetchAll(ClusterFs::Reader &, std::string &);

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
    uint64_t objects_ = 0; ///< different keys
    uint64_t crashed_ = 0; ///< when the last run ended
    bool afterClean_ = false;
    bool afterCut_ = false;
    bool everEvicted_ = false; ///< then a missing object proves nothing
    bool scanned_ = false; ///< then deleted objects may be back, marked as doubtful
    Tally tally_;
};

} // namespace Simulate

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Starting, stopping and checking a simulated machine. */

#include "fs/cluster/engine/Open.h"
#include "fs/cluster/recovery/Format.h"
#include "test-suite/simulate/World.h"

#include <unistd.h>

#include <iostream>
#include <utility>

using namespace ClusterFs;

namespace Simulate {
namespace {
constexpr unsigned hungTurns = 500; ///< turns to wait for an answer that may never come
constexpr uint64_t slowMicros = 300; ///< microseconds that a look at the clock takes in some worlds, so that work in slices takes many
constexpr uint64_t stopSlackMicros = 100000; ///< microseconds that a stop may take longer, because it waits in steps
} // namespace
} // namespace Simulate

Simulate::World::World(const Plan &plan):
    plan_(plan),
    slowClock_(plan.seed % 4 == 3),
    shared_(plan.seed % 3 == 1),
    random_(plan.seed)
{
    if (slowClock_)
        clock_.tick(slowMicros);
    honest_ = chance(50);
    hangs_ = !honest_ && chance(20);
    lifetimes_ = chance(15);
    outages_ = honest_ && chance(20);
    objects_ = 20 + below(300);
    static const uint32_t sizes[] = {16, 32, 64, 128};
    config_.clusterKb = sizes[below(4)];
    config_.objectKb = 1 + static_cast<uint32_t>(below(8));
    chooseOptions();
    const uint64_t cluster = config_.clusterBytes();
    const auto bytes = chance(40) ? smallestDevice() + below(60) * cluster : (12 + below(12)) << 20;
    media_ = std::make_unique<MemoryDevice>(clock_, bytes, chance(50) ? 4096 : 512);
    format();
}

void
Simulate::World::broken(const std::string &what) const
{
    throw Broken(what + " (seed " + std::to_string(plan_.seed) + ")");
}

void
Simulate::World::say(const std::string &text) const
{
    const auto now = clock_.micros(); // always, because a look at the clock may move it
    if (plan_.verbose)
        std::cout << now / 1000 << " ms: " << text << "\n";
}

/// the store was formatted: nothing of the former one counts
void
Simulate::World::beginLife()
{
    everEvicted_ = lifetimes_;
    everRetired_ = false;
    crowded_ = 0;
    hadTrials_ = false;
    afterCut_ = cutUnhealed_ = false;
    writesBefore_ = 0;
    before_ = last_ = begun_ = next_ = Work();
}

void
Simulate::World::format()
{
    std::string error;
    if (formatDevice(*media_, config_, random_(), error) != Status::ok)
        broken("format: " + error);
    oracle_.forget();
    formatted_ = media_->size();
    beginLife();
}

void
Simulate::World::start()
{
    if (chance(5))
        refuseSmaller();
    if (chance(5))
        grow();
    if (chance(50))
        chooseOptions();
    if (chance(2))
        formatWithFaults();
    open(false);
    if (!engine_ && hangs_)
        open(true);
    if (!engine_) {
        format();
        ++tally_.reformats;
        return start();
    }
    settled_.clear();
    promises_.clear();
    promise();
    checkpoints_ = 0;
    next_ = last_;
    startBegan_ = clock_.micros();
    startEnded_ = troubleEnds_ = 0;
    outage_ = troubled_ = false;
    if (clearing_)
        crowded_ = deviceWrites();
    clearing_ = 0;
    listing_ = config_.list;
}

/// Formats the store anew over the former one, on the disk of this world. On an honest disk this
/// must succeed; whenever it does, nothing of the former store may be found.
void
Simulate::World::formatWithFaults()
{
    connectForTool();
    std::string error;
    const auto status = formatDevice(*device_, config_, random_(), error);
    device_.reset();
    // if it failed, a superblock of the former store may be left, with fewer bytes than the device has now
    if (status == Status::ok) {
        oracle_.forget();
        formatted_ = media_->size();
    }
    if (status != Status::ok && honest_)
        broken("format: " + error);
    say(std::string("formatted: ") + statusText(status));
    beginLife();
    ++tally_.reformats;
}

/// Lets the start go on, with or without somebody who uses the store.
/// \returns false when the run ends before the start does
bool
Simulate::World::startUp()
{
    const bool quiet = chance(30);
    if (quiet) {
        if (!await([this] { return engine_->state() != EngineState::recovering; }) && !hangs_)
            broken("recovery does not end");
    } else {
        ++tally_.busyStarts;
        if (chance(50)) {
            requestMost_ = 20000 + below(200000);
            device_->setDelay(10000, requestMost_);
        }
        const auto ends = chance(30) ? below(100) : ~uint64_t(0);
        const unsigned most = hangs_ ? hungTurns : maxTurns;
        for (unsigned i = 0; engine_->state() == EngineState::recovering; ++i) {
            if (i == 1000) // with such delays, a scan would take minutes
                setDelay();
            if (i >= ends) {
                ++tally_.endedStarts;
                return false;
            }
            if (i >= most && !hangs_)
                broken("recovery does not end");
            if (i >= most)
                break;
            startStep();
        }
        setDelay();
    }
    noteStarted(quiet);
    return true;
}

void
Simulate::World::noteStarted(const bool quiet)
{
    startEnded_ = clock_.micros();
    if (honest_ && quiet)
        checkReads();
    scanned_ = engine_->stats().recovery.scanned;
    tally_.scans += scanned_;
    if (scanned_ && honest_)
        broken("an honest disk lost its checkpoint");
    if (honest_)
        checkLoss(engine_->stats().recovery);
}

void
Simulate::World::setDelay()
{
    requestMost_ = 1000 + below(20000);
    device_->setDelay(50 + below(500), requestMost_);
}

/// opens the store
/// \param wellNow whether the disk has no faults: then it must succeed
void
Simulate::World::open(const bool wellNow)
{
    device_ = std::make_unique<FaultyDevice>(*media_, clock_, random_());
    setDelay();
    device_->setShuffle(chance(70));
    if (!wellNow)
        setFaults();
    auto config = config_;
    if (chance(10))
        config.clusterKb = 16U << below(4); // that of the format stays in force
    std::string error;
    if (openEngine(*device_, clock_, config, [this](LogLevel, const std::string &text) { say(text); }, engine_, error) == Status::ok) {
        share();
        return;
    }
    if (honest_ || wellNow)
        broken("open: " + error);
    say("not opened: " + error);
    device_.reset();
}

/// maps the engine's memory, as another process does
void
Simulate::World::share()
{
    if (!shared_)
        return;
    SharedTables tables;
    EngineView::Descriptors descriptors;
    std::string error;
    const auto shared = engine_->share(tables, error);
    for (size_t i = 0; shared && i < descriptors.size(); ++i)
        descriptors[i] = Descriptor(dup(tables.memories[i].fd));
    if (!shared || !view_.map(std::move(descriptors), tables, error))
        broken("memory can't be shared: " + error);
}

void
Simulate::World::stop()
{
    writing_.clear();
    reading_.clear();
    const auto how = below(3);
    bool clean = false;
    if (how == 0) {
        clean = stopInOrder();
        cutUnhealed_ = cutUnhealed_ && !clean;
    } else if (how == 1) {
        ++tally_.kills;
    } else {
        device_->cut();
        afterCut_ = cutUnhealed_ = true;
        ++tally_.cuts;
    }
    judgeEnd(clean && honest_);
    countRun();
    say(how == 0 ? "closed" : how == 1 ? "killed" : "power cut");
    engine_.reset();
    device_.reset();
}

/// closes the engine
/// \returns whether it says that nothing is lost
bool
Simulate::World::stopInOrder()
{
    const unsigned milliseconds = hangs_ ? 20000 : 600000;
    const auto before = clock_.micros();
    const auto status = engine_->close(milliseconds);
    if (honest_ && !troubled_ && status != Status::ok)
        broken(std::string("close: ") + statusText(status));
    if (clock_.micros() - before > milliseconds * uint64_t(1000) + stopSlackMicros)
        broken("a stop took " + std::to_string((clock_.micros() - before) / 1000) + " ms");
    ++tally_.closes;
    return status == Status::ok;
}

void
Simulate::World::countRun()
{
    observe();
    before_ = last_;
    writesBefore_ += device_->requests(IoOp::write);
    tally_.readOnly += engine_->state() == EngineState::readOnly;
    const auto stats = engine_->stats();
    const auto &counters = stats.counters;
    everEvicted_ = everEvicted_ || counters.evictedObjects || counters.expiredObjects;
    everRetired_ = everRetired_ || counters.quarantined;
    tally_.evictions += counters.evictedObjects;
    tally_.groupReads += stats.groupReads;
    tally_.regrouped += counters.regroupedGroups;
    say("packed " + std::to_string(counters.packs) + ", evicted " + std::to_string(counters.evictedClusters) + " clusters, " +
        std::to_string(counters.evictedObjects) + " objects, relocated " + std::to_string(counters.relocatedObjects) +
        ", corrupt " + std::to_string(counters.corrupt) + ", errors " + std::to_string(counters.readErrors) + " " +
        std::to_string(counters.writeErrors));
    for (const auto fault: {Fault::error, Fault::flip, Fault::rot, Fault::torn, Fault::lost, Fault::misdirected, Fault::duplicated,
                            Fault::repeated})
        tally_.faults += device_->injected(fault);
    tally_.hangs += device_->injected(Fault::hang);
}

void
Simulate::World::run()
{
    for (unsigned cycle = 0; cycle < plan_.cycles; ++cycle) {
        start();
        if (startUp()) {
            verifyAll();
            use();
        }
        stop();
    }
}

bool
Simulate::World::fetchAll(Reader &reader, std::string &bytes)
{
    const auto fetched = Simulate::fetchAll(*engine_, *device_, reader, [this] { return 1 + below(4096); }, bytes,
                                            hangs_ ? hungTurns : maxTurns);
    if (fetched == Fetched::never && !hangs_)
        broken("a read is never answered");
    return fetched == Fetched::all;
}

bool
Simulate::World::await(const std::function<bool()> &condition) const
{
    return Simulate::await(*engine_, *device_, condition, hangs_ ? hungTurns : maxTurns);
}

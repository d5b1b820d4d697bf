// SPDX-License-Identifier: GPL-2.0-or-later
/* Starting, stopping and checking a simulated machine. */

#include "test-suite/simulate/World.h"

#include <iostream>

using namespace ClusterFs;

namespace Simulate {
namespace {
/// what the promises allow beyond their windows: requests take time, too
constexpr uint64_t slackMicros = 3000000;
constexpr unsigned hungTurns = 500; ///< to wait for what may never come
constexpr uint64_t stopSlackMicros = 100000; ///< of a stop, which waits in steps
} // namespace
} // namespace Simulate

Simulate::World::World(const Plan &plan):
    plan_(plan),
    random_(plan.seed)
{
    honest_ = chance(50);
    hangs_ = !honest_ && chance(20);
    lifetimes_ = chance(15);
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
    if (plan_.verbose)
        std::cout << clock_.micros() / 1000 << " ms: " << text << "\n";
}

void
Simulate::World::format()
{
    std::string error;
    if (Engine::Format(*media_, config_, random_(), error) != Status::ok)
        broken("format: " + error);
    oracle_ = Oracle();
    formatted_ = media_->size();
    everEvicted_ = lifetimes_;
    afterClean_ = false;
    before_ = last_ = begun_ = next_ = Work();
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
    open(false);
    if (!engine_ && hangs_)
        open(true);
    if (!engine_) {
        format();
        ++tally_.reformats;
        return start();
    }
    ended_.swap(promises_);
    promises_.clear();
    promise();
    checkpoints_ = 0;
    next_ = last_;
    const bool recovered = await([this] { return engine_->state() != EngineState::recovering; });
    if (!recovered && !hangs_)
        broken("recovery does not end");
    if (honest_)
        checkReads();
    scanned_ = engine_->stats().recovery.scanned;
    tally_.scans += scanned_;
    if (scanned_ && honest_)
        broken("an honest disk lost its checkpoint");
}

/// \param wellNow without faults; must succeed
void
Simulate::World::open(const bool wellNow)
{
    device_ = std::make_unique<FaultyDevice>(*media_, clock_, random_());
    device_->setDelay(50 + below(500), 1000 + below(20000));
    device_->setShuffle(chance(70));
    if (!wellNow)
        setFaults();
    auto config = config_;
    if (chance(10))
        config.clusterKb = 16U << below(4); // that of the format stays in force
    engine_ = std::make_unique<Engine>(*device_, clock_, config, [this](LogLevel, const std::string &text) { say(text); });
    std::string error;
    if (engine_->open(error) == Status::ok)
        return;
    if (honest_ || wellNow)
        broken("open: " + error);
    say("not opened: " + error);
    engine_.reset();
    device_.reset();
}

void
Simulate::World::stop()
{
    writing_.clear();
    reading_.clear();
    afterClean_ = afterCut_ = false;
    const auto how = below(3);
    if (how == 0) {
        stopInOrder();
    } else if (how == 1) {
        ++tally_.kills;
    } else {
        device_->cut();
        afterCut_ = true;
        ++tally_.cuts;
    }
    crashed_ = clock_.micros();
    countRun();
    say(how == 0 ? "closed" : how == 1 ? "killed" : "power cut");
    engine_.reset();
    device_.reset();
}

void
Simulate::World::stopInOrder()
{
    const unsigned milliseconds = hangs_ ? 20000 : 600000;
    const auto before = clock_.micros();
    const auto status = engine_->close(milliseconds);
    if (honest_ && status != Status::ok)
        broken(std::string("close: ") + statusText(status));
    if (clock_.micros() - before > milliseconds * uint64_t(1000) + stopSlackMicros)
        broken("a stop took " + std::to_string((clock_.micros() - before) / 1000) + " ms");
    afterClean_ = status == Status::ok;
    ++tally_.closes;
}

void
Simulate::World::countRun()
{
    observe();
    before_ = last_;
    const auto stats = engine_->stats();
    const auto &counters = stats.counters;
    everEvicted_ = everEvicted_ || counters.evictedObjects || counters.expiredObjects;
    tally_.evictions += counters.evictedObjects;
    tally_.groupReads += stats.groupReads;
    tally_.regrouped += counters.regroupedGroups;
    say("packed " + std::to_string(counters.packs) + ", evicted " + std::to_string(counters.evictedClusters) + " clusters, " +
        std::to_string(counters.evictedObjects) + " objects, carried " + std::to_string(counters.carriedObjects) +
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
        if (cycle)
            verifyAll();
        use();
        stop();
    }
}

/// after a start: what is there must be a version that may be there
void
Simulate::World::verifyAll()
{
    const auto counters = engine_->stats().counters; // a start may make room at once
    everEvicted_ = everEvicted_ || counters.evictedObjects || counters.expiredObjects;
    for (const auto &object: oracle_.all()) {
        auto &versions = oracle_.of(object.first);
        if (!verifyOne(object.first, versions))
            checkDurable(versions, object.first);
    }
}

bool
Simulate::World::verifyOne(const uint64_t object, std::vector<Version> &versions)
{
    ObjectInfo info;
    const auto key = Oracle::KeyOf(object);
    if (!engine_->find(key, info))
        return false;
    const auto reader = engine_->read(key);
    if (!reader)
        broken("object " + std::to_string(object) + " is found but can't be opened");
    std::string bytes;
    if (!fetchAll(*reader, bytes)) {
        // a cut may leave half of a cluster, which stays until it is written over
        bool torn = afterCut_;
        for (const auto &v: versions)
            torn = torn || v.lost;
        if (honest_ && !torn)
            broken("object " + std::to_string(object) + " can't be read on an honest disk");
        return false;
    }
    if (bytes.size() != info.size)
        broken("object " + std::to_string(object) + " has " + std::to_string(bytes.size()) + " bytes, promised " + std::to_string(info.size));
    // versions may have equal bytes, above all when they have none: take the
    // one that may be there
    Version *is = nullptr;
    for (auto &v: versions) {
        const bool same = v.finished && v.size == bytes.size() && matches(v, 0, bytes.data(), bytes.size());
        if (same && (!is || !v.removed || (is->removed && v.removed > is->removed)))
            is = &v;
    }
    if (is) {
        const auto window = windowOf(is->removed, &Promise::deleteTime) + slackMicros;
        const bool late = is->removed && (afterClean_ || is->removed + window < crashed_);
        if (late && honest_)
            broken("object " + std::to_string(object) + ", version " + std::to_string(is->number) +
                   " came back after it was deleted or replaced at " + std::to_string(is->removed / 1000) + " ms");
        // from here on this is the object's version
        for (auto &other: versions) {
            if (&other == is)
                other.removed = 0, other.lost = false;
            else if (!other.removed)
                other.removed = clock_.micros();
        }
        return true;
    }
    broken("object " + std::to_string(object) + " has bytes that were never stored under its key");
}

/// an object that was complete long enough must have survived, unless room was made
void
Simulate::World::checkDurable(std::vector<Version> &versions, const uint64_t object)
{
    for (auto &v: versions) {
        if (!v.finished || v.removed || v.lost)
            continue;
        v.lost = true;
        const auto window = windowOf(v.finished, &Promise::persist) + slackMicros;
        if (honest_ && !everEvicted_ && (afterClean_ || v.finished + window < crashed_))
            broken("object " + std::to_string(object) + ", version " + std::to_string(v.number) + " completed at " +
                   std::to_string(v.finished / 1000) + " ms is lost");
    }
}

bool
Simulate::World::fetchAll(Reader &reader, std::string &bytes)
{
    const auto fetched = Simulate::fetchAll(*engine_, *device_, reader, [this] { return 1 + below(4096); }, bytes,
                                            hangs_ ? hungTurns : turnsMost);
    if (fetched == Fetched::never && !hangs_)
        broken("a read is never answered");
    return fetched == Fetched::all;
}

bool
Simulate::World::await(const std::function<bool()> &condition) const
{
    return Simulate::await(*engine_, *device_, condition, hangs_ ? hungTurns : turnsMost);
}

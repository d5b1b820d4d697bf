// SPDX-License-Identifier: GPL-2.0-or-later
/* Starting, stopping and checking a simulated machine. */

#include "test-suite/simulate/World.h"

#include <iostream>

using namespace ClusterFs;

namespace Simulate {
namespace {
/// what the promises allow beyond their windows: requests take time, too
constexpr uint64_t slackMicros = 3000000;
} // namespace
} // namespace Simulate

Simulate::World::World(const Plan &plan):
    plan_(plan),
    random_(plan.seed)
{
    honest_ = chance(50);
    objects_ = 20 + below(300);
    static const uint32_t sizes[] = {16, 32, 64, 128};
    config_.clusterKb = sizes[below(4)];
    config_.objectKb = 1 + static_cast<uint32_t>(below(8));
    config_.stagingMb = 2;
    config_.readCacheMb = 2;
    config_.localityMb = chance(80) ? 1 : 0;
    config_.persist = 1 + static_cast<uint32_t>(below(20));
    config_.deleteCount = 1 + static_cast<uint32_t>(below(50));
    config_.deleteTime = 1 + static_cast<uint32_t>(below(5));
    config_.checkpoint = 5 + static_cast<uint32_t>(below(60));
    config_.depth = 1 + static_cast<uint32_t>(below(32));
    config_.replacement = chance(50) ? ReplacementPolicy::lru : ReplacementPolicy::fifo;
    config_.layout = static_cast<LayoutPolicy>(below(3));
    config_.list = chance(30);
    const auto bytes = (12 + below(12)) << 20;
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
    everEvicted_ = false;
    afterClean_ = false;
}

void
Simulate::World::start()
{
    device_ = std::make_unique<FaultyDevice>(*media_, clock_, random_());
    device_->setDelay(50 + below(500), 1000 + below(20000));
    device_->setShuffle(chance(70));
    if (!honest_) {
        const double rate = chance(50) ? 0.002 : 0.02;
        device_->setRate(IoOp::read, Fault::error, rate);
        device_->setRate(IoOp::read, Fault::flip, rate);
        device_->setRate(IoOp::read, Fault::rot, rate);
        device_->setRate(IoOp::write, Fault::error, rate / 2);
        device_->setRate(IoOp::write, Fault::torn, rate);
        device_->setRate(IoOp::write, Fault::lost, rate);
        device_->setRate(IoOp::write, Fault::misdirected, rate / 4);
        device_->setRate(IoOp::flush, Fault::lost, rate);
    }
    engine_ = std::make_unique<Engine>(*device_, clock_, config_, [this](LogLevel, const std::string &text) { say(text); });
    std::string error;
    const auto status = engine_->open(error);
    if (status != Status::ok) {
        if (honest_)
            broken("open: " + error);
        say("not opened: " + error);
        engine_.reset();
        device_.reset();
        format();
        ++tally_.reformats;
        start();
        return;
    }
    for (unsigned i = 0; engine_->state() == EngineState::recovering; ++i) {
        if (i > 100000)
            broken("recovery does not end");
        engine_->poll();
        device_->wait(5);
    }
    scanned_ = engine_->stats().recovery.scanned;
    tally_.scans += scanned_;
    if (scanned_ && honest_)
        broken("an honest disk lost its checkpoint");
}

void
Simulate::World::stop()
{
    writing_.clear();
    reading_.clear();
    afterClean_ = afterCut_ = false;
    const auto how = below(3);
    if (how == 0) {
        const auto status = engine_->close(600000);
        if (honest_ && status != Status::ok)
            broken(std::string("close: ") + statusText(status));
        afterClean_ = status == Status::ok;
        ++tally_.closes;
    } else if (how == 1) {
        ++tally_.kills;
    } else {
        device_->cut();
        afterCut_ = true;
        ++tally_.cuts;
    }
    crashed_ = clock_.micros();
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
    say(how == 0 ? "closed" : how == 1 ? "killed" : "power cut");
    engine_.reset();
    for (const auto fault: {Fault::error, Fault::flip, Fault::rot, Fault::torn, Fault::lost, Fault::misdirected})
        tally_.faults += device_->injected(fault);
    device_.reset();
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
        const auto window = uint64_t(config_.deleteTime) * 1000000 + slackMicros;
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
        const auto window = uint64_t(config_.persist) * 1000000 + slackMicros;
        if (honest_ && !everEvicted_ && (afterClean_ || v.finished + window < crashed_))
            broken("object " + std::to_string(object) + ", version " + std::to_string(v.number) + " completed at " +
                   std::to_string(v.finished / 1000) + " ms is lost");
    }
}

bool
Simulate::World::fetchAll(Reader &reader, std::string &bytes)
{
    char piece[4096];
    for (unsigned stalls = 0; stalls < 20000;) {
        const auto n = reader.copy(bytes.size(), piece, 1 + below(sizeof(piece)));
        if (n == 0)
            return true;
        if (n > 0) {
            bytes.append(piece, static_cast<size_t>(n));
            continue;
        }
        auto status = Status::busy;
        bool done = false;
        reader.fetch(bytes.size(), [&](const Status s) { status = s; done = true; });
        for (unsigned i = 0; !done; ++i) {
            if (i > 20000)
                broken("a read is never answered");
            engine_->poll();
            if (!done)
                device_->wait(5);
        }
        if (status != Status::ok)
            return false;
        ++stalls;
    }
    broken("a read makes no progress");
}

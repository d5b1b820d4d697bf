// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes around a simulated machine, and the most that its starts may read. */

#include "test-suite/simulate/World.h"

#include "fs/cluster/api/Options.h"
#include "fs/cluster/engine/Open.h"
#include "fs/cluster/layout/Geometry.h"
#include "fs/cluster/layout/Superblock.h"
#include "fs/cluster/policies/Policies.h"
#include "fs/cluster/recovery/Format.h"

#include <algorithm>
#include <cstring>

using namespace ClusterFs;

namespace Simulate {
namespace {
constexpr uint64_t largestDevice = 40 << 20; ///< bytes to which a device may grow
} // namespace
} // namespace Simulate

/// \returns bytes of a device with hardly any cluster
uint64_t
Simulate::World::smallestDevice() const
{
    Geometry g;
    std::string error;
    uint64_t bytes = 4 << 20;
    while (!g.plan(bytes, config_.clusterBytes(), config_.objectKb * 1024, error))
        bytes += config_.clusterBytes();
    return bytes;
}

/// chooses all options that may change from run to run
void
Simulate::World::chooseOptions()
{
    config_.stagingMb = 2 + static_cast<uint32_t>(below(2));
    config_.readCacheMb = 2 + static_cast<uint32_t>(below(2));
    config_.localityMb = chance(80) ? 1 : 0;
    config_.memoryMb = chance(50) ? config_.leastMemoryMb() + static_cast<uint32_t>(below(5)) : 0;
    config_.persist = 1 + static_cast<uint32_t>(below(20));
    config_.deleteCount = 1 + static_cast<uint32_t>(below(50));
    config_.deleteTime = 1 + static_cast<uint32_t>(below(5));
    config_.checkpoint = 5 + static_cast<uint32_t>(below(60));
    config_.depth = 1 + static_cast<uint32_t>(below(32));
    config_.replacement = evictionPolicies()[below(evictionPolicies().size())].policy;
    config_.sizeWeight = static_cast<uint32_t>(below(101));
    config_.writeBudget = static_cast<uint32_t>(below(51));
    config_.replicas = chance(50) ? static_cast<uint32_t>(below(51)) : 0;
    config_.admit = chance(80) ? 1 : 2;
    config_.layout = layoutPolicies()[below(layoutPolicies().size())].policy;
    config_.packing = packingPolicies()[below(packingPolicies().size())].policy;
    config_.list = chance(30);
    config_.warm = chance(50);
    config_.fileLifetime = lifetimes_ && chance(50) ? 100 + static_cast<uint32_t>(below(1000)) : 0;
    config_.clusterLifetime = lifetimes_ && chance(50) ? 10 + static_cast<uint32_t>(below(1000)) : 0;
}

void
Simulate::World::promise()
{
    promises_.push_back({clock_.micros(), std::max(config_.persist, mostPersist), config_.deleteTime}); // a group may have more than the option
}

/// \returns the longest time that this run has promised since then, microseconds
uint64_t
Simulate::World::windowOf(const uint64_t since, uint32_t Promise::*const seconds) const
{
    uint32_t longest = 0;
    for (size_t i = 0; i < promises_.size(); ++i) {
        if (i + 1 == promises_.size() || promises_[i + 1].since > since)
            longest = std::max(longest, promises_[i].*seconds);
    }
    return uint64_t(longest) * 1000000;
}

/// changes the options that may change while the engine runs
void
Simulate::World::reconfigure()
{
    const auto before = config_;
    chooseOptions();
    engine_->reconfigure(config_);
    for (const auto &option: options()) {
        if (option.effect != Option::Effect::live)
            option.write(config_, option.read(before));
    }
    config_.suitOthers(); // as in a Squid that takes other lines of squid.conf
    promise();
    ++tally_.reconfigured;
}

/// From now on no write succeeds, or each does. If the engine has given the device up for
/// writing, it tries every ten seconds whether it takes writes again.
void
Simulate::World::changeOutage()
{
    constexpr uint64_t triesMicros = 10000000;
    outage_ = !outage_;
    troubled_ = true;
    device_->heal();
    if (outage_) {
        device_->setRate(IoOp::write, Fault::error, 1);
        device_->setRate(IoOp::flush, Fault::error, 1);
        ++tally_.outages;
    }
    troubleEnds_ = clock_.micros() + triesMicros;
    say(outage_ ? "no write succeeds" : "writes succeed again");
}

/// somebody sets the clock of the machine, by up to a day
void
Simulate::World::stepClock()
{
    clock_.stepWall(static_cast<int64_t>(below(2 * 86400)) - 86400);
    ++tally_.clockSteps;
}

/// The device becomes larger. The engine goes on with the size that it has, unless the store grows, too.
void
Simulate::World::grow()
{
    const auto size = media_->size() + (1 + below(1000)) * 4096;
    if (size > largestDevice)
        return;
    auto larger = std::make_unique<MemoryDevice>(clock_, size, media_->alignment());
    memcpy(larger->data(), media_->data(), media_->size());
    media_ = std::move(larger);
    ++tally_.grown;
    if (chance(50))
        growStore();
}

/// the disk of this world with its faults, for who formats or grows a store: nobody waits for requests that hang
void
Simulate::World::connectForTool()
{
    device_ = std::make_unique<FaultyDevice>(*media_, clock_, random_());
    setFaults();
    if (hangs_)
        device_->heal();
}

/// lets the store grow with its device, on the disk of this world; on an honest disk this must succeed
void
Simulate::World::growStore()
{
    connectForTool();
    Superblock superblock;
    std::string error;
    const auto status = growDevice(*device_, superblock, error);
    device_.reset();
    if (status != Status::ok && honest_)
        broken("growing: " + error);
    // on other disks, a superblock with the former size may be left
    if (status == Status::ok && honest_)
        formatted_ = superblock.geometry.deviceBytes;
    say(std::string("grown: ") + statusText(status));
    ++tally_.storesGrown;
}

/// starts on a smaller device: the engine must refuse it and not touch it
void
Simulate::World::refuseSmaller()
{
    MemoryDevice smaller(clock_, formatted_ - (1 + below(1000)) * 4096, media_->alignment());
    memcpy(smaller.data(), media_->data(), smaller.size());
    std::unique_ptr<Engine> engine;
    std::string error;
    const auto status = openEngine(smaller, clock_, config_, [this](LogLevel, const std::string &text) { say(text); }, engine, error);
    if (status == Status::ok || (honest_ && status != Status::unsupported))
        broken(std::string("a device that has become smaller: ") + statusText(status));
    if (memcmp(smaller.data(), media_->data(), smaller.size()) != 0)
        broken("a device that has become smaller was written to");
    ++tally_.shrunk;
}

void
Simulate::World::setFaults()
{
    if (honest_)
        return;
    const double rate = chance(50) ? 0.002 : 0.02;
    if (hangs_) {
        for (const auto op: {IoOp::read, IoOp::write, IoOp::flush})
            device_->setRate(op, Fault::hang, rate / 2);
        return;
    }
    device_->setRate(IoOp::read, Fault::error, rate);
    device_->setRate(IoOp::read, Fault::flip, rate);
    device_->setRate(IoOp::read, Fault::rot, rate);
    device_->setRate(IoOp::write, Fault::error, rate / 2);
    device_->setRate(IoOp::write, Fault::torn, rate);
    device_->setRate(IoOp::write, Fault::lost, rate);
    device_->setRate(IoOp::write, Fault::misdirected, rate / 4);
    device_->setRate(IoOp::write, Fault::duplicated, rate / 4);
    device_->setRate(IoOp::write, Fault::repeated, rate);
    device_->setRate(IoOp::flush, Fault::lost, rate);
}

void
Simulate::World::turn()
{
    engine_->poll();
    observe();
}

/// Notes how much was written so far, and how much when the newest checkpoint began. It began
/// after the one before it was complete, and so after the last look at which that was not.
void
Simulate::World::observe()
{
    const auto stats = engine_->stats();
    noteCrowd(stats);
    if (stats.counters.checkpoints != checkpoints_) {
        checkpoints_ = stats.counters.checkpoints;
        begun_ = next_;
        next_ = last_;
    }
    last_.clusters = before_.clusters + stats.counters.packs + stats.counters.parts;
    last_.journalBlocks = before_.journalBlocks + stats.counters.journalBlocks;
}

/// A start reads the superblocks, the journals, the index log, and the clusters that were written since the checkpoint.
void
Simulate::World::checkReads() const
{
    constexpr uint64_t inFlight = 8; ///< most clusters, or pieces of the journal, that were on their way when the run ended
    const auto &g = engine_->superblock()->geometry;
    const uint64_t reserve = std::min<uint64_t>(64, std::max<uint64_t>(2, g.clusterCount / 32));
    const auto clusters = before_.clusters - begun_.clusters + reserve + inFlight;
    const auto journal = (before_.journalBlocks - begun_.journalBlocks) / 64 + inFlight;
    // pieces of the index log, which end where a lap or a region does; and both copies of the newest removals
    constexpr uint32_t blocksInPiece = 256;
    const auto log = engine_->superblock()->log.used() / blocksInPiece + 4 + 2 * (engine_->superblock()->removalBlocks / blocksInPiece + 2);
    // of a cluster: its front, the rest of a long directory, all of it when it has second copies
    const auto most = 2 + log + journal + 3 * clusters;
    const auto reads = device_->requests(IoOp::read);
    if (reads > most)
        broken("the start took " + std::to_string(reads) + " reads, " + std::to_string(most) + " would do");
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The store's front: opening, closing, and calls to an engine that may be closed. */

#include "fs/cluster/engine/Engine.h"

#include "fs/cluster/engine/Core.h"
#include "fs/cluster/engine/Report.h"
#include "fs/cluster/recovery/SuperblockFile.h"

#include <algorithm>
#include <new>
#include <random>

namespace ClusterFs {
namespace {
constexpr unsigned formatMilliseconds = 60000;
constexpr uint32_t usualObjectKb = 13;
constexpr uint64_t indexBytesExpected = 40; ///< of an object, as measured; see docs/benchmarks.md
} // namespace
} // namespace ClusterFs

ClusterFs::Engine::Engine(Device &device, const Clock &clock, const Config &config, Log log):
    device_(device),
    clock_(clock),
    config_(config),
    log_(std::move(log))
{
}

ClusterFs::Engine::~Engine() = default;

ClusterFs::Status
ClusterFs::Engine::Format(Device &device, const Config &config, const uint64_t seed, std::string &error, const uint64_t bytes)
{
    if (!config.validate(error) || !blocksSuit(device, error))
        return Status::unsupported;
    if (bytes > device.size()) {
        error = "the device has " + std::to_string(device.size()) + " bytes, fewer than the " +
                std::to_string(bytes) + " asked for";
        return Status::unsupported;
    }
    Superblock superblock;
    std::mt19937_64 random(seed);
    for (auto &b: superblock.uuid)
        b = static_cast<uint8_t>(random());
    superblock.uuid[6] = (superblock.uuid[6] & 0x0f) | 0x40; // RFC 4122: random
    superblock.uuid[8] = (superblock.uuid[8] & 0x3f) | 0x80;
    superblock.clean = true;
    const auto objectKb = config.objectKb ? config.objectKb : usualObjectKb;
    if (!superblock.geometry.plan(bytes ? bytes : device.size(), config.clusterBytes(), objectKb * 1024, error))
        return Status::unsupported;
    superblock.startLog();
    for (auto &word: superblock.secret)
        word = random();

    // what was there before must not be taken for ours, nor for somebody else's
    const auto zeros = std::make_shared<Buffer>(superblockSpacing);
    memset(zeros->data(), 0, zeros->size());
    auto status = Status::ok;
    for (const auto at: {uint64_t(0), superblockSpacing, device.size() - superblockSpacing}) {
        if (status == Status::ok)
            status = doAndWait(device, IoOp::write, at, zeros, superblockSpacing, formatMilliseconds);
    }
    for (const auto start: superblock.geometry.journalStart) {
        if (status == Status::ok)
            status = doAndWait(device, IoOp::write, start, zeros, journalBlockBytes, formatMilliseconds);
    }
    for (int copy = 0; copy < 2 && status == Status::ok; ++copy) {
        ++superblock.update;
        superblock.encode(zeros->data());
        status = doAndWait(device, IoOp::write, superblockOffset(superblock.update), zeros, superblockBytes, formatMilliseconds);
    }
    if (status == Status::ok)
        status = doAndWait(device, IoOp::flush, 0, nullptr, 0, formatMilliseconds);
    if (status != Status::ok) {
        error = std::string("writing the superblock failed: ") + statusText(status);
        return status;
    }
    // a disk that drops a write and says nothing would show the former store with the next start
    for (auto update = superblock.update - 1; update <= superblock.update && status == Status::ok; ++update) {
        status = doAndWait(device, IoOp::read, superblockOffset(update), zeros, superblockBytes, formatMilliseconds);
        Superblock kept;
        if (status == Status::ok)
            status = kept.decode(zeros->data(), error);
        if (status == Status::ok && (kept.update != update || kept.uuid != superblock.uuid))
            status = Status::corrupt;
    }
    if (status != Status::ok)
        error = std::string("the superblock can't be read back: ") + statusText(status);
    return status;
}

ClusterFs::Status
ClusterFs::Engine::open(std::string &error)
{
    core_.reset();
    if (!config_.validate(error))
        return Status::unsupported;
    Superblock superblock;
    const auto status = readSuperblock(device_, superblock, error);
    if (status != Status::ok)
        return status;
    if (superblock.geometry.clusterBytes % device_.alignment()) {
        error = "clusters of " + std::to_string(superblock.geometry.clusterBytes) +
                " bytes do not suit a device with blocks of " + std::to_string(device_.alignment());
        return Status::unsupported;
    }
    if (superblock.version < indexLogVersion) {
        std::random_device random;
        for (auto &word: superblock.secret)
            word = uint64_t(random()) << 32 | random();
    }
    auto config = config_;
    if (config.clusterBytes() != superblock.geometry.clusterBytes) {
        log_(LogLevel::warning, "formatted with cluster-size=" + std::to_string(superblock.geometry.clusterBytes / 1024) +
             ", which stays in force until it is formatted anew (configured: " + std::to_string(config.clusterKb) + ")");
        config.clusterKb = superblock.geometry.clusterBytes / 1024;
        config.suitClusters();
    }
    try {
        core_ = std::make_unique<Core>(device_, clock_, config, log_, superblock);
    } catch (const std::bad_alloc &) {
        error = "there is not enough memory for an index of " + std::to_string(superblock.geometry.objectsExpected) +
                " objects, " + std::to_string(superblock.geometry.objectsExpected * indexBytesExpected >> 20) +
                " MB: raise the limit of the process";
        return Status::unsupported;
    }
    return core_->start();
}

ClusterFs::Status
ClusterFs::Engine::close(const unsigned maxMilliseconds)
{
    if (!core_)
        return Status::ok;
    const auto status = core_->close(maxMilliseconds);
    last_ = core_->stats();
    core_.reset();
    return status;
}

ClusterFs::EngineState
ClusterFs::Engine::state() const
{
    return core_ ? core_->state() : EngineState::closed;
}

const char *
ClusterFs::Engine::stateText() const
{
    switch (state()) {
    case EngineState::closed:
        return "closed";
    case EngineState::recovering:
        return "recovering";
    case EngineState::serving:
        return "serving";
    case EngineState::readOnly:
        return "read-only";
    case EngineState::offline:
        return "offline";
    }
    return "unknown";
}

void
ClusterFs::Engine::poll()
{
    if (!core_)
        return;
    const Turn turn(core_->shared);
    core_->poll();
}

bool
ClusterFs::Engine::has(const Key &key) const
{
    return core_ && core_->has(key);
}

bool
ClusterFs::Engine::peek(const Key &key, ObjectInfo &info) const
{
    return core_ && core_->peek(key, info);
}

bool
ClusterFs::Engine::find(const Key &key, ObjectInfo &info)
{
    if (!core_)
        return false;
    const Turn turn(core_->shared);
    return core_->find(key, info);
}

void
ClusterFs::Engine::note(const Request &request)
{
    if (!core_)
        return;
    const Turn turn(core_->shared);
    core_->note(request);
}

void
ClusterFs::Engine::touch(const Key &key)
{
    if (core_)
        core_->touch(key);
}

bool
ClusterFs::Engine::canCreate(const int64_t size, int &load) const
{
    load = 1000;
    return core_ && core_->canCreate(size, load);
}

std::unique_ptr<ClusterFs::Writer>
ClusterFs::Engine::create(const Key &key, const ObjectInfo &info, const int64_t expectedSize)
{
    if (!core_)
        return nullptr;
    const Turn turn(core_->shared);
    return core_->create(key, info, expectedSize);
}

void
ClusterFs::Engine::noteUnadmitted(const Key &key)
{
    if (core_)
        core_->noteUnadmitted(key);
}

std::unique_ptr<ClusterFs::Reader>
ClusterFs::Engine::read(const Key &key)
{
    if (!core_)
        return nullptr;
    const Turn turn(core_->shared);
    return core_->read(key);
}

std::unique_ptr<ClusterFs::Reader>
ClusterFs::Engine::read(const Writer &writer)
{
    return core_ ? core_->read(writer) : nullptr;
}

bool
ClusterFs::Engine::remove(const Key &key)
{
    if (!core_)
        return false;
    const Turn turn(core_->shared);
    return core_->remove(key);
}

void
ClusterFs::Engine::updateInfo(const Key &key, const ObjectInfo &info)
{
    if (!core_)
        return;
    const Turn turn(core_->shared);
    core_->updateInfo(key, info);
}

void
ClusterFs::Engine::replaceHead(const Key &key, const uint32_t oldHeadSize, const std::string &newHead,
                               const ObjectInfo &info, std::function<void(Status)> done)
{
    if (!core_)
        return;
    const Turn turn(core_->shared);
    core_->replaceHead(key, oldHeadSize, newHead, info, std::move(done));
}

void
ClusterFs::Engine::rename(const Key &key, const Key &newKey, const uint32_t oldHeadSize, const std::string &newHead,
                          std::function<void(Status)> done)
{
    if (!core_)
        return;
    const Turn turn(core_->shared);
    core_->rename(key, newKey, oldHeadSize, newHead, std::move(done));
}

bool
ClusterFs::Engine::next(uint64_t &cursor, Key &key, ObjectInfo &info, unsigned &looks) const
{
    if (!core_)
        return false;
    const Turn turn(core_->shared);
    return core_->next(cursor, key, info, looks);
}

void
ClusterFs::Engine::collocate(const Key &leader, const std::vector<Key> &members)
{
    if (core_)
        core_->tracker.collocate(leader, members);
}

void
ClusterFs::Engine::assign(const uint64_t group, const Key &key)
{
    if (core_)
        core_->tracker.assign(group, key);
}

void
ClusterFs::Engine::love(const uint64_t group)
{
    if (core_)
        core_->groups.love(group);
}

void
ClusterFs::Engine::hate(const uint64_t group)
{
    if (core_)
        core_->groups.hate(group);
}

bool
ClusterFs::Engine::setPersist(const uint64_t group, const uint32_t seconds)
{
    return core_ && core_->setPersist(group, seconds);
}

void
ClusterFs::Engine::reconfigure(const Config &config)
{
    config_ = config;
    if (core_)
        core_->reconfigure(config);
}

void
ClusterFs::Engine::requestCheckpoint()
{
    if (core_)
        core_->checkpointer.request();
}

std::vector<ClusterFs::Key>
ClusterFs::Engine::removalsPending() const
{
    return core_ ? core_->journal.removals() : std::vector<Key>();
}

uint64_t
ClusterFs::Engine::objectCount() const
{
    return core_ ? core_->shared.catalog.objects() : 0;
}

uint64_t
ClusterFs::Engine::liveBytes() const
{
    return core_ ? core_->shared.catalog.liveBytes() : 0;
}

uint64_t
ClusterFs::Engine::capacityBytes() const
{
    if (!core_)
        return 0;
    const auto &g = core_->shared.geometry;
    return uint64_t(g.clusterCount) * g.clusterBytes + core_->shared.catalog.staging.bytesLimit();
}

uint64_t
ClusterFs::Engine::maxObjectSize() const
{
    return core_ ? core_->writers.largestObject() : 0;
}

bool
ClusterFs::Engine::indexLoaded() const
{
    return core_ && core_->indexLoaded();
}

double
ClusterFs::Engine::recoveryProgress() const
{
    return core_ ? core_->recovery.progress() : 0;
}

ClusterFs::Stats
ClusterFs::Engine::stats() const
{
    return core_ ? core_->stats() : last_;
}

const ClusterFs::Superblock *
ClusterFs::Engine::superblock() const
{
    return core_ ? &core_->checkpointer.superblock() : nullptr;
}

std::string
ClusterFs::Engine::report() const
{
    return reportText(*this, device_);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine as a store: calls that wait. */

#include "EngineStore.h"

#include "fs/cluster/api/Options.h"
#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/layout/Superblock.h"
#include "fs/cluster/recovery/Format.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <vector>

using namespace ClusterFs;

namespace Papers {
namespace {

constexpr unsigned callsPerPoll = 16; ///< an engine that nobody waits for must be run as well
constexpr unsigned waitMilliseconds = 10; ///< while the device works: it announces its answers
constexpr unsigned pauseMilliseconds = 1; ///< while it does not: what is waited for is a timer
constexpr unsigned maxFetchTries = 1000;
constexpr auto patience = std::chrono::seconds(60); ///< for one operation
constexpr unsigned closeMilliseconds = 600000;

/// memory of the calling thread for bytes on their way
std::vector<char> &
pieceBuffer()
{
    static thread_local std::vector<char> buffer(pieceBytes);
    return buffer;
}

void
addTo(Counters &sum, const Counters &c)
{
    sum.stored += c.stored;
    sum.storedBytes += c.storedBytes;
    sum.refused += c.refused;
    sum.readFromStaging += c.readFromStaging;
    sum.readFromCache += c.readFromCache;
    sum.readFromDisk += c.readFromDisk;
    sum.packs += c.packs;
    sum.packedObjects += c.packedObjects;
    sum.packedBytes += c.packedBytes;
    sum.parts += c.parts;
    sum.evictedClusters += c.evictedClusters;
    sum.evictedObjects += c.evictedObjects;
    sum.packedInGroups += c.packedInGroups;
    sum.regroupedObjects += c.regroupedObjects;
    sum.relocatedObjects += c.relocatedObjects;
    sum.relocatedBytes += c.relocatedBytes;
    sum.corrupt += c.corrupt;
    sum.checkpoints += c.checkpoints;
    sum.checkpointBytes += c.checkpointBytes;
}

} // namespace

EngineStore::EngineStore(const StoreOrder &order, const Content &content):
    order_(order),
    content_(content)
{
}

EngineStore::~EngineStore() = default;

std::unique_ptr<EngineStore>
EngineStore::Open(const StoreOrder &order, const Content &content, std::string &error)
{
    std::unique_ptr<EngineStore> store(new EngineStore(order, content));
    if (!store->plan(error) || !store->start(error))
        return nullptr;
    return store;
}

/// divides the memory; whether the device may be had
bool
EngineStore::plan(std::string &error)
{
    config_.list = false;
    config_.objectKb = static_cast<uint32_t>(std::min<uint64_t>(16384, std::max<uint64_t>(1, order_.meanBytes / 1024)));
    const auto megabytes = static_cast<uint32_t>(order_.memory >> 20);
    for (const auto &option: order_.engine) {
        if (!config_.set(option.first, option.second, error))
            return false;
    }
    if (!order_.engine.count("locality"))
        config_.localityMb = order_.hints ? std::max(1U, megabytes / 16) : 0;
    if (!order_.engine.count("staging"))
        config_.stagingMb = std::max(2U, std::max(megabytes / 4, config_.clusterKb * 4 / 1024));
    const auto others = config_.stagingMb + config_.localityMb;
    if (!order_.engine.count("read-cache"))
        config_.readCacheMb = megabytes > others ? megabytes - others : 0;
    if (others + config_.readCacheMb > megabytes || config_.readCacheMb < config_.leastMb()) {
        error = "memory of " + std::to_string(megabytes) + " MB is too little for staging=" + std::to_string(config_.stagingMb) +
                ", locality=" + std::to_string(config_.localityMb) + " and read-cache=" + std::to_string(config_.readCacheMb) +
                ": give more, or smaller clusters";
        return false;
    }
    const auto verdict = examine(order_.path);
    if (!verdict.usable && !(verdict.forceable && order_.force)) {
        error = verdict.reason + (verdict.forceable ? " (--force formats it all the same)" : "");
        return false;
    }
    return true;
}

bool
EngineStore::start(std::string &error)
{
    AioDevice::OpenOptions options;
    options.path = order_.path;
    options.depth = config_.depth;
    const Log log = [](const LogLevel level, const std::string &line) {
        if (level <= LogLevel::warning)
            std::cerr << "bench-papers: " << line << "\n";
    };
    device_ = AioDevice::Open(deviceClock_, options, log, error);
    if (!device_)
        return false;
    if (formatDevice(*device_, config_, order_.seed, error) != Status::ok)
        return false;
    return openEngine(error);
}

bool
EngineStore::openEngine(std::string &error)
{
    const Log log = [this](const LogLevel level, const std::string &line) {
        if (level > LogLevel::warning)
            return;
        trouble_ = line;
        std::cerr << "bench-papers: engine: " << line << "\n";
    };
    if (ClusterFs::openEngine(*device_, engineClock_, config_, log, engine_, error) != Status::ok)
        return false;
    Lock lock(mutex_);
    if (await(lock, [this] { return engine_->state() != EngineState::recovering; }) && engine_->state() == EngineState::serving)
        return true;
    error = order_.path + ": the engine does not serve: " + engine_->stateText() + (trouble_.empty() ? "" : ": " + trouble_);
    return false;
}

Key
EngineStore::keyOf(const uint32_t id) const
{
    const uint64_t words[2] = {scattered(order_.seed * 2 + (uint64_t(id) << 8)), scattered(~(uint64_t(id) << 8))};
    Key key;
    memcpy(key.bytes.data(), words, sizeof(words));
    return key;
}

/// Waits until the engine was run once more, by this thread or another.
void
EngineStore::turn(Lock &lock)
{
    if (running_) {
        turned_.wait(lock);
        return;
    }
    running_ = true;
    const auto most = device_->idle() ? pauseMilliseconds : waitMilliseconds;
    lock.unlock();
    device_->wait(most);
    lock.lock();
    running_ = false;
    engine_->poll();
    turned_.notify_all();
}

/// \returns whether the condition came true in time
bool
EngineStore::await(Lock &lock, const Condition &condition)
{
    engine_->poll();
    if (condition())
        return true;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        turn(lock);
    }
    return true;
}

void
EngineStore::sometimes()
{
    if (++calls_ % callsPerPoll == 0)
        engine_->poll();
}

/// The place where hints reach the engine, of reads and creates alike: as the
/// request of a page, or of what a page consists of.
void
EngineStore::tell(const Key &key, const Hint &hint)
{
    if (hint.group == Hint::none || !order_.hints)
        return;
    Request request;
    request.key = key;
    request.client = hint.client == Hint::none ? 0 : scattered(hint.client) | 1;
    const auto page = scattered(hint.group) | 1;
    if (hint.container) {
        request.kind = RequestKind::page;
        request.url = page;
    } else {
        request.kind = RequestKind::member;
        request.url = key.high() | 1;
        request.referer = page;
    }
    engine_->note(request);
}

/// \returns a writer, after waiting for room if need be, or nil
std::unique_ptr<Writer>
EngineStore::startWriting(Lock &lock, const Item &item, const Key &key)
{
    ObjectInfo info;
    info.timestamp = deviceClock_.wallSeconds();
    info.expires = info.timestamp + 86400 * 365;
    std::unique_ptr<Writer> writer;
    await(lock, [&] { return (writer = engine_->create(key, info, item.size)) != nullptr; });
    return writer;
}

Outcome
EngineStore::create(const Item &item, const Hint &hint)
{
    auto &buffer = pieceBuffer();
    const auto first = std::min<size_t>(item.size, buffer.size());
    content_.fill(item, 0, buffer.data(), first); // before the lock is taken
    Lock lock(mutex_);
    sometimes();
    if (item.size > engine_->maxObjectSize())
        return Outcome::refused;
    const auto key = keyOf(item.id);
    tell(key, hint);
    const auto writer = startWriting(lock, item, key);
    if (!writer)
        return Outcome::refused;
    for (uint64_t at = 0; at < item.size;) {
        const auto n = std::min<uint64_t>(item.size - at, buffer.size());
        if (at)
            content_.fill(item, at, buffer.data(), n);
        if (!writer->append(buffer.data(), n))
            return Outcome::refused;
        at += n;
        if (at < item.size && !await(lock, [&] { return !writer->congested(); }))
            return Outcome::refused;
    }
    return writer->finish() == Status::ok ? Outcome::done : Outcome::refused;
}

Outcome
EngineStore::read(const Item &item, const Hint &hint, uint32_t &version)
{
    Lock lock(mutex_);
    sometimes();
    const auto key = keyOf(item.id);
    tell(key, hint);
    ObjectInfo info;
    if (!engine_->find(key, info))
        return Outcome::missing;
    engine_->touch(key);
    const auto reader = engine_->read(key);
    if (!reader)
        return Outcome::missing;
    return info.size == item.size ? readAll(lock, *reader, item, version) : Outcome::bad;
}

Outcome
EngineStore::readAll(Lock &lock, Reader &reader, const Item &item, uint32_t &version)
{
    auto &buffer = pieceBuffer();
    uint64_t at = 0;
    for (unsigned tries = 0; at < item.size;) {
        const auto n = reader.copy(at, buffer.data(), buffer.size());
        if (n == 0)
            return Outcome::bad; // ends early
        if (n > 0) {
            if (!content_.check(item.id, item.size, at, buffer.data(), static_cast<size_t>(n), version))
                return Outcome::bad;
            at += static_cast<uint64_t>(n);
            continue;
        }
        bool answered = false;
        auto status = Status::busy;
        reader.fetch(at, [&](const Status s) {
            answered = true;
            status = s;
        });
        if (!await(lock, [&] { return answered; }) || ++tries > maxFetchTries)
            return Outcome::refused;
        if (status != Status::ok && status != Status::busy)
            return Outcome::missing;
    }
    return Outcome::done;
}

Outcome
EngineStore::remove(const uint32_t id)
{
    Lock lock(mutex_);
    sometimes();
    return engine_->remove(keyOf(id)) ? Outcome::done : Outcome::missing;
}

void
EngineStore::idle()
{
    Lock lock(mutex_);
    engine_->poll();
}

/// The engine has no call for this: time does it.
bool
EngineStore::sync(std::string &error)
{
    Lock lock(mutex_);
    const auto window = uint64_t(std::max(config_.persist, config_.deleteTime)) * 1000000;
    const auto settled = [&] {
        if (!device_->idle())
            return false;
        const auto s = engine_->stats();
        if (!s.stagedObjects && !s.deletesPending)
            return true;
        engineClock_.step(window); // also for what was complete only now
        return false;
    };
    // once for what is staged and for deletes, once for the flush after it
    for (int i = 0; i < 2; ++i) {
        engineClock_.step(window);
        if (!await(lock, settled)) {
            error = order_.path + ": the engine has not written all within a minute";
            return false;
        }
    }
    return true;
}

bool
EngineStore::dropMemory(std::string &error)
{
    {
        Lock lock(mutex_);
        const auto status = engine_->close(closeMilliseconds);
        if (status != Status::ok) {
            error = order_.path + ": closing the engine failed: " + statusText(status);
            return false;
        }
        addTo(before_, engine_->stats().counters);
    }
    return openEngine(error);
}

uint64_t
EngineStore::memoryToCome() const
{
    const auto s = engine_->stats();
    // beside the caches: the index as it was planned, and buffers of requests in flight
    const auto *const superblock = engine_->superblock();
    const uint64_t objects = superblock ? superblock->geometry.objectsExpected : s.objects;
    const uint64_t index = objects * 40 + s.clusters * 64;
    const uint64_t inFlight = uint64_t(config_.depth) * config_.clusterBytes();
    // The engine bypasses the page cache, so that more does it no good: this is
    // ample, since its buffers cost more than they hold.
    const uint64_t caches = uint64_t(config_.stagingMb + config_.localityMb + 2 * config_.readCacheMb) << 20;
    constexpr uint64_t slack = 64 << 20;
    return caches + index + inFlight + order_.threads * threadBytes + slack;
}

Json
EngineStore::describe() const
{
    Json json;
    Json settings;
    for (const auto &option: options())
        settings[option.name] = option.valueIn(config_);
    json["engine"] = settings;
    json["deviceBytes"] = device_->size();
    json["directIo"] = device_->direct();
    if (const auto *superblock = engine_->superblock())
        json["clusterStart"] = superblock->geometry.clusterStart;
    const auto s = engine_->stats();
    auto c = s.counters;
    addTo(c, before_);
    Json counters;
    counters["objects"] = s.objects;
    counters["liveBytes"] = s.liveBytes;
    counters["indexBytes"] = s.indexBytes;
    counters["stored"] = c.stored;
    counters["storedBytes"] = c.storedBytes;
    counters["readFromStaging"] = c.readFromStaging;
    counters["readFromCache"] = c.readFromCache;
    counters["readFromDisk"] = c.readFromDisk;
    counters["packs"] = c.packs;
    counters["packedObjects"] = c.packedObjects;
    counters["packedBytes"] = c.packedBytes;
    counters["parts"] = c.parts;
    counters["evictedClusters"] = c.evictedClusters;
    counters["evictedObjects"] = c.evictedObjects;
    counters["packedInGroups"] = c.packedInGroups;
    counters["regroupedObjects"] = c.regroupedObjects;
    counters["groupReads"] = s.groupReads;
    counters["matesRead"] = s.matesRead;
    counters["matesWanted"] = s.matesWanted;
    counters["relocatedObjects"] = c.relocatedObjects;
    counters["relocatedBytes"] = c.relocatedBytes;
    counters["corrupt"] = c.corrupt;
    counters["checkpoints"] = c.checkpoints;
    counters["checkpointBytes"] = c.checkpointBytes;
    for (const auto op: {IoOp::read, IoOp::write}) {
        const auto &d = device_->stats().of(op);
        const std::string name = op == IoOp::read ? "read" : "write";
        counters["device" + std::string(op == IoOp::read ? "Reads" : "Writes")] = d.requests;
        counters[name + "Bytes"] = d.bytes;
        counters[name + "Errors"] = d.errors;
        counters[name + "Seconds"] = static_cast<double>(d.busyMicros) / 1e6;
    }
    json["counters"] = counters;
    return json;
}

} // namespace Papers

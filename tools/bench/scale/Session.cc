// SPDX-License-Identifier: GPL-2.0-or-later
/* Calling the engine. */

#include "fs/cluster/engine/Open.h"
#include "tools/bench/scale/Session.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <unistd.h>

using namespace ClusterFs;
using Tools::secondsSince;

namespace ScaleBench {

namespace {

constexpr unsigned storesInTurn = 16; ///< between calls of poll()
constexpr unsigned storesForHit = 8;
constexpr size_t maxHits = 16; ///< at once
constexpr unsigned maxTries = 100000; ///< of milliseconds, until an object is taken
constexpr uint64_t idleNanos = 200000; ///< a call of poll() that takes less has nothing to do
constexpr uint32_t never = 604800; ///< seconds: checkpoints are asked for
constexpr unsigned stopMilliseconds = 600000;

void
need(const bool well, const std::string &what)
{
    if (!well)
        throw std::runtime_error(what);
}

} // namespace

/// an object on its way to a client
struct Session::Hit {
    std::unique_ptr<Reader> reader;
    Key key;
    std::vector<char> bytes;
    uint64_t at = 0;
    bool fetching = false;
    Status status = Status::ok;
};

Config
Session::Options(const uint32_t clusterKb)
{
    Config c;
    c.clusterKb = clusterKb;
    c.stagingMb = std::max(c.stagingMb, clusterKb * 2 / 1024);
    c.readCacheMb = std::max(c.readCacheMb, clusterKb * 2 / 1024);
    c.checkpoint = never;
    c.persist = 2; // nobody wants to wait for the last cluster
    return c;
}

Session::Session(const MadeStore &store):
    store_(store),
    file_(store.open(clock_)),
    device_(clock_, *file_, store.corpus()),
    config_(Options(store.shape().clusterKb)),
    payload_(store.shape().objectBytes)
{
}

uint64_t
Session::ResidentBytes()
{
    std::ifstream file("/proc/self/statm");
    uint64_t all = 0;
    uint64_t resident = 0;
    file >> all >> resident;
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void
Session::poll(Turns &turns, const unsigned waitMilliseconds)
{
    turns.measure("poll", [this] { engine_->poll(); });
    device_.wait(waitMilliseconds);
}

/// \returns whether all has come
bool
Session::moveOn(Hit &hit, Turns &turns)
{
    while (!hit.fetching) {
        need(hit.status == Status::ok, std::string("an object can't be read: ") + statusText(hit.status));
        const auto got = turns.measure("copy", [&] {
            return hit.reader->copy(hit.at, hit.bytes.data() + hit.at, hit.bytes.size() - hit.at);
        });
        if (got > 0) {
            hit.at += static_cast<uint64_t>(got);
        } else if (got == 0) {
            fillPayload(payload_.data(), payload_.size(), hit.key);
            need(hit.at == payload_.size() && hit.bytes == payload_, "an object is not what was stored");
            return true;
        } else {
            hit.fetching = true;
            turns.measure("fetch", [&] {
                hit.reader->fetch(hit.at, [&hit](const Status status) {
                    hit.status = status;
                    hit.fetching = false;
                });
            });
        }
    }
    return false;
}

/// \returns whether one of them has come
bool
Session::moveHits(Turns &turns)
{
    const auto end = std::remove_if(hits_.begin(), hits_.end(), [&](const std::shared_ptr<Hit> &h) { return moveOn(*h, turns); });
    const bool any = end != hits_.end();
    hits_.erase(end, hits_.end());
    return any;
}

/// \returns whether the object is there and is on its way
bool
Session::tryHit(const uint64_t number, Turns &turns)
{
    const auto hit = std::make_shared<Hit>();
    hit->key = keyOf(number);
    ObjectInfo info;
    if (!turns.measure("find", [&] { return engine_->find(hit->key, info); }))
        return false;
    turns.measure("touch", [&] { engine_->touch(hit->key); });
    hit->reader = turns.measure("read", [&] { return engine_->read(hit->key); });
    if (!hit->reader)
        return false;
    hit->bytes.resize(info.size);
    hits_.push_back(hit);
    return true;
}

Start
Session::start()
{
    Start s;
    std::string error;
    const auto resident = ResidentBytes();
    const auto begin = Tools::now();
    const Log log = [](const LogLevel level, const std::string &line) {
        if (level == LogLevel::error)
            std::cerr << line << std::endl;
    };
    need(openEngine(device_, clock_, config_, log, engine_, error) == Status::ok, "the store can't be opened: " + error);
    while (engine_->state() == EngineState::recovering || s.firstHit == 0) {
        const auto before = s.turns.processorNanos;
        s.turns.measure("poll", [this] { engine_->poll(); });
        device_.wait(s.turns.processorNanos - before > idleNanos ? 0 : 1); // there is more where that came from
        if (s.firstHit == 0 && hits_.empty())
            tryHit(random_() % store_.shape().objects, s.turns);
        if (s.firstHit == 0 && moveHits(s.turns))
            s.firstHit = secondsSince(begin);
        if (s.seconds == 0 && engine_->state() != EngineState::recovering)
            s.seconds = secondsSince(begin);
    }
    need(engine_->state() == EngineState::serving, std::string("the store is ") + engine_->stateText());
    s.residentBytes = ResidentBytes() - resident;
    return s;
}

void
Session::store(const uint64_t number, const uint64_t count, Turns &turns)
{
    ObjectInfo info = store_.corpus().info();
    for (uint64_t n = number; n < number + count; ++n) {
        const auto key = keyOf(n);
        fillPayload(payload_.data(), payload_.size(), key);
        const auto take = [&] {
            return turns.measure("create", [&] { return engine_->create(key, info, static_cast<int64_t>(payload_.size())); });
        };
        auto writer = take();
        for (unsigned tries = 0; !writer && tries < maxTries; ++tries) {
            poll(turns, 1);
            writer = take();
        }
        need(writer != nullptr, "object " + std::to_string(n) + " is not taken");
        turns.measure("append", [&] { return writer->append(payload_.data(), payload_.size()); });
        const auto status = turns.measure("finish", [&] { return writer->finish(); });
        need(status == Status::ok, "object " + std::to_string(n) + " is not stored: " + statusText(status));
        if (n % storesForHit == 0 && hits_.size() < maxHits)
            tryHit(random_() % store_.shape().objects, turns);
        if (n % storesInTurn == 0) {
            poll(turns, 0);
            moveHits(turns);
        }
    }
    while (engine_->stats().stagedObjects || !hits_.empty()) {
        poll(turns, 10);
        moveHits(turns);
    }
}

void
Session::remove(const uint64_t number, Turns &turns)
{
    turns.measure("remove", [&] { return engine_->remove(keyOf(number)); });
    if (number % storesInTurn == 0)
        poll(turns, 0);
}

void
Session::update(const uint64_t number, Turns &turns)
{
    auto info = store_.corpus().info();
    info.expires += 60;
    turns.measure("updateInfo", [&] { engine_->updateInfo(keyOf(number), info); });
    if (number % storesInTurn == 0)
        poll(turns, 0);
}

Session::Checkpoint
Session::checkpoint()
{
    const auto before = engine_->stats().counters;
    Checkpoint c;
    engine_->requestCheckpoint();
    const auto begin = Tools::now();
    while (engine_->stats().counters.checkpoints == before.checkpoints) {
        poll(c.turns, 1);
        need(engine_->stats().counters.checkpointErrors == before.checkpointErrors, "a checkpoint failed");
    }
    c.seconds = secondsSince(begin);
    c.processorSeconds = static_cast<double>(c.turns.processorNanos) / 1e9;
    c.bytes = engine_->stats().counters.checkpointBytes - before.checkpointBytes;
    return c;
}

void
Session::settle(Turns &turns)
{
    while (!engine_->stats().counters.checkpoints)
        poll(turns, 1);
}

void
Session::writeDeletes(Turns &turns)
{
    while (engine_->stats().deletesPending)
        poll(turns, 10);
}

uint64_t
Session::idle(const unsigned seconds, Turns &turns)
{
    auto config = config_;
    config.checkpoint = 1;
    engine_->reconfigure(config);
    const auto before = engine_->stats().bytesWritten;
    const auto begin = Tools::now();
    while (secondsSince(begin) < seconds)
        poll(turns, 10);
    engine_->reconfigure(config_);
    return engine_->stats().bytesWritten - before;
}

double
Session::stop()
{
    const auto begin = Tools::now();
    const auto status = engine_->close(stopMilliseconds);
    need(status == Status::ok, std::string("the store does not stop: ") + statusText(status));
    return secondsSince(begin);
}

} // namespace ScaleBench

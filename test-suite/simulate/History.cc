// SPDX-License-Identifier: GPL-2.0-or-later
/* Playing a short history. */

#include "test-suite/simulate/History.h"

#include "fs/cluster/engine/Open.h"
#include "test-suite/simulate/Access.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

using namespace ClusterFs;

const std::string Simulate::History::operations = "ABLabHCTRKP";

namespace Simulate {
namespace {
/// microseconds that promises may take longer than they say, because time passes in steps
constexpr uint64_t slackMicros = 500000;
constexpr uint64_t stepMicros = 100000; ///< microseconds
constexpr unsigned openingTurns = 10; ///< turns after which clusters are announced
constexpr unsigned operationTurns = 2;
constexpr uint64_t headBytes = 500;
} // namespace
} // namespace Simulate

Config
Simulate::History::Settings()
{
    Config c;
    c.clusterKb = 16;
    c.objectKb = 16;
    c.stagingMb = 2;
    c.readCacheMb = 2;
    c.localityMb = 0;
    c.persist = 2;
    c.deleteTime = 1;
    c.checkpoint = 86400;
    return c;
}

Simulate::History::History(const MemoryDevice &formatted, const std::string &chosen):
    media_(clock_, formatted.size(), formatted.alignment()),
    device_(media_, clock_, true)
{
    memcpy(media_.data(), formatted.data(), formatted.size());
    for (uint64_t object = 0; object < historyObjects; ++object)
        oracle_.of(object);
    device_.onEvent = [this](const Io &) { expectations_.push_back(expected()); };
    open();
    for (size_t i = 0; i < chosen.size(); ++i) {
        begins_.push_back(i ? device_.events().size() : 0);
        clock_.advance(1000); // no two operations have the same time
        act(chosen[i]);
        turn(operationTurns);
    }
    expectations_.push_back(expected());
    engine_.reset();
}

void
Simulate::History::open()
{
    std::string error;
    if (openEngine(device_, clock_, Settings(), [](LogLevel, const std::string &) {}, engine_, error) != Status::ok)
        throw Broken("open: " + error);
    if (!await(*engine_, device_, [this] { return engine_->state() == EngineState::serving; }))
        throw Broken("a start without a crash does not end");
    turn(openingTurns);
}

void
Simulate::History::turn(const unsigned times)
{
    for (unsigned i = 0; i < times; ++i)
        engine_->poll();
}

void
Simulate::History::act(const char operation)
{
    switch (operation) {
    case 'A':
        return store(0, 3000);
    case 'B':
        return store(1, 5000);
    case 'L':
        return store(0, 30000);
    case 'a':
        return remove(0);
    case 'b':
        return remove(1);
    case 'H':
        return replaceHead(0);
    case 'C':
        return engine_->requestCheckpoint();
    case 'T':
        return passTime();
    case 'R':
        return close();
    case 'K':
        return restart(false);
    case 'P':
        return restart(true);
    default:
        throw std::invalid_argument(std::string("no such operation: ") + operation);
    }
}

void
Simulate::History::store(const uint64_t object, const uint64_t size)
{
    auto &version = oracle_.add(object);
    version.size = size + 40 * version.number;
    version.bodyVersion = version.number;
    ObjectInfo info;
    info.timestamp = clock_.wallSeconds();
    std::string bytes(version.size, '\0');
    fill(version, 0, &bytes[0], bytes.size());
    const auto writer = engine_->create(Oracle::KeyOf(object), info, static_cast<int64_t>(version.size));
    if (!writer || !writer->append(bytes.data(), bytes.size()) || writer->finish() != Status::ok)
        throw Broken("an object is not taken");
    oracle_.finish(object, version.number, clock_.micros());
}

void
Simulate::History::remove(const uint64_t object)
{
    engine_->remove(Oracle::KeyOf(object));
    oracle_.remove(object, clock_.micros());
}

void
Simulate::History::replaceHead(const uint64_t object)
{
    if (!oracle_.current(object))
        return;
    const auto old = *oracle_.current(object);
    auto &fresh = oracle_.add(object);
    takeHead(fresh, old, std::max(old.headSize, headBytes), headBytes + fresh.number);
    const auto number = fresh.number;
    std::string head(fresh.headSize, '\0');
    fill(fresh, 0, &head[0], head.size());
    ObjectInfo info;
    info.timestamp = clock_.wallSeconds();
    auto status = Status::ok;
    bool done = false;
    engine_->replaceHead(Oracle::KeyOf(object), static_cast<uint32_t>(std::max(old.headSize, headBytes)), head, info, [&](const Status s) {
        status = s;
        done = true;
        if (status == Status::ok)
            oracle_.finish(object, number, clock_.micros());
    });
    if (!await(*engine_, device_, [&] { return done; }))
        throw Broken("a head update is never answered");
}

void
Simulate::History::passTime()
{
    const auto seconds = std::max(Settings().persist, Settings().deleteTime);
    const auto end = clock_.micros() + uint64_t(seconds) * 1000000 + slackMicros;
    while (clock_.micros() < end) {
        clock_.advance(stepMicros);
        turn(1);
        while (!device_.idle())
            turn(1);
    }
}

void
Simulate::History::close()
{
    if (engine_->close(60000) != Status::ok)
        throw Broken("a clean stop fails");
    settled_ = clock_.micros();
    open();
}

void
Simulate::History::restart(const bool powerCut)
{
    engine_.reset();
    if (powerCut)
        device_.cutPower();
    open();
    adopt();
}

/// The versions that a start has found are the present ones from now on: every later start must find them.
void
Simulate::History::adopt()
{
    for (uint64_t object = 0; object < historyObjects; ++object) {
        bool torn = false;
        const auto number = findVersion(*engine_, device_, object, versions(object), torn);
        oracle_.remove(object, clock_.micros());
        for (auto &v: oracle_.of(object)) {
            if (v.number == number)
                v.removed = 0;
        }
    }
    settled_ = clock_.micros();
}

/// whether a promise that takes so many seconds must hold by now
/// \param since when it was given, microseconds
bool
Simulate::History::isSafe(const uint64_t since, const uint32_t seconds) const
{
    return since <= settled_ || since + uint64_t(seconds) * 1000000 + slackMicros <= clock_.micros();
}

Simulate::Expectation
Simulate::History::expected() const
{
    Expectation all;
    for (uint64_t object = 0; object < historyObjects; ++object) {
        auto &allowed = all[object];
        for (const auto &v: versions(object)) {
            if (!v.finished || (v.removed && isSafe(v.removed, Settings().deleteTime)))
                continue;
            allowed.versions.push_back(v);
            if (!v.removed && isSafe(v.finished, Settings().persist))
                allowed.missing = false;
        }
    }
    return all;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts after a crash, and the judgement of what they find. */

#include "test-suite/simulate/Aftermath.h"

#include "fs/cluster/engine/Open.h"
#include "test-suite/simulate/Access.h"

#include <cstring>

using namespace ClusterFs;

namespace Simulate {
namespace {
/// Most reads of a start: the superblocks, a piece of each journal, the newest removals,
/// pieces of the index log, and each cluster that was written since, once or twice.
constexpr uint64_t maxReads = 2 + 2 + 2 + 4 + 2 * 16;
} // namespace
} // namespace Simulate

Simulate::Aftermath::Aftermath(const MemoryDevice &formatted, const History &history):
    history_(history),
    kept_(clock_, formatted.size(), formatted.alignment()),
    media_(clock_, formatted.size(), formatted.alignment())
{
    memcpy(kept_.data(), formatted.data(), formatted.size());
    memcpy(media_.data(), formatted.data(), formatted.size());
}

void
Simulate::Aftermath::keep(const Event &e)
{
    memcpy(kept_.data() + e.offset, e.bytes.data(), e.bytes.size());
    memcpy(media_.data() + e.offset, e.bytes.data(), e.bytes.size());
}

void
Simulate::Aftermath::restore()
{
    for (const auto &range: touched_)
        memcpy(media_.data() + range.first, kept_.data() + range.first, range.second);
    touched_.clear();
}

void
Simulate::Aftermath::land(const Event &e, const uint32_t bytes)
{
    memcpy(media_.data() + e.offset, e.bytes.data(), bytes);
    touched_.emplace_back(e.offset, bytes);
}

Simulate::Found
Simulate::Aftermath::start(const Expectation &expected)
{
    return start(expected, false, nullptr);
}

Simulate::Found
Simulate::Aftermath::startAndWork(const Expectation &expected, std::vector<Event> *const events)
{
    return start(expected, true, events);
}

Simulate::Found
Simulate::Aftermath::start(const Expectation &expected, const bool work, std::vector<Event> *const events)
{
    ++starts_;
    Found found;
    Recorder device(media_, clock_, events != nullptr);
    device.onEvent = [this](const Io &io) { touched_.emplace_back(io.offset, io.size); };
    {
        std::unique_ptr<Engine> opened;
        std::string error;
        if (openEngine(device, clock_, History::Settings(), [](LogLevel, const std::string &) {}, opened, error) != Status::ok)
            throw Broken("open: " + error);
        auto &engine = *opened;
        if (!await(engine, device, [&] { return engine.state() != EngineState::recovering; }))
            throw Broken("recovery does not end");
        if (engine.state() != EngineState::serving)
            throw Broken(std::string("the engine is ") + engine.stateText());
        if (device.reads() > maxReads)
            throw Broken("the start took " + std::to_string(device.reads()) + " reads");
        look(engine, device, expected, found);
        const auto stats = engine.stats();
        if (stats.recovery.scanned)
            throw Broken("an honest disk lost its checkpoint");
        if (work && !stats.recovery.clean && !await(engine, device, [&] { return engine.stats().counters.checkpoints > 0; }))
            throw Broken("no checkpoint after a crash");
    }
    if (events)
        *events = device.events();
    return found;
}

void
Simulate::Aftermath::look(Engine &engine, Recorder &device, const Expectation &expected, Found &found)
{
    const auto stats = engine.stats();
    found.objects = stats.objects;
    found.liveBytes = stats.liveBytes;
    found.clustersFree = stats.clustersFree;
    for (uint64_t object = 0; object < historyObjects; ++object) {
        const auto &allowed = expected[object];
        const auto name = "object " + std::to_string(object);
        const auto number = findVersion(engine, device, object, history_.versions(object), found.torn);
        bool known = !number && allowed.missing;
        for (const auto &v: allowed.versions)
            known = known || v.number == number;
        if (!known && !number)
            throw Broken(name + " is lost");
        if (!known)
            throw Broken(name + ", version " + std::to_string(number) + " came back");
        found.versions[object] = number;
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* How much of a device's bandwidth the engine uses: when it packs, and when
 * many objects are read at once. */

#include "Bench.h"
#include "EngineStore.h"
#include "Experiments.h"

#include "tools/base/Random.h"

#include <numeric>

using namespace ClusterFs;

namespace Papers {
namespace {

constexpr unsigned waitMilliseconds = 10;

/// one object on its way in from the disk
struct Reading {
    std::unique_ptr<Reader> reader;
    uint32_t id = 0;
    uint64_t at = 0;
    bool waiting = false;
    bool failed = false;
};

/// Keeps a number of reads going, from one thread, as an event loop does.
class ReadLoop
{
public:
    ReadLoop(EngineStore &store, const Content &content, const uint32_t size, Tally &tally):
        store_(store),
        content_(content),
        size_(size),
        tally_(tally),
        buffer_(1 << 20) {}

    void run(const std::vector<uint32_t> &ids, unsigned depth);

private:
    void begin(Reading &, uint32_t id);
    bool advance(Reading &);
    void finish(Reading &, bool right);

    EngineStore &store_;
    const Content &content_;
    const uint32_t size_;
    Tally &tally_;
    std::vector<char> buffer_;
};

void
ReadLoop::run(const std::vector<uint32_t> &ids, const unsigned depth)
{
    std::vector<Reading> slots(depth);
    size_t next = 0;
    size_t busy = 0;
    do {
        busy = 0;
        for (auto &slot: slots) {
            while (!slot.waiting) {
                if (slot.reader && !advance(slot))
                    continue; // it waits now
                if (next == ids.size())
                    break;
                begin(slot, ids[next++]);
            }
            busy += slot.waiting;
        }
        if (busy) {
            store_.device().wait(waitMilliseconds);
            store_.engine().poll();
        }
    } while (busy || next < ids.size());
}

void
ReadLoop::begin(Reading &slot, const uint32_t id)
{
    slot.reader = store_.engine().read(store_.keyOf(id));
    slot.id = id;
    slot.at = 0;
    slot.failed = false;
    if (!slot.reader)
        ++tally_.missing;
}

void
ReadLoop::finish(Reading &slot, const bool right)
{
    tally_.count(right ? Outcome::done : Outcome::bad, true);
    slot.reader.reset();
}

/// takes what is there of an object. \returns whether it is done with
bool
ReadLoop::advance(Reading &slot)
{
    while (slot.at < size_) {
        const auto n = slot.reader->copy(slot.at, buffer_.data(), buffer_.size());
        uint32_t version = 0;
        const auto length = n > 0 ? static_cast<size_t>(n) : 0;
        const bool right = n < 0 || (n > 0 && content_.check(slot.id, size_, slot.at, buffer_.data(), length, version));
        if (slot.failed || !right) {
            finish(slot, false);
            return true;
        }
        if (n < 0) {
            slot.waiting = true;
            slot.reader->fetch(slot.at, [&slot](const Status status) {
                slot.waiting = false;
                slot.failed = status != Status::ok && status != Status::busy;
            });
            return false;
        }
        slot.at += static_cast<uint64_t>(n);
    }
    finish(slot, true);
    return true;
}

void
describe(Json &json, const uint32_t objects, const uint32_t size)
{
    json["operations"] = objects;
    json["bytes"] = uint64_t(objects) * size;
}

void
declare(CommandLine &line, Options &o)
{
    o.size = 65536;
    line.whole("megabytes", o.megabytes, 8, 1 << 20, "MB of objects to write and to read");
    line.bytes("size", o.size, Content::headerBytes, 1 << 20, "bytes of an object");
    line.whole("depth", o.depth, 1, 1024, "reads at once");
    Bench::Declare(line, o);
}

bool
run(const Options &options, Json &json)
{
    if (options.store != "engine" || options.threads != 1)
        throw BadRequest("this experiment is for --store engine and one thread; its other side is fio on the device");
    const auto size = options.size;
    const auto objects = static_cast<uint32_t>((options.megabytes << 20) / size);
    const auto depth = options.depth;
    Bench bench(options, objects, size);
    const Content content(options.seed);
    auto &store = dynamic_cast<EngineStore &>(bench.store());
    bench.ready();
    bench.phase("pack", 1, [&](unsigned) {
        LatencyHistogram unused;
        for (uint32_t id = 0; id < objects; ++id) {
            Item item;
            item.id = id;
            item.size = size;
            (void)bench.create(item, Hint(), unused);
        }
    }, [&](Json &j) { describe(j, objects, size); });
    bench.dropMemory();
    std::vector<uint32_t> order(objects);
    std::iota(order.begin(), order.end(), 0);
    Tools::TwisterRandom(options.seed).shuffle(order);
    ReadLoop loop(store, content, size, bench.tally);
    bench.phase("read", 1, [&](unsigned) { loop.run(order, depth); }, [&](Json &j) { describe(j, objects, size); });
    json["workload"] = {{"objects", objects}, {"size", size}, {"depth", depth}};
    return bench.report(json);
}

} // namespace

const Experiment bandwidthExperiment = {"bandwidth", "packing, and reading many objects at once, for fio's figure beside it", declare, run};

} // namespace Papers

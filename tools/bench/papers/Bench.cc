// SPDX-License-Identifier: GPL-2.0-or-later
/* Phases of an experiment. */

#include "Bench.h"

#include "AcceleratorStore.h"
#include "CfsStore.h"
#include "DameloStore.h"
#include "FileStore.h"
#include "HummingbirdStore.h"
#include "PlainStore.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace Papers {

std::unique_ptr<Store>
openStore(const StoreOrder &order, const Content &content, DropCaches dropCaches, std::string &error)
{
    if (order.kind == "files")
        return FileStore::Open(order, content, std::move(dropCaches), error);
    std::unique_ptr<LibraryStore> store;
    switch (order.calls) {
    case Calls::plain:
        store = std::make_unique<PlainStore>(order, content);
        break;
    case Calls::hummingbird:
        store = std::make_unique<HummingbirdStore>(order, content);
        break;
    case Calls::cfs:
        store = std::make_unique<CfsStore>(order, content);
        break;
    case Calls::damelo:
        store = std::make_unique<DameloStore>(order, content);
        break;
    case Calls::accelerator:
        store = std::make_unique<AcceleratorStore>(order, content, std::move(dropCaches));
        break;
    }
    if (!store->start(error))
        return nullptr;
    return store;
}

void
Bench::Declare(CommandLine &line, Options &o)
{
    line.section("All experiments");
    line.choice("store", o.store, {"clusterfs", "files"}, "store of the objects");
    line.text("at", o.at, "PLACE", "place of the store: a block device or image for clusterfs, an empty folder for files and for tfs");
    line.whole("memory", o.memory, 4, 1 << 20, "MB for objects: staging, read cache and locality, or memory cache and page cache");
    line.list("option", o.options, "NAME=VALUE", "an option of clusterfs, as in a cache_dir line");
    line.choice("hints", o.hints, {"on", "off"}, "whether the program says which objects belong together");
    line.flag("force", o.force, "format a device that holds other data");
    line.whole("threads", o.threads, 1, 256, "threads that use the store at once");
    line.whole("seed", o.seed, 0, 1000000000, "seed of all random choices");
    line.text("json", o.json, "FILE", "file for the result (default: standard output)");
    line.flag("attended", o.attended, "say @ready, @begin, @end, @drop, each time waiting for a line: ok");
}

static StoreOrder
orderOf(const Options &options, const Calls calls)
{
    StoreOrder order;
    order.kind = options.store;
    order.calls = calls;
    order.groups = options.groups;
    order.path = options.at;
    if (order.path.empty())
        throw BadRequest("--at is missing: where shall the " + order.kind + " be?");
    order.memory = options.memory << 20;
    order.threads = options.threads;
    order.hints = options.hints == "on";
    order.force = options.force;
    order.seed = options.seed;
    for (const auto &pair: options.options) {
        const auto equals = pair.find('=');
        if (equals == std::string::npos || !order.options.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second)
            throw BadRequest("--option " + pair + ": write NAME=VALUE, each name once");
    }
    if (order.kind != "clusterfs" && !order.options.empty())
        throw BadRequest("--option is for --store clusterfs");
    return order;
}

Bench::Bench(const Options &options, const Calls calls, const uint32_t objects, const uint64_t meanBytes, const uint64_t ownMemory):
    order_(orderOf(options, calls)),
    content_(order_.seed),
    attendant_(options.attended)
{
    order_.objects = objects;
    order_.meanBytes = meanBytes;
    order_.ownMemory = order_.kind == "files" ? ownMemory : 0;
    std::string error;
    store_ = openStore(order_, content_, [this] { return attendant_.dropCaches(); }, error);
    if (!store_)
        throw std::runtime_error(error);
}

void
Bench::ready()
{
    dropMemory(); // what making the store has left
    attendant_.ready(store_->memoryToCome());
}

/// runs work(0) to work(threads - 1) at once; throws what one of them threw
static void
runThreads(const unsigned threads, const std::function<void(unsigned)> &work)
{
    if (threads == 1)
        return work(0);
    std::vector<std::exception_ptr> troubles(threads);
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; ++i)
        all.emplace_back([&, i] {
        try {
            work(i);
        } catch (...) {
            troubles[i] = std::current_exception();
        }
    });
    for (auto &t: all)
        t.join();
    for (const auto &trouble: troubles) {
        if (trouble)
            std::rethrow_exception(trouble);
    }
}

void
Bench::phase(const std::string &name, const unsigned threads, const std::function<void(unsigned)> &work,
             const std::function<void(Json &)> &add)
{
    threads_ = std::max(threads_, threads);
    attendant_.begin(name);
    const auto cpu = Tools::cpuSeconds();
    const auto start = Tools::now();
    runThreads(threads, work);
    const auto seconds = Tools::secondsSince(start);
    const auto cpuOfWork = Tools::cpuSeconds() - cpu;
    std::string error;
    const auto syncStart = Tools::now();
    if (!store_->sync(error))
        throw std::runtime_error(error);
    const auto syncSeconds = Tools::secondsSince(syncStart);
    attendant_.end(name);
    Json json = {{"name", name}, {"seconds", seconds}, {"syncSeconds", syncSeconds}, {"cpuSeconds", cpuOfWork}};
    add(json);
    phases_.push_back(json);
}

void
Bench::dropMemory()
{
    std::string error;
    if (!store_->dropMemory(error))
        throw std::runtime_error(error);
}

bool
Bench::report(Json &json) const
{
    json["store"] = order_.kind;
    json["settings"] = {
        {"memory", order_.memory}, {"ownMemory", order_.ownMemory}, {"hints", order_.hints}, {"threads", threads_},
        {"seed", order_.seed}, {"objects", order_.objects}, {"meanBytes", order_.meanBytes}
    };
    json["phases"] = phases_;
    json["checks"] = {
        {"bodies", tally.checked.load()}, {"bad", tally.bad.load()}, {"missing", tally.missing.load()}, {"refused", tally.refused.load()}
    };
    json["storeFigures"] = store_->describe();
    return !tally.bad;
}

Outcome
Bench::create(const Item &item, const Hint &hint, LatencyHistogram &samples)
{
    const auto start = Tools::now();
    const auto outcome = store_->create(item, hint);
    samples.add(Tools::now() - start);
    tally.count(outcome, false);
    return outcome;
}

Outcome
Bench::read(const Item &item, const Hint &hint, LatencyHistogram &samples, uint32_t &version)
{
    const auto start = Tools::now();
    const auto outcome = store_->read(item, hint, version);
    // a look-up that finds nothing is no read
    if (outcome != Outcome::missing)
        samples.add(Tools::now() - start);
    tally.count(outcome, true);
    return outcome;
}

Outcome
Bench::remove(const uint32_t id, LatencyHistogram &samples)
{
    const auto start = Tools::now();
    const auto outcome = store_->remove(id);
    samples.add(Tools::now() - start);
    tally.count(outcome, false);
    return outcome;
}

} // namespace Papers

// SPDX-License-Identifier: GPL-2.0-or-later
/* Phases of an experiment. */

#include "Bench.h"

#include "EngineStore.h"
#include "FileStore.h"

#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace Papers {

std::unique_ptr<Store>
openStore(const StoreOrder &order, const Content &content, DropCaches dropCaches, std::string &error)
{
    if (order.kind == "engine")
        return EngineStore::Open(order, content, error);
    return FileStore::Open(order, content, std::move(dropCaches), error);
}

const std::vector<Rule> &
Bench::CommonRules()
{
    using Kind = Rule::Kind;
    static const std::vector<Rule> rules = {
        {"store", Kind::choice, "engine|files"},
        {"at", Kind::text, "where: a block device or image for the engine, an empty folder for files"},
        {"memory", Kind::number, "MB for objects: staging, read cache and locality, or memory cache and page cache", 64, 4, 1 << 20},
        {"engine", Kind::list, "an option of the engine, as in a cache_dir line"},
        {"hints", Kind::choice, "on|off"},
        {"force", Kind::flag, "format a device that holds something else"},
        {"threads", Kind::number, "that use the store at once", 1, 1, 256},
        {"seed", Kind::number, "of all that is random", 1, 0, 1000000000},
        {"json", Kind::text, "file for the result; standard output when not given"},
        {"attended", Kind::flag, "say @ready, @begin, @end, @drop, each time waiting for a line: ok"},
    };
    return rules;
}

static double
cpuSeconds()
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const struct timeval &t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

static StoreOrder
orderOf(const Options &options)
{
    StoreOrder order;
    order.kind = options.text("store");
    order.path = options.text("at");
    if (order.path.empty())
        throw UsageError("--at is missing: where shall the " + order.kind + " be?");
    order.memory = megabytes(options, "memory");
    order.threads = static_cast<unsigned>(options.number("threads"));
    order.hints = options.text("hints") == "on";
    order.force = options.flag("force");
    order.seed = options.number("seed");
    for (const auto &pair: options.list("engine")) {
        const auto equals = pair.find('=');
        if (equals == std::string::npos || !order.engine.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second)
            throw UsageError("--engine " + pair + ": write NAME=VALUE, each name once");
    }
    if (order.kind != "engine" && !order.engine.empty())
        throw UsageError("--engine is for --store engine");
    return order;
}

Bench::Bench(const Options &options, const uint32_t objects, const uint64_t meanBytes, const uint64_t ownMemory):
    order_(orderOf(options)),
    content_(order_.seed),
    attendant_(options.flag("attended"))
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
    const auto cpu = cpuSeconds();
    const auto start = Time::now();
    runThreads(threads, work);
    const auto seconds = secondsSince(start);
    const auto cpuOfWork = cpuSeconds() - cpu;
    std::string error;
    const auto syncStart = Time::now();
    if (!store_->sync(error))
        throw std::runtime_error(error);
    const auto syncSeconds = secondsSince(syncStart);
    attendant_.end(name);
    Json json;
    json.put("name", name);
    json.put("seconds", seconds);
    json.put("syncSeconds", syncSeconds);
    json.put("cpuSeconds", cpuOfWork);
    add(json);
    phases_.add(json);
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
    Json settings;
    settings.put("memory", order_.memory);
    settings.put("ownMemory", order_.ownMemory);
    settings.put("hints", order_.hints);
    settings.put("threads", threads_);
    settings.put("seed", order_.seed);
    settings.put("objects", uint64_t(order_.objects));
    settings.put("meanBytes", order_.meanBytes);
    json.put("store", order_.kind);
    json.put("settings", settings);
    json.put("phases", phases_);
    Json checks;
    checks.put("bodies", tally.checked.load());
    checks.put("bad", tally.bad.load());
    checks.put("missing", tally.missing.load());
    checks.put("refused", tally.refused.load());
    json.put("checks", checks);
    Json own;
    store_->describe(own);
    json.put("storeFigures", own);
    return !tally.bad;
}

Outcome
Bench::create(const Item &item, const Hint &hint, Samples &samples)
{
    const auto start = Time::now();
    const auto outcome = store_->create(item, hint);
    samples.addSince(start);
    tally.count(outcome, false);
    return outcome;
}

Outcome
Bench::read(const Item &item, const Hint &hint, Samples &samples, uint32_t &version)
{
    const auto start = Time::now();
    const auto outcome = store_->read(item, hint, version);
    // a look-up that finds nothing is no read
    if (outcome != Outcome::missing)
        samples.addSince(start);
    tally.count(outcome, true);
    return outcome;
}

Outcome
Bench::remove(const uint32_t id, Samples &samples)
{
    const auto start = Time::now();
    const auto outcome = store_->remove(id);
    samples.addSince(start);
    tally.count(outcome, false);
    return outcome;
}

} // namespace Papers

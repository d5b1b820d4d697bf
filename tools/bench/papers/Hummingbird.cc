// SPDX-License-Identifier: GPL-2.0-or-later
/* Hummingbird's tables 2, 3 and 5: a proxy's trace, request after request
 * without a pause. What is found is read, what is not is written. */

#include "Bench.h"
#include "Experiments.h"
#include "Generator.h"

#include "tools/base/Lru.h"

#include <atomic>
#include <mutex>

namespace Papers {
namespace {

constexpr size_t eventsPerIdle = 1000; ///< Hummingbird called its daemons that often

/// what one thread saw in one phase
struct Seen {
    LatencyHistogram reads; ///< of hits, those in the memory cache included
    LatencyHistogram writes;
    uint64_t hits = 0;
    uint64_t hitBytes = 0;
    uint64_t bytes = 0;
    uint64_t memoryHits = 0;
    uint64_t tooLarge = 0; ///< requests of objects that are not cached
    uint64_t joined = 0; ///< misses that another thread was storing already

    void add(const Seen &other) {
        reads.add(other.reads);
        writes.add(other.writes);
        hits += other.hits;
        hitBytes += other.hitBytes;
        bytes += other.bytes;
        memoryHits += other.memoryHits;
        tooLarge += other.tooLarge;
        joined += other.joined;
    }
};

/// The proxy that the paper's workload generators play.
class Proxy
{
public:
    Proxy(const Trace &trace, const uint64_t largest, const uint64_t memory, Bench &bench):
        trace_(trace),
        largest_(largest),
        bench_(bench),
        grouping_(trace.clients),
        versions_(trace.sizes.size()),
        busy_(trace.sizes.size()) {
        if (memory)
            memory_ = std::make_unique<Tools::LruCache>(memory, static_cast<uint32_t>(trace.sizes.size()));
    }

    /// takes the trace's requests [from, to), all threads together
    /// \param seen what each thread sees
    void phase(const std::string &name, size_t from, size_t to, std::vector<Seen> &seen);

private:
    void work(size_t to, Seen &);
    void handle(const Event &, const Hint &, Seen &);
    bool serve(const Item &, const Hint &, Seen &);
    void store(const Item &, const Hint &, Seen &);

    const Trace &trace_;
    const uint64_t largest_; ///< bytes, 0 = no limit
    Bench &bench_;
    std::unique_ptr<Tools::LruCache> memory_; ///< in front of the files; whoever limits our memory leaves its bytes out of the limit
    std::mutex mutex_; ///< for the next two
    Grouping grouping_;
    size_t next_ = 0;
    std::vector<std::atomic<uint32_t>> versions_;
    std::vector<std::atomic<bool>> busy_; ///< being stored
};

void
Proxy::phase(const std::string &name, const size_t from, const size_t to, std::vector<Seen> &seen)
{
    next_ = from;
    const auto threads = static_cast<unsigned>(seen.size());
    bench_.phase(name, threads, [&](const unsigned thread) { work(to, seen[thread]); }, [&](Json &json) {
        Seen all;
        for (const auto &s: seen)
            all.add(s);
        const auto requests = static_cast<double>(to - from);
        json["requests"] = to - from;
        json["bytes"] = all.bytes;
        json["hits"] = all.hits;
        json["hitBytes"] = all.hitBytes;
        json["hitRatio"] = requests > 0 ? static_cast<double>(all.hits) / requests : 0;
        json["memoryHits"] = all.memoryHits;
        json["tooLarge"] = all.tooLarge;
        json["joined"] = all.joined;
        json["fsRead"] = all.reads.summary();
        json["fsWrite"] = all.writes.summary();
    });
}

void
Proxy::work(const size_t to, Seen &seen)
{
    for (;;) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (next_ >= to)
            return;
        const auto number = next_++;
        const auto &event = trace_.events[number];
        const auto hint = grouping_.hintOf(event);
        lock.unlock();
        handle(event, hint, seen);
        if (number % eventsPerIdle == 0)
            bench_.store().idle();
    }
}

void
Proxy::handle(const Event &event, const Hint &hint, Seen &seen)
{
    Item item;
    item.id = event.object;
    item.size = trace_.sizes[item.id];
    item.version = versions_[item.id];
    seen.bytes += item.size;
    if (largest_ && item.size > largest_) {
        ++seen.tooLarge;
        return;
    }
    if (!event.stale && serve(item, hint, seen)) {
        ++seen.hits;
        seen.hitBytes += item.size;
        return;
    }
    if (busy_[item.id].exchange(true)) {
        ++seen.joined;
        return;
    }
    if (event.stale) {
        if (memory_)
            memory_->remove(item.id);
        (void)bench_.store().remove(item.id);
        item.version = ++versions_[item.id];
    }
    store(item, hint, seen);
    busy_[item.id] = false;
}

/// \returns whether it was a hit
bool
Proxy::serve(const Item &item, const Hint &hint, Seen &seen)
{
    const auto start = Tools::now();
    if (memory_ && memory_->find(item.id)) {
        seen.reads.add(Tools::now() - start);
        ++seen.memoryHits;
        return true;
    }
    uint32_t version = item.version;
    const auto outcome = bench_.read(item, hint, seen.reads, version);
    if (outcome != Outcome::done)
        return false;
    if (version < item.version || version > versions_[item.id])
        ++bench_.tally.bad; // right once, but replaced since
    if (memory_)
        memory_->add(item.id, item.size);
    return true;
}

void
Proxy::store(const Item &item, const Hint &hint, Seen &seen)
{
    if (bench_.create(item, hint, seen.writes) == Outcome::done && memory_)
        memory_->add(item.id, item.size);
}

void
declare(CommandLine &line, Options &o)
{
    line.text("trace", o.trace, "FILE", "read this trace (default: make one)");
    line.whole("requests", o.requests, 100, 50000000, "requests of the made trace");
    line.whole("clients", o.clients, 1, 1000000, "clients of the made trace");
    line.bytes("largest", o.largest, 0, Trace::maxBytes, "bytes of the largest object that is cached; 0 = all are cached");
    line.whole("memory-cache", o.memoryCache, 0, 100, "percent of the memory that the proxy takes from the page cache");
    line.whole("measure", o.measure, 1, 1000, "thousandths of the trace, at its end, in the measured phase");
    Bench::Declare(line, o);
}

bool
run(const Options &options, Json &json)
{
    const auto trace = givenTrace(options, [&] {
        ProxyModel model;
        model.requests = options.requests;
        model.clients = options.clients;
        return makeProxyTrace(model, options.seed);
    });
    const bool files = options.store == "files";
    const uint64_t ownMemory = files ? (options.memory << 20) * options.memoryCache / 100 : 0;
    Bench bench(options, Calls::hummingbird, static_cast<uint32_t>(trace.sizes.size()), trace.meanBytes(), ownMemory);
    Proxy proxy(trace, options.largest, ownMemory, bench);
    const auto end = trace.events.size();
    const auto begin = end - end * options.measure / 1000;
    std::vector<Seen> seenFilling(options.threads);
    std::vector<Seen> seen(options.threads);
    bench.ready();
    if (begin)
        proxy.phase("fill", 0, begin, seenFilling);
    proxy.phase("measure", begin, end, seen);
    auto workload = trace.describe();
    workload["largest"] = options.largest;
    json["workload"] = workload;
    return bench.report(json);
}

} // namespace

const Experiment hummingbirdExperiment = {"hummingbird", "a proxy's trace: Hummingbird's tables 2, 3 and 5", declare, run};

} // namespace Papers

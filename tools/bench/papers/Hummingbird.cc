// SPDX-License-Identifier: GPL-2.0-or-later
/* Hummingbird's tables 2, 3 and 5: a proxy's trace, request after request
 * without a pause. What is found is read, what is not is written. */

#include "Bench.h"
#include "Experiments.h"
#include "Generator.h"
#include "MemoryCache.h"

#include <atomic>
#include <mutex>

namespace Papers {
namespace {

constexpr size_t eventsPerIdle = 1000; ///< Hummingbird called its daemons that often

/// what one thread saw in one phase
struct Seen {
    Samples reads; ///< of hits, those in the memory cache included
    Samples writes;
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
            memory_ = std::make_unique<MemoryCache>(static_cast<uint32_t>(trace.sizes.size()), memory);
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
    std::unique_ptr<MemoryCache> memory_;
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
        json.put("requests", uint64_t(to - from));
        json.put("bytes", all.bytes);
        json.put("hits", all.hits);
        json.put("hitBytes", all.hitBytes);
        json.put("hitRatio", requests > 0 ? static_cast<double>(all.hits) / requests : 0);
        json.put("memoryHits", all.memoryHits);
        json.put("tooLarge", all.tooLarge);
        json.put("joined", all.joined);
        json.put("fsRead", all.reads.summary());
        json.put("fsWrite", all.writes.summary());
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
        Samples unused;
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
    const auto start = Time::now();
    if (memory_ && memory_->find(item.id)) {
        seen.reads.addSince(start);
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

std::vector<Rule>
rules()
{
    using Kind = Rule::Kind;
    return withCommon({
        {"trace", Kind::text, "a trace file; without, one is made"},
        {"requests", Kind::number, "of the made trace", 300000, 100, 50000000},
        {"clients", Kind::number, "of the made trace", 1000, 1, 1000000},
        {"largest", Kind::number, "bytes of an object that is cached; 0 = all are", 0, 0, Trace::maxBytes},
        {"memory-cache", Kind::number, "percent of the memory that the proxy takes from the page cache", 50, 0, 100},
        {"measure", Kind::number, "thousandths of the trace, at its end, that the measured phase takes", 1000, 1, 1000},
    });
}

bool
run(const Options &options, Json &json)
{
    const auto trace = givenTrace(options, [&] {
        ProxyModel model;
        model.requests = options.number("requests");
        model.clients = static_cast<uint32_t>(options.number("clients"));
        return makeProxyTrace(model, options.number("seed"));
    });
    const bool files = options.text("store") == "files";
    const uint64_t ownMemory = files ? megabytes(options, "memory") * options.number("memory-cache") / 100 : 0;
    Bench bench(options, static_cast<uint32_t>(trace.sizes.size()), trace.meanBytes(), ownMemory);
    Proxy proxy(trace, options.number("largest"), ownMemory, bench);
    const auto end = trace.events.size();
    const auto begin = end - end * options.number("measure") / 1000;
    std::vector<Seen> seenFilling(options.number("threads"));
    std::vector<Seen> seen(options.number("threads"));
    for (auto &s: seen) {
        s.reads.reserve((end - begin) / seen.size() + 1);
        s.writes.reserve((end - begin) / seen.size() + 1);
    }
    bench.ready();
    if (begin)
        proxy.phase("fill", 0, begin, seenFilling);
    proxy.phase("measure", begin, end, seen);
    Json workload;
    trace.describe(workload);
    workload.put("largest", options.number("largest"));
    json.put("workload", workload);
    return bench.report(json);
}

} // namespace

const Experiment hummingbirdExperiment = {"hummingbird", "a proxy's trace: Hummingbird's tables 2, 3 and 5", rules, run};

} // namespace Papers

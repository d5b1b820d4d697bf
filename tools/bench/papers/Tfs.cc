// SPDX-License-Identifier: GPL-2.0-or-later
/* TFS: a web server whose files are in the store, and are mostly read. */

#include "Bench.h"
#include "Experiments.h"
#include "Generator.h"

#include <mutex>

namespace Papers {
namespace {

/// The server: all its objects exist before the first request; a request whose
/// object was changed just before makes the store replace it.
class Server
{
public:
    Server(const Trace &trace, Bench &bench):
        trace_(trace),
        bench_(bench),
        grouping_(trace.clients),
        versions_(trace.sizes.size()) {}

    /// stores all objects, page by page
    void load();
    /// takes the trace's requests [from, to), all threads together
    /// \param reads, writes by thread
    void phase(const std::string &name, size_t from, size_t to, std::vector<LatencyHistogram> &reads, std::vector<LatencyHistogram> &writes);

private:
    void work(size_t to, LatencyHistogram &reads, LatencyHistogram &writes);
    void handle(const Event &, const Hint &, LatencyHistogram &reads, LatencyHistogram &writes);

    const Trace &trace_;
    Bench &bench_;
    std::mutex mutex_; ///< for what follows
    Grouping grouping_;
    std::vector<uint32_t> versions_;
    size_t next_ = 0;
    LatencyHistogram removes_;
};

void
Server::load()
{
    LatencyHistogram writes;
    bench_.phase("load", 1, [&](unsigned) {
        for (uint32_t id = 0; id < trace_.sizes.size(); ++id) {
            Item item;
            item.id = id;
            item.size = trace_.sizes[id];
            (void)bench_.create(item, Hint(), writes);
        }
    }, [&](Json &json) { json["fsWrite"] = writes.summary(); });
}

void
Server::phase(const std::string &name, const size_t from, const size_t to, std::vector<LatencyHistogram> &reads, std::vector<LatencyHistogram> &writes)
{
    next_ = from;
    const auto threads = static_cast<unsigned>(reads.size());
    bench_.phase(name, threads, [&](const unsigned t) { work(to, reads[t], writes[t]); }, [&](Json &json) {
        LatencyHistogram allReads;
        LatencyHistogram allWrites;
        for (const auto &r: reads)
            allReads.add(r);
        for (const auto &w: writes)
            allWrites.add(w);
        json["requests"] = to - from;
        json["fsRead"] = allReads.summary();
        json["fsWrite"] = allWrites.summary();
    });
}

void
Server::work(const size_t to, LatencyHistogram &reads, LatencyHistogram &writes)
{
    for (;;) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (next_ >= to)
            return;
        const auto &event = trace_.events[next_++];
        const auto hint = grouping_.hintOf(event);
        if (event.stale) {
            handle(event, hint, reads, writes); // rare: nobody reads meanwhile
            continue;
        }
        lock.unlock();
        handle(event, hint, reads, writes);
    }
}

void
Server::handle(const Event &event, const Hint &hint, LatencyHistogram &reads, LatencyHistogram &writes)
{
    Item item;
    item.id = event.object;
    item.size = trace_.sizes[item.id];
    if (event.stale) {
        (void)bench_.remove(item.id, removes_);
        item.version = ++versions_[item.id];
        (void)bench_.create(item, hint, writes);
    }
    uint32_t version = 0;
    const auto outcome = bench_.read(item, hint, reads, version);
    if (outcome == Outcome::missing)
        (void)bench_.create(item, hint, writes);
}

void
declare(CommandLine &line, Options &o)
{
    o.measure = 700;
    line.text("trace", o.trace, "FILE", "read this trace (default: make one)");
    line.whole("requests", o.requests, 100, 50000000, "requests of the made trace");
    line.whole("urls", o.urls, 100, 10000000, "URLs of the made trace");
    line.whole("measure", o.measure, 1, 1000, "thousandths of the trace, at its end, in the measured phase");
    Bench::Declare(line, o);
}

bool
run(const Options &options, Json &json)
{
    const auto trace = givenTrace(options, [&] {
        ServerModel model;
        model.requests = options.requests;
        model.urls = options.urls;
        return makeServerTrace(model, options.seed);
    });
    Bench bench(options, Calls::accelerator, static_cast<uint32_t>(trace.sizes.size()), trace.meanBytes());
    Server server(trace, bench);
    const auto end = trace.events.size();
    const auto begin = end - end * options.measure / 1000;
    std::vector<LatencyHistogram> unused(options.threads);
    std::vector<LatencyHistogram> reads(options.threads);
    std::vector<LatencyHistogram> writes(options.threads);
    bench.ready();
    server.load();
    bench.dropMemory();
    if (begin)
        server.phase("warm", 0, begin, unused, unused);
    server.phase("measure", begin, end, reads, writes);
    json["workload"] = trace.describe();
    return bench.report(json);
}

} // namespace

const Experiment tfsExperiment = {"tfs", "a web server's trace, mostly reads: TFS", declare, run};

} // namespace Papers

// SPDX-License-Identifier: GPL-2.0-or-later
/* CFS's tests: many small objects created, read, deleted; and a day of a proxy. */

#include "Bench.h"
#include "Experiments.h"
#include "Generator.h"

namespace Papers {
namespace {

constexpr uint32_t operationsPerPoint = 1000; ///< as in the paper's plots

Item
itemOf(const uint32_t id, const uint32_t size)
{
    Item item;
    item.id = id;
    item.size = size;
    return item;
}

/// runs one operation for each object, in order, in a phase of its own
void
inOrder(Bench &bench, const std::string &name, const uint32_t objects, const std::function<void(uint32_t, LatencyHistogram &)> &operation)
{
    LatencyHistogram times;
    auto points = Json::array(); // seconds of an operation, mean of those since the point before
    double total = 0;
    uint64_t count = 0;
    bench.phase(name, 1, [&](unsigned) {
        for (uint32_t id = 0; id < objects; ++id) {
            operation(id, times);
            if (((id + 1) % operationsPerPoint && id + 1 < objects) || times.count() == count)
                continue;
            points.push_back((times.total() - total) / 1e9 / static_cast<double>(times.count() - count));
            total = times.total();
            count = times.count();
        }
    }, [&](Json &json) {
        json["operations"] = times.count();
        json["operation"] = times.summary();
        json["points"] = points;
    });
}

void
declare(CommandLine &line, Options &o)
{
    o.objects = 50000;
    o.size = 1024;
    line.whole("objects", o.objects, 100, 50000000, "objects to create, read and delete");
    line.bytes("size", o.size, Content::headerBytes, 1 << 20, "bytes of each object");
    line.flag("cold", o.cold, "empty all caches before the reads");
    Bench::Declare(line, o);
}

bool
run(const Options &options, Json &json)
{
    const auto objects = options.objects;
    const auto size = options.size;
    if (options.threads != 1)
        throw BadRequest("this experiment has one thread, as the paper's");
    Bench bench(options, Calls::cfs, objects, size);
    bench.ready();
    inOrder(bench, "create", objects, [&](const uint32_t id, LatencyHistogram &samples) {
        (void)bench.create(itemOf(id, size), Hint(), samples);
    });
    if (options.cold)
        bench.dropMemory();
    inOrder(bench, "read", objects, [&](const uint32_t id, LatencyHistogram &samples) {
        uint32_t version = 0;
        (void)bench.read(itemOf(id, size), Hint(), samples, version);
    });
    inOrder(bench, "delete", objects, [&](const uint32_t id, LatencyHistogram &samples) { (void)bench.remove(id, samples); });
    json["workload"] = {{"operations", objects}, {"size", size}, {"cold", options.cold}};
    return bench.report(json);
}

/// the paper's trace driver: create what is not there, read what is, delete and
/// create again what was found out of date
class Day
{
public:
    Day(const Trace &trace, Bench &bench): trace_(trace), bench_(bench), grouping_(trace.clients), versions_(trace.sizes.size()) {}

    void run() {
        bench_.phase("trace", 1, [&](unsigned) {
            for (const auto &event: trace_.events)
                handle(event);
        }, [&](Json &json) {
            json["requests"] = trace_.events.size();
            json["hits"] = reads_.count();
            json["stale"] = deletes_.count();
            json["read"] = reads_.summary();
            json["create"] = creates_.summary();
            json["delete"] = deletes_.summary();
        });
    }

private:
    void handle(const Event &event) {
        auto item = itemOf(event.object, trace_.sizes[event.object]);
        item.version = versions_[item.id];
        const auto hint = grouping_.hintOf(event);
        uint32_t version = item.version;
        const auto outcome = bench_.read(item, hint, reads_, version);
        if (outcome == Outcome::done && version != item.version)
            ++bench_.tally.bad;
        if (outcome == Outcome::done && !event.stale)
            return;
        if (outcome == Outcome::done) {
            (void)bench_.remove(item.id, deletes_);
            item.version = ++versions_[item.id];
        }
        (void)bench_.create(item, hint, creates_);
        if (++handled_ % idleEvery == 0)
            bench_.store().idle();
    }

    static constexpr unsigned idleEvery = 1000;

    const Trace &trace_;
    Bench &bench_;
    Grouping grouping_;
    std::vector<uint32_t> versions_;
    LatencyHistogram reads_;
    LatencyHistogram creates_;
    LatencyHistogram deletes_;
    unsigned handled_ = 0;
};

void
declareDay(CommandLine &line, Options &o)
{
    o.requests = 18000;
    o.clients = 50;
    line.text("trace", o.trace, "FILE", "read this trace (default: make one)");
    line.whole("requests", o.requests, 100, 50000000, "requests of the made trace");
    line.whole("clients", o.clients, 1, 1000000, "clients of the made trace");
    line.whole("revisits", o.revisits, 0, 99, "percent of the made trace's visits that are of a page seen before");
    line.whole("stale", o.stale, 0, 100, "percent of the made trace's repeated requests whose object is out of date");
    Bench::Declare(line, o);
}

bool
runDay(const Options &options, Json &json)
{
    if (options.threads != 1)
        throw BadRequest("this experiment has one thread, as the paper's");
    const auto trace = givenTrace(options, [&] {
        ProxyModel model;
        model.requests = options.requests;
        model.clients = options.clients;
        model.revisit = static_cast<double>(options.revisits) / 100;
        model.stale = static_cast<double>(options.stale) / 100;
        return makeProxyTrace(model, options.seed);
    });
    Bench bench(options, Calls::cfs, static_cast<uint32_t>(trace.sizes.size()), trace.meanBytes());
    Day day(trace, bench);
    bench.ready();
    day.run();
    json["workload"] = trace.describe();
    return bench.report(json);
}

} // namespace

const Experiment cfsExperiment = {"cfs", "small objects created, read, deleted: CFS's microbenchmarks", declare, run};
const Experiment cfsDayExperiment = {"cfs-day", "a day of a proxy: CFS's trace of creates, reads and stale replacements", declareDay, runDay};

} // namespace Papers

// SPDX-License-Identifier: GPL-2.0-or-later
/* CFS's tests: many small objects created, read, deleted; and a day of a proxy. */

#include "Bench.h"
#include "Experiments.h"
#include "Generator.h"

namespace Papers {
namespace {

constexpr size_t operationsPerPoint = 1000; ///< as in the paper's plots

/// what a phase of one kind of operation adds to the result
void
describe(Json &json, const Samples &samples)
{
    json.put("operations", uint64_t(samples.count()));
    json.put("operation", samples.summary());
    if (samples.count())
        json.put("points", samples.means(operationsPerPoint));
}

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
inOrder(Bench &bench, const std::string &name, const uint32_t objects, const std::function<void(uint32_t, Samples &)> &operation)
{
    Samples samples;
    samples.reserve(objects);
    bench.phase(name, 1, [&](unsigned) {
        for (uint32_t id = 0; id < objects; ++id)
            operation(id, samples);
    }, [&](Json &json) { describe(json, samples); });
}

std::vector<Rule>
rules()
{
    using Kind = Rule::Kind;
    return withCommon({
        {"objects", Kind::number, "to create, read and delete", 50000, 100, 50000000},
        {"size", Kind::number, "bytes of each", 1024, Content::headerBytes, 1 << 20},
        {"cold", Kind::flag, "empty all caches before the reads"},
    });
}

bool
run(const Options &options, Json &json)
{
    const auto objects = static_cast<uint32_t>(options.number("objects"));
    const auto size = static_cast<uint32_t>(options.number("size"));
    if (options.number("threads") != 1)
        throw UsageError("this experiment has one thread, as the paper's");
    Bench bench(options, objects, size);
    bench.ready();
    inOrder(bench, "create", objects, [&](const uint32_t id, Samples &samples) {
        (void)bench.create(itemOf(id, size), Hint(), samples);
    });
    if (options.flag("cold"))
        bench.dropMemory();
    inOrder(bench, "read", objects, [&](const uint32_t id, Samples &samples) {
        uint32_t version = 0;
        (void)bench.read(itemOf(id, size), Hint(), samples, version);
    });
    inOrder(bench, "delete", objects, [&](const uint32_t id, Samples &samples) { (void)bench.remove(id, samples); });
    Json workload;
    workload.put("operations", uint64_t(objects));
    workload.put("size", uint64_t(size));
    workload.put("cold", options.flag("cold"));
    json.put("workload", workload);
    return bench.report(json);
}

/// the paper's trace driver: create what is not there, read what is, delete and
/// create again what was found out of date
class Day
{
public:
    Day(const Trace &trace, Bench &bench): trace_(trace), bench_(bench), grouping_(trace.clients), versions_(trace.sizes.size()) {
        for (auto *samples: {&reads_, &creates_, &deletes_})
            samples->reserve(trace.events.size());
    }

    void run() {
        bench_.phase("trace", 1, [&](unsigned) {
            for (const auto &event: trace_.events)
                handle(event);
        }, [&](Json &json) {
            json.put("requests", uint64_t(trace_.events.size()));
            json.put("hits", uint64_t(reads_.count()));
            json.put("stale", uint64_t(deletes_.count()));
            json.put("read", reads_.summary());
            json.put("create", creates_.summary());
            json.put("delete", deletes_.summary());
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
    Samples reads_;
    Samples creates_;
    Samples deletes_;
    unsigned handled_ = 0;
};

std::vector<Rule>
dayRules()
{
    using Kind = Rule::Kind;
    return withCommon({
        {"trace", Kind::text, "a trace file; without, one is made"},
        {"requests", Kind::number, "of the made trace", 18000, 100, 50000000},
        {"clients", Kind::number, "of the made trace", 50, 1, 1000000},
        {"revisits", Kind::number, "percent of the made trace's visits that are of a page seen before", 50, 0, 99},
        {"stale", Kind::number, "percent of the made trace's repeated requests whose object is out of date", 10, 0, 100},
    });
}

bool
runDay(const Options &options, Json &json)
{
    if (options.number("threads") != 1)
        throw UsageError("this experiment has one thread, as the paper's");
    const auto trace = givenTrace(options, [&] {
        ProxyModel model;
        model.requests = options.number("requests");
        model.clients = static_cast<uint32_t>(options.number("clients"));
        model.revisit = static_cast<double>(options.number("revisits")) / 100;
        model.stale = static_cast<double>(options.number("stale")) / 100;
        return makeProxyTrace(model, options.number("seed"));
    });
    Bench bench(options, static_cast<uint32_t>(trace.sizes.size()), trace.meanBytes());
    Day day(trace, bench);
    bench.ready();
    day.run();
    Json workload;
    trace.describe(workload);
    json.put("workload", workload);
    return bench.report(json);
}

} // namespace

const Experiment cfsExperiment = {"cfs", "small objects created, read, deleted: CFS's microbenchmarks", rules, run};
const Experiment cfsDayExperiment = {"cfs-day", "a day of a proxy: CFS's trace of creates, reads and stale replacements", dayRules, runDay};

} // namespace Papers

// SPDX-License-Identifier: GPL-2.0-or-later
/* Damelo's microbenchmarks: create, read and delete a set of objects, in order,
 * at random, or with a popular part. */

#include "Bench.h"
#include "Experiments.h"

#include "tools/base/Random.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace Papers {
namespace {

/// one of the paper's five orderings
struct Ordering {
    std::string name;
    bool random = true; ///< creates and deletes are in random order
    double popular = 0; ///< share of the objects; the rest of the requests' share goes to the others. 0 = none is
};

Ordering
orderingOf(const std::string &name)
{
    Ordering o;
    o.name = name;
    o.random = name != "sequential";
    o.popular = name == "zipf-1:8" ? 1.0 / 8 : name == "zipf-1:4" ? 1.0 / 4 : name == "zipf-3:8" ? 3.0 / 8 : 0;
    return o;
}

/// what each stage does, in order
struct Plan {
    std::vector<uint32_t> sizes;
    std::vector<uint32_t> creates;
    std::vector<uint32_t> reads;
    std::vector<uint32_t> deletes;
    uint32_t groups = 0;

    Hint hintOf(const uint32_t id) const {
        Hint hint;
        hint.group = static_cast<uint32_t>(uint64_t(id) * groups / sizes.size());
        return hint;
    }

    /// which groups have popular objects
    std::vector<bool> popularGroups(const Ordering &ordering) const {
        std::vector<bool> found(groups);
        for (uint32_t group = 0; group < groups; ++group)
            found[group] = group < ordering.popular * groups;
        return found;
    }
};

/// Objects are numbered in the order of their groups, so that the popular ones,
/// which come first, share groups.
Plan
makePlan(const Ordering &ordering, const uint32_t objects, const uint32_t largest, const uint32_t groups, const uint64_t seed)
{
    Tools::TwisterRandom random(seed);
    Plan plan;
    plan.groups = groups;
    for (uint32_t id = 0; id < objects; ++id) {
        plan.sizes.push_back(std::max<uint32_t>(Content::headerBytes, 1 + static_cast<uint32_t>(random.below(largest))));
        plan.creates.push_back(id);
    }
    plan.deletes = plan.reads = plan.creates;
    if (!ordering.random)
        return plan;
    random.shuffle(plan.creates);
    random.shuffle(plan.deletes);
    const auto popular = static_cast<uint32_t>(ordering.popular * objects);
    for (auto &id: plan.reads) {
        const bool toPopular = random.chance(1 - ordering.popular);
        if (!popular)
            id = static_cast<uint32_t>(random.below(objects));
        else
            id = static_cast<uint32_t>(toPopular ? random.below(popular) : popular + random.below(objects - popular));
    }
    return plan;
}

using Operation = std::function<void(uint32_t id, LatencyHistogram &)>;

/// the paper's figures 8 to 25: how long operations took, in the course of a stage
class Course
{
public:
    explicit Course(const size_t operations): operations_(std::max<size_t>(operations, 1)) {}

    void add(const size_t number, const Tools::Nanos took) {
        auto &point = points_[number * points_.size() / operations_];
        point.nanos += took;
        ++point.count;
    }

    /// seconds of an operation, the mean of each part of the stage
    Json points() const {
        auto json = Json::array();
        for (const auto &point: points_)
            json.push_back(point.count ? static_cast<double>(point.nanos) / 1e9 / static_cast<double>(point.count) : 0.0);
        return json;
    }

private:
    struct Point {
        std::atomic<uint64_t> nanos{0};
        std::atomic<uint64_t> count{0};
    };

    const size_t operations_;
    std::array<Point, 64> points_;
};

/// one operation for each object of a list, by all threads, in a phase of its own
void
stage(Bench &bench, const std::string &name, const unsigned threads, const std::vector<uint32_t> &ids, const Plan &plan, const Operation &operation)
{
    std::atomic<size_t> next{0};
    std::vector<LatencyHistogram> samples(threads);
    Course course(ids.size());
    bench.phase(name, threads, [&](const unsigned thread) {
        for (auto i = next++; i < ids.size(); i = next++) {
            const auto start = Tools::now();
            operation(ids[i], samples[thread]);
            course.add(i, Tools::now() - start);
        }
    }, [&](Json &json) {
        LatencyHistogram all;
        for (const auto &s: samples)
            all.add(s);
        uint64_t bytes = 0;
        for (const auto id: ids)
            bytes += plan.sizes[id];
        json["operations"] = all.count();
        json["bytes"] = bytes;
        json["operation"] = all.summary();
        json["points"] = course.points();
    });
}

void
declare(CommandLine &line, Options &o)
{
    o.objects = 131072;
    o.largest = 16384;
    line.choice("ordering", o.ordering, {"sequential", "random", "zipf-1:8", "zipf-1:4", "zipf-3:8"}, "order of the operations");
    line.whole("objects", o.objects, 64, 50000000, "objects to create, read and delete");
    line.whole("reads", o.reads, 0, 50000000, "number of reads; 0 = one for each object");
    line.bytes("largest", o.largest, 1024, 1 << 20, "bytes of the largest object; sizes are uniform from 1");
    line.whole("groups", o.groups, 1, 1000000, "groups of objects");
    Bench::Declare(line, o);
}

bool
run(const Options &options, Json &json)
{
    const auto objects = options.objects;
    const auto largest = options.largest;
    const auto groups = options.groups;
    const auto threads = options.threads;
    const auto ordering = orderingOf(options.ordering);
    auto plan = makePlan(ordering, objects, largest, groups, options.seed);
    if (options.reads && options.reads < objects)
        plan.reads.resize(options.reads);
    const auto itemOf = [&](const uint32_t id) {
        Item item;
        item.id = id;
        item.size = plan.sizes[id];
        return item;
    };
    Bench bench(options, Calls::damelo, objects, largest / 2);
    bench.ready();
    stage(bench, "create", threads, plan.creates, plan, [&](const uint32_t id, LatencyHistogram &samples) {
        (void)bench.create(itemOf(id), plan.hintOf(id), samples);
    });
    bench.dropMemory(); // no read is a hit left over from the creates
    if (ordering.popular > 0)
        bench.store().prefer(plan.popularGroups(ordering));
    stage(bench, "read", threads, plan.reads, plan, [&](const uint32_t id, LatencyHistogram &samples) {
        uint32_t version = 0;
        (void)bench.read(itemOf(id), plan.hintOf(id), samples, version);
    });
    stage(bench, "delete", threads, plan.deletes, plan, [&](const uint32_t id, LatencyHistogram &samples) { (void)bench.remove(id, samples); });
    json["workload"] = {
        {"ordering", ordering.name}, {"popularObjects", ordering.popular},
        {"popularRequests", ordering.popular > 0 ? 1 - ordering.popular : 0.0}, {"objects", objects},
        {"reads", plan.reads.size()}, {"largest", largest}, {"groups", groups}
    };
    return bench.report(json);
}

} // namespace

const Experiment dameloExperiment = {"damelo", "create, read, delete in five orderings: Damelo's microbenchmarks", declare, run};

} // namespace Papers

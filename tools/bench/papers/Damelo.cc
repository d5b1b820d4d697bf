// SPDX-License-Identifier: GPL-2.0-or-later
/* Damelo's microbenchmarks: create, read and delete a set of objects, in order,
 * at random, or with a popular part. */

#include "Bench.h"
#include "Experiments.h"
#include "Random.h"

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
};

/// Objects are numbered in the order of their groups, so that the popular ones,
/// which come first, share groups.
Plan
makePlan(const Ordering &ordering, const uint32_t objects, const uint32_t largest, const uint32_t groups, const uint64_t seed)
{
    Random random(seed);
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

using Operation = std::function<void(uint32_t id, Samples &)>;

/// one operation for each object of a list, by all threads, in a phase of its own
void
stage(Bench &bench, const std::string &name, const unsigned threads, const std::vector<uint32_t> &ids, const Operation &operation)
{
    std::atomic<size_t> next{0};
    std::vector<Samples> samples(threads);
    for (auto &s: samples)
        s.reserve(ids.size() / threads + 1);
    bench.phase(name, threads, [&](const unsigned thread) {
        for (auto i = next++; i < ids.size(); i = next++)
            operation(ids[i], samples[thread]);
    }, [&](Json &json) {
        Samples all;
        for (const auto &s: samples)
            all.add(s);
        json.put("operations", uint64_t(all.count()));
        json.put("operation", all.summary());
    });
}

std::vector<Rule>
rules()
{
    using Kind = Rule::Kind;
    return withCommon({
        {"ordering", Kind::choice, "sequential|random|zipf-1:8|zipf-1:4|zipf-3:8"},
        {"objects", Kind::number, "to create, read and delete", 131072, 64, 50000000},
        {"reads", Kind::number, "reads; 0 = as many as there are objects", 0, 0, 50000000},
        {"largest", Kind::number, "bytes; sizes are uniform from 1", 16384, 1024, 1 << 20},
        {"groups", Kind::number, "into which the objects are divided", 16, 1, 1000000},
    });
}

bool
run(const Options &options, Json &json)
{
    const auto objects = static_cast<uint32_t>(options.number("objects"));
    const auto largest = static_cast<uint32_t>(options.number("largest"));
    const auto groups = static_cast<uint32_t>(options.number("groups"));
    const auto threads = static_cast<unsigned>(options.number("threads"));
    const auto ordering = orderingOf(options.text("ordering"));
    auto plan = makePlan(ordering, objects, largest, groups, options.number("seed"));
    if (options.number("reads") && options.number("reads") < objects)
        plan.reads.resize(options.number("reads"));
    const auto itemOf = [&](const uint32_t id) {
        Item item;
        item.id = id;
        item.size = plan.sizes[id];
        return item;
    };
    Bench bench(options, objects, largest / 2);
    bench.ready();
    stage(bench, "create", threads, plan.creates, [&](const uint32_t id, Samples &samples) {
        (void)bench.create(itemOf(id), plan.hintOf(id), samples);
    });
    bench.dropMemory(); // no read is a hit left over from the creates
    stage(bench, "read", threads, plan.reads, [&](const uint32_t id, Samples &samples) {
        uint32_t version = 0;
        (void)bench.read(itemOf(id), plan.hintOf(id), samples, version);
    });
    stage(bench, "delete", threads, plan.deletes, [&](const uint32_t id, Samples &samples) { (void)bench.remove(id, samples); });
    Json workload;
    workload.put("ordering", ordering.name);
    workload.put("popularObjects", ordering.popular);
    workload.put("popularRequests", ordering.popular > 0 ? 1 - ordering.popular : 0.0);
    workload.put("objects", uint64_t(objects));
    workload.put("reads", uint64_t(plan.reads.size()));
    workload.put("largest", uint64_t(largest));
    workload.put("groups", uint64_t(groups));
    json.put("workload", workload);
    return bench.report(json);
}

} // namespace

const Experiment dameloExperiment = {"damelo", "create, read, delete in five orderings: Damelo's microbenchmarks", rules, run};

} // namespace Papers

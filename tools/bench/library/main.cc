// SPDX-License-Identifier: GPL-2.0-or-later
/* bench-library: the time of a read through the library, beside that of the engine itself. */

#include "clusterfs/clusterfs.hpp"
#include "lib/Name.h"
#include "tools/base/CommandLine.h"
#include "tools/base/LatencyHistogram.h"
#include "tools/base/Random.h"
#include "tools/bench/engine/DirectEngine.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace ClusterFs;
using Tools::LatencyHistogram;

namespace {

struct Plan {
    std::string path;
    uint64_t objects = 60000;
    uint64_t bytes = 13000; ///< of an object
    uint64_t hot = 1000; ///< objects that fit into memory
    uint64_t reads = 20000; ///< of each measurement from memory
};

std::string
nameOf(const uint64_t n)
{
    return "object " + std::to_string(n);
}

/// more objects than lie in a cluster: a read brings others of its cluster along
constexpr uint64_t apart = 101;

/// which objects are read
class Choice
{
public:
    /// each one once, far from the others, in an order that has nothing to do with their places
    static Choice Apart(const Plan &plan, const uint64_t first) {
        Choice c(plan.objects / apart);
        for (uint64_t i = 0; i < c.count(); ++i)
            c.numbers_[i] = i * apart + first;
        for (uint64_t i = c.count() - 1; i > 0; --i)
            std::swap(c.numbers_[i], c.numbers_[Tools::mix(i) % (i + 1)]);
        return c;
    }
    /// the hot ones, again and again
    static Choice Hot(const Plan &plan) {
        Choice c(plan.reads);
        for (uint64_t i = 0; i < c.count(); ++i)
            c.numbers_[i] = Tools::mix(i + 1) % plan.hot;
        return c;
    }

    uint64_t count() const { return numbers_.size(); }
    uint64_t operator [](const uint64_t i) const { return numbers_[i]; }

private:
    explicit Choice(const uint64_t count): numbers_(count) {}

    std::vector<uint64_t> numbers_;
};

void
show(const char *const what, const LatencyHistogram &times, const double seconds)
{
    printf("%-52s %9.1f %9.1f %9.1f %10.0f\n", what, static_cast<double>(times.percentile(0.5)) / 1e3, times.mean() / 1e3,
           static_cast<double>(times.percentile(0.99)) / 1e3, static_cast<double>(times.count()) / seconds);
    fflush(stdout);
}

/// measures one call after the other
/// \param call reads the object with that number, \returns whether it was there
void
measure(const char *const what, const Choice &chosen, const std::function<bool(uint64_t)> &call)
{
    LatencyHistogram times;
    const auto begin = Tools::now();
    for (uint64_t i = 0; i < chosen.count(); ++i) {
        const auto before = Tools::now();
        if (!call(chosen[i]))
            throw std::runtime_error(nameOf(chosen[i]) + " is not there");
        times.add(Tools::now() - before);
    }
    show(what, times, static_cast<double>(Tools::now() - begin) / 1e9);
}

/// several threads at a time
void
measureThreads(const char *const what, const unsigned count, const Choice &chosen, clusterfs::Store &store)
{
    std::vector<LatencyHistogram> times(count);
    std::vector<std::thread> threads;
    std::atomic<bool> missing{false};
    const auto begin = Tools::now();
    for (unsigned me = 0; me < count; ++me) {
        threads.emplace_back([&, me] {
            for (uint64_t i = me; i < chosen.count(); i += count) {
                const auto before = Tools::now();
                missing = !store.read(nameOf(chosen[i])) || missing;
                times[me].add(Tools::now() - before);
            }
        });
    }
    for (auto &thread: threads)
        thread.join();
    const auto seconds = static_cast<double>(Tools::now() - begin) / 1e9;
    if (missing)
        throw std::runtime_error("an object is not there");
    for (unsigned me = 1; me < count; ++me)
        times[0].add(times[me]);
    show(what, times[0], seconds);
}

/// many requests under way, from one thread
void
measureQueue(const char *const what, const unsigned depth, const Choice &chosen, clusterfs::Store &store)
{
    const auto count = chosen.count();
    clusterfs::Queue queue(store, depth);
    std::vector<Tools::Nanos> began(count);
    LatencyHistogram times;
    const auto begin = Tools::now();
    uint64_t sent = 0;
    while (times.count() < count) {
        for (; sent < count && sent - times.count() < depth; ++sent) {
            began[sent] = Tools::now();
            if (!queue.read(sent, nameOf(chosen[sent])))
                throw std::runtime_error("the queue is full");
        }
        const auto answer = queue.wait();
        if (!answer || !answer->object)
            throw std::runtime_error("an object is not there");
        times.add(Tools::now() - began[answer->tag]);
    }
    show(what, times, static_cast<double>(Tools::now() - begin) / 1e9);
}

void
fill(const Plan &plan)
{
    clusterfs::Store::format(plan.path, plan.objects * plan.bytes * 3 / 2 + (64 << 20));
    clusterfs::Store store({plan.path});
    std::string bytes(plan.bytes, 'x');
    for (uint64_t n = 0; n < plan.objects; ++n) {
        bytes.replace(0, 20, nameOf(n));
        store.write(nameOf(n), bytes);
    }
    store.close();
}

void
run(const Plan &plan)
{
    fill(plan);
    printf("%-52s %9s %9s %9s %10s\n", "microseconds of a read", "median", "mean", "p99", "reads/s");
    const auto hot = Choice::Hot(plan);
    {
        Bench::DirectEngine direct(plan.path);
        std::vector<char> buffer(plan.bytes + 100);
        const auto read = [&](const uint64_t n) {
            const auto name = nameOf(n);
            return direct.read(Library::digestOf(name.data(), name.size()), buffer);
        };
        measure("engine, from the disk", Choice::Apart(plan, 0), read);
        for (uint64_t n = 0; n < plan.hot; ++n)
            (void)read(n);
        measure("engine, from memory", hot, read);
    }
    clusterfs::Store store({plan.path});
    std::vector<char> buffer(plan.bytes);
    const auto read = [&store](const uint64_t n) { return store.read(nameOf(n)).has_value(); };
    const auto readInto = [&](const uint64_t n) {
        const auto name = nameOf(n);
        return clusterfs_read_into(store.get(), name.data(), name.size(), buffer.data(), buffer.size()) > 0;
    };
    measure("clusterfs_read, from the disk", Choice::Apart(plan, 0), read);
    measureQueue("clusterfs_submit, from the disk, 32 under way", 32, Choice::Apart(plan, apart / 2), store);
    for (uint64_t n = 0; n < plan.hot; ++n)
        (void)read(n);
    measure("clusterfs_read, from memory", hot, read);
    measure("clusterfs_read_into, from memory", hot, readInto);
    measureThreads("clusterfs_read, from memory, 4 threads", 4, hot, store);
    measureQueue("clusterfs_submit, from memory, 32 under way", 32, hot, store);
    store.close();
}

} // namespace

int
main(int argc, char **argv)
{
    Plan plan;
    Tools::CommandLine line("bench-library: measures reads through libclusterfs beside those of the engine alone, on a store that it makes.");
    line.text("path", plan.path, "PATH", "the file to be made, or a blank disk");
    line.whole("objects", plan.objects, 1000, 100000000, "objects in the store");
    line.bytes("bytes", plan.bytes, 100, 200000, "bytes of each");
    line.whole("hot", plan.hot, 1, 100000, "objects that are read from memory");
    try {
        if (!line.read(Tools::wordsOf(argc, argv)))
            return 0;
        if (plan.path.empty())
            throw std::runtime_error("--path=PATH is missing");
        run(plan);
        return 0;
    } catch (const std::exception &e) {
        std::cerr << "bench-library: " << e.what() << "\n";
        return 1;
    }
}

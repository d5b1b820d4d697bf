// SPDX-License-Identifier: GPL-2.0-or-later
/* simulate: the engine on a simulated disk and clock, driven by seeds. */

#include "test-suite/simulate/Exhaustive.h"
#include "test-suite/simulate/History.h"
#include "test-suite/simulate/World.h"

#include <cstdlib>
#include <iostream>
#include <malloc.h>
#include <string>

namespace {

struct Arguments {
    Simulate::Plan plan;
    uint64_t worlds = 1; ///< how many, with seeds in a row
    unsigned operations = 0; ///< if not 0, all histories of so many operations are played instead
    std::string first; ///< only those of these histories that begin so
    std::string history; ///< if not empty, this history is played instead
    bool valid = true;
};

bool
number(const char *text, uint64_t &value)
{
    char *end = nullptr;
    value = strtoull(text, &end, 10);
    return *text && !*end && *text != '-';
}

Arguments
parse(const int argc, char **argv)
{
    Arguments a;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        uint64_t value = 0;
        if (name == "--verbose")
            a.plan.verbose = true;
        else if (name == "--history" && i + 1 < argc)
            a.history = argv[++i];
        else if (name == "--first" && i + 1 < argc)
            a.first = argv[++i];
        else if (i + 1 >= argc || !number(argv[++i], value))
            a.valid = false;
        else if (name == "--seed")
            a.plan.seed = value;
        else if (name == "--cycles")
            a.plan.cycles = static_cast<unsigned>(value);
        else if (name == "--worlds")
            a.worlds = value;
        else if (name == "--exhaustive")
            a.operations = static_cast<unsigned>(value);
        else
            a.valid = false;
    }
    a.valid = a.valid && a.first.size() <= a.operations && a.first.find_first_not_of(Simulate::History::operations) == std::string::npos;
    return a;
}

void
print(const Simulate::Tally &t)
{
    std::cout << t.stores << " stores, " << t.reads << " reads, " << t.hits << " hits, " << t.removes << " deletes, "
              << t.headUpdates << " head updates, " << t.renames << " renames, " << t.evictions << " evictions, "
              << t.groupReads << " group reads, " << t.regrouped << " groups regrouped, " << t.faults << " faults, "
              << t.closes << " clean stops, " << t.kills << " kills, " << t.cuts << " power cuts, "
              << t.scans << " scans, " << t.reformats << " reformats, " << t.hangs << " hung requests, "
              << t.grown << " larger devices, with " << t.storesGrown << " of which the store was to grow, "
              << t.shrunk << " smaller ones, " << t.reconfigured << " changes of options, "
              << t.busyStarts << " starts in use, " << t.endedStarts << " of them ended, " << t.startHits << " hits and "
              << t.startRemoves << " deletes in them, " << t.infoUpdates << " updates of times, " << t.listed << " objects listed, "
              << t.sharedReads << " reads by another process, " << t.clockSteps << " steps of the clock, " << t.waits << " reads timed, "
              << t.chores << " chores, " << t.outages << " times without writes, "
              << t.readOnly << " runs that became read-only\n";
}

void
add(Simulate::Tally &sum, const Simulate::Tally &t)
{
    sum.stores += t.stores;
    sum.reads += t.reads;
    sum.hits += t.hits;
    sum.removes += t.removes;
    sum.headUpdates += t.headUpdates;
    sum.renames += t.renames;
    sum.kills += t.kills;
    sum.cuts += t.cuts;
    sum.closes += t.closes;
    sum.scans += t.scans;
    sum.faults += t.faults;
    sum.evictions += t.evictions;
    sum.groupReads += t.groupReads;
    sum.regrouped += t.regrouped;
    sum.reformats += t.reformats;
    sum.hangs += t.hangs;
    sum.grown += t.grown;
    sum.storesGrown += t.storesGrown;
    sum.shrunk += t.shrunk;
    sum.reconfigured += t.reconfigured;
    sum.busyStarts += t.busyStarts;
    sum.endedStarts += t.endedStarts;
    sum.startHits += t.startHits;
    sum.startRemoves += t.startRemoves;
    sum.infoUpdates += t.infoUpdates;
    sum.sharedReads += t.sharedReads;
    sum.listed += t.listed;
    sum.outages += t.outages;
    sum.readOnly += t.readOnly;
    sum.clockSteps += t.clockSteps;
    sum.waits += t.waits;
    sum.chores += t.chores;
}

/// \returns whether all went well
bool
playHistories(const Arguments &a)
{
    Simulate::Exhaustive exhaustive;
    if (a.history.empty())
        exhaustive.playAll(a.operations, a.first);
    else
        exhaustive.play(a.history);
    std::cout << exhaustive.starts() << " starts\n"
              << "exhaustive: " << exhaustive.histories() << " histories, " << exhaustive.crashes() << " crashes, "
              << exhaustive.failed() << " failed\n";
    return !exhaustive.failed();
}

/// \returns whether all went well
bool
playWorlds(const Arguments &a)
{
    Simulate::Tally sum;
    uint64_t passed = 0;
    uint64_t failed = 0;
    for (uint64_t i = 0; i < a.worlds; ++i) {
        auto plan = a.plan;
        plan.seed += i;
        try {
            Simulate::World world(plan);
            world.run();
            add(sum, world.tally());
            ++passed;
        } catch (const Simulate::Broken &e) {
            std::cerr << "BROKEN: " << e.what() << "\n  again: simulate --seed " << plan.seed
                      << " --cycles " << plan.cycles << " --verbose\n";
            ++failed;
        }
    }
    print(sum);
    std::cout << "simulate: " << passed << " passed, " << failed << " failed\n";
    return !failed;
}

} // namespace

int
main(int argc, char **argv)
{
    // devices in memory come and go: the memory of one is kept for the next, so that not each of its pages faults again
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
    const auto a = parse(argc, argv);
    if (!a.valid) {
        std::cerr << "usage: simulate [--seed N] [--worlds N] [--cycles N] [--verbose]\n"
                  "         runs that many worlds, from that seed on, of that many runs of the engine each\n"
                  "       simulate --exhaustive N [--first OPERATIONS]\n"
                  "         plays all histories of N operations (that begin so), each with all power cuts\n"
                  "       simulate --history OPERATIONS\n"
                  "         plays one of them; the letters: " << Simulate::History::operations << "\n";
        return 2;
    }
    const bool well = a.operations || !a.history.empty() ? playHistories(a) : playWorlds(a);
    return well ? 0 : 1;
}

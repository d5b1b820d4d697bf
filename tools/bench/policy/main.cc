// SPDX-License-Identifier: GPL-2.0-or-later
/* bench-policy: what the engine's policies do to hit ratio and disk reads, in
 * seconds instead of hours, with the engine's own code. */

#include "tools/base/CommandLine.h"
#include "tools/bench/policy/Run.h"

#include <cstdio>
#include <iostream>

using namespace PolicyBench;

namespace {

int
fail(const std::string &what)
{
    std::cerr << "bench-policy: " << what << std::endl;
    return 1;
}

double
percent(const uint64_t part, const uint64_t all)
{
    return all ? 100.0 * static_cast<double>(part) / static_cast<double>(all) : 0;
}

double
ratio(const uint64_t part, const uint64_t all)
{
    return all ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

double
megabytes(const uint64_t bytes)
{
    return static_cast<double>(bytes) / 1048576.0;
}

void
printReads(const Figures &f)
{
    for (size_t i = 0; i < partCount; ++i) {
        if (f.reads[i])
            printf("  reads a visit for %s: %.2f, with the group: %.2f\n", nameOf(static_cast<Part>(i)), ratio(f.reads[i], f.visits),
                   ratio(f.groupReads[i], f.visits));
    }
}

void
print(const char *phase, const Figures &f, const References &references)
{
    const auto &a = f.after.counters;
    const auto &b = f.before.counters;
    printf("%s: %llu visits, %llu requests, %.0f s\n", phase, static_cast<unsigned long long>(f.visits),
           static_cast<unsigned long long>(f.requests), f.seconds);
    printf("  hits of requests: %.1f %% (nothing ever dropped: %.1f %%); of bytes: %.1f %%\n", percent(f.hits, f.requests),
           percent(f.seenHits, f.requests), percent(f.hitBytes, f.bytes));
    printf("  over objects, with as many bytes:\n");
    for (const auto &line: references.lines())
        printf("    %-16s %5.1f %% of requests  %5.1f %% of bytes\n", line.name.c_str(), percent(line.hits, f.requests),
               percent(line.hitBytes, f.bytes));
    printf("  disk reads a visit: %.2f, of %.0f KB; useful share of what was read along: %.2f\n", ratio(f.deviceReads, f.visits),
           ratio(f.deviceReadBytes, f.deviceReads) / 1024, f.after.usefulness);
    printf("  of these ahead: %.2f, of %.1f objects; expected to be of use: %.2f\n", ratio(f.after.prefetches.reads - f.before.prefetches.reads, f.visits),
           ratio(f.after.prefetches.objects - f.before.prefetches.objects, f.after.prefetches.reads - f.before.prefetches.reads), f.after.usefulnessOfPrefetches);
    printReads(f);
    printf("  in the cache: %.1f MB in %llu objects; %llu clusters evicted\n", megabytes(f.after.liveBytes),
           static_cast<unsigned long long>(f.after.objects), static_cast<unsigned long long>(a.evictedClusters - b.evictedClusters));
    printf("  written for each byte stored: %.2f; relocated %.1f MB, of that regrouped %.1f MB; stores refused %llu\n",
           ratio(f.deviceWrittenBytes, a.storedBytes - b.storedBytes), megabytes(a.relocatedBytes - b.relocatedBytes),
           megabytes(a.regroupedBytes - b.regroupedBytes), static_cast<unsigned long long>(f.refused));
    fflush(stdout);
}

/// \returns whether it could be done, else the reason in error
bool
prepare(const Settings &settings, Run &run, std::string &error)
{
    const bool fill = settings.prepare == "fill";
    const auto workload = settings.visitsIn(fill ? "once" : "random", error);
    if (!workload)
        return false;
    const auto bytes = static_cast<double>(settings.cacheMb << 20) * (1 + settings.turns);
    print(settings.prepare.c_str(), run.visit(*workload, UINT64_MAX, fill ? UINT64_MAX : static_cast<uint64_t>(bytes)), run.references());
    run.stop();
    return run.start(false, error);
}

int
work(const Settings &settings)
{
    std::string error;
    const auto workload = settings.visitsIn("", error);
    if (!workload)
        return fail(error);
    const auto totals = workload->totals();
    printf("%llu pages, %llu objects, %.0f MB; cache %llu MB, staging=%u read-cache=%u locality=%u\n",
           static_cast<unsigned long long>(totals.pages), static_cast<unsigned long long>(totals.objects), megabytes(totals.bytes),
           static_cast<unsigned long long>(settings.cacheMb), settings.config.stagingMb, settings.config.readCacheMb,
           settings.config.localityMb);
    Run run(settings);
    if (!run.start(true, error) || (settings.prepare != "nothing" && !prepare(settings, run, error)))
        return fail(error);
    if (settings.warm)
        print("warm", run.visit(*workload, settings.warm), run.references());
    if (settings.restart) {
        run.stop();
        if (!run.start(false, error))
            return fail(error);
    }
    print("measured", run.visit(*workload, settings.visits), run.references());
    if (settings.show)
        run.show(*workload, settings.show);
    run.stop();
    return 0;
}

} // namespace

int
main(int argc, char **argv)
{
    Settings settings;
    try {
        return settings.read(Tools::wordsOf(argc, argv)) ? work(settings) : 0;
    } catch (const std::exception &e) {
        return fail(e.what());
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of statistics, as Squid shows it. Includes nothing of Squid: documents and unit tests use it, too. */

#include "fs/cluster/squid/SquidStatistics.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace ClusterFs {
namespace {

/// what a figure of the engine means in Squid
struct Meaning {
    const char *statistic;
    const char *meaning;
};

/* Calls of Store::Controller::find() for one GET: one in clientReplyContext::identifyStoreObject(), and again for the variant
 * when that found the marker of a Vary object. When a response comes, one in HttpStateData::haveParsedReplyHeaders(), two in
 * httpMaybeRemovePublic() (GET and HEAD), and one in StoreEntry::adjustVary() when it has Vary. Each asks all cache_dirs until
 * one has the object, unless store_table has it. */
const Meaning meanings[] = {
    {"lookups", "times that Squid has asked for an object. A hit takes 1, with `Vary` in the response 2, and none when the object is in "
     "`cache_mem`. A miss takes 4 as a rule, with `Vary` 5 or 6, because Squid asks again when the response comes. A page of the manager takes 1. "
     "So the share found is not the share of hits"},
};

const char *const squidSection = "squid";

uint64_t pagesOpened = 0; ///< see countOpenedPages()

template <auto Kind>
Statistic::Value
waitsFor(const Snapshot &s)
{
    return &(static_cast<const SquidSnapshot&>(s).waits.*Kind).times();
}

/* A wait begins when Squid makes the ClientHttpRequest, as the time %tr of access.log does. That of a miss ends when StoreEntry::swapOut()
 * calls createStoreIO(): that is when the first SM_PAGE_SIZE bytes of a response have come, or its end. That of a hit ends with the
 * first answer to store_client::fileRead(), which asks for SM_PAGE_SIZE bytes, too. */
const Statistic squidRows[] = {
    {squidSection, "pages opened", Statistic::Kind::counter, "", [](const Snapshot &) -> Statistic::Value { return pagesOpened; },
     "pages that clients of this Squid have opened, by what their requests say (`Sec-Fetch-Dest`; else `Accept` and the URL): the same number "
     "for each cache_dir. A forced reload (`no-cache`) does not count, nor does a page that only `cache_mem` has",
     "disk reads, divided by it, are the reads a page, which locality is to keep low: clusterfs-top(8)"},
    {squidSection, "wait for hits us", Statistic::Kind::gauge, "us", &waitsFor<&ClientWaits::hits>,
     "time from the end of a GET's header to the first 4 KB of an object that this cache_dir had: a hit, see "
     "[The waits of clients](metrics.md#the-waits-of-clients)"},
    {squidSection, "wait for misses us", Statistic::Kind::gauge, "us", &waitsFor<&ClientWaits::misses>,
     "time from the end of a GET's header to the first 4 KB of a response that this cache_dir began to store: a miss, see "
     "[The waits of clients](metrics.md#the-waits-of-clients)",
     "less `wait for hits us`, it is the time that a hit saves a client, and so tells the worth of a higher hit rate: of a larger disk, or of another `replacement`"},
};

/// a value as mgr:clusterfs shows it
std::string
valueText(const Statistic &row, const SquidSnapshot &snapshot)
{
    const auto value = row.value(snapshot);
    if (const auto whole = std::get_if<uint64_t>(&value))
        return std::to_string(*whole);
    const auto times = std::get<const Histogram *>(value);
    const auto mean = times->total() ? sumOf(times, snapshot) / times->total() : 0;
    char text[200];
    snprintf(text, sizeof(text), "p50 %" PRIu64 ", p90 %" PRIu64 ", p99 %" PRIu64 ", max %" PRIu64 ", mean %" PRIu64 ", count %" PRIu64,
             times->percentile(0.5), times->percentile(0.9), times->percentile(0.99), times->most(), mean, times->total());
    return text;
}

} // namespace
} // namespace ClusterFs

const std::vector<ClusterFs::Statistic> &
ClusterFs::squidStatistics()
{
    static const auto table = [] {
        auto rows = statistics();
        for (auto &row: rows) {
            for (const auto &known: meanings) {
                if (strcmp(row.name, known.statistic) == 0)
                    row.meaning = known.meaning;
            }
        }
        rows.insert(rows.end(), std::begin(squidRows), std::end(squidRows));
        return rows;
    }();
    return table;
}

uint64_t
ClusterFs::sumOf(const Histogram * const histogram, const SquidSnapshot &snapshot)
{
    for (const auto &op: snapshot.device.op) {
        if (&op.latency == histogram)
            return op.busyMicros;
    }
    for (const auto waits: {&snapshot.waits.hits, &snapshot.waits.misses}) {
        if (&waits->times() == histogram)
            return waits->sum();
    }
    return 0;
}

std::string
ClusterFs::squidReport(const SquidSnapshot &snapshot)
{
    constexpr size_t width = 28; // of names, as in the engine's report
    std::string lines = std::string("\n[") + squidSection + "]\n";
    for (const auto &row: squidRows) {
        auto name = std::string(row.name) + ':';
        name.resize(std::max(width, name.size()), ' ');
        lines += name + ' ' + valueText(row, snapshot) + '\n';
    }
    return lines;
}

void
ClusterFs::countOpenedPages(const uint64_t more)
{
    pagesOpened += more;
}

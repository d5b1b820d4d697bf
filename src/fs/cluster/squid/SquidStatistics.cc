// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of statistics, as Squid shows it. Includes nothing of Squid: documents and unit tests use it, too. */

#include "fs/cluster/squid/SquidStatistics.h"

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

uint64_t pagesOpened = 0; ///< see countOpenedPage()

const Statistic squidRows[] = {
    {squidSection, "pages opened", Statistic::Kind::counter, "", [](const Snapshot &) -> Statistic::Value { return pagesOpened; },
     "pages that clients of this Squid have opened, by what their requests say (`Sec-Fetch-Dest`; else `Accept` and the URL): the same number "
     "for each cache_dir. A forced reload (`no-cache`) does not count, nor does a page that only `cache_mem` has",
     "disk reads, divided by it, are the reads a page, which locality is to keep low: clusterfs-top(8)"},
};

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

std::string
ClusterFs::squidReport()
{
    std::string lines = std::string("\n[") + squidSection + "]\n";
    for (const auto &row: squidRows) {
        char line[80];
        snprintf(line, sizeof(line), "%-28s %" PRIu64 "\n", (std::string(row.name) + ':').c_str(), std::get<uint64_t>(row.value({})));
        lines += line;
    }
    return lines;
}

void
ClusterFs::countOpenedPage()
{
    ++pagesOpened;
}

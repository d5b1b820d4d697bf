// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of statistics, as Squid shows it. Includes nothing of Squid: documents and unit tests use it, too. */

#include "fs/cluster/squid/SquidStatistics.h"

#include <cstring>

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
        return rows;
    }();
    return table;
}

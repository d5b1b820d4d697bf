// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "enums.h"
#include "fs/cluster/squid/Convert.h"
#include "HttpReply.h"
#include "Store.h"

#include <algorithm>

namespace {

/// Squid's bit of a flag and the engine's
struct FlagPair {
    int squid;
    uint8_t engine;
};

// The others describe what one process is doing with an entry (KEY_PRIVATE,
// RELEASE_REQUEST, ENTRY_ABORTED, ...) and must not come back with the object.
const FlagPair FlagPairs[] = {
    {ENTRY_REVALIDATE_ALWAYS, ClusterFs::flagRevalidateAlways},
    {ENTRY_REVALIDATE_STALE, ClusterFs::flagRevalidateStale},
    {ENTRY_NEGCACHED, ClusterFs::flagNegative},
    {ENTRY_BAD_LENGTH, ClusterFs::flagBadLength},
};

} // namespace

ClusterFs::Key
ClusterFs::keyOf(const cache_key *key)
{
    assert(key);
    Key result;
    std::copy_n(key, result.bytes.size(), result.bytes.begin());
    return result;
}

ClusterFs::ObjectInfo
ClusterFs::infoOf(const StoreEntry &e)
{
    ObjectInfo info;
    info.timestamp = e.timestamp;
    info.expires = e.expires;
    info.lastModified = e.lastModified();
    // StoreEntry::lastModified() answers with the timestamp when there is no
    // such header. Stored like that, it would stay behind when the timestamp moves.
    if (const auto reply = e.hasFreshestReply()) {
        if (reply->last_modified < 0 && info.lastModified == info.timestamp)
            info.lastModified = -1;
    }
    for (const auto &pair: FlagPairs) {
        if (EBIT_TEST(e.flags, pair.squid))
            info.flags |= pair.engine;
    }
    return info;
}

bool
ClusterFs::sameBasics(const ObjectInfo &a, const ObjectInfo &b)
{
    return a.timestamp == b.timestamp &&
           a.expires == b.expires &&
           a.lastModified == b.lastModified &&
           (a.flags & flagsOfCaller) == (b.flags & flagsOfCaller);
}

bool
ClusterFs::isVaryMarker(const StoreEntry &e)
{
    const auto reply = e.hasFreshestReply();
    return reply && reply->content_type.cmp("x-squid-internal/vary") == 0; // StoreEntry::adjustVary()
}

void
ClusterFs::exportInfo(const ObjectInfo &info, StoreEntry &e)
{
    e.timestamp = static_cast<time_t>(info.timestamp);
    e.lastref = e.timestamp; // Squid calls StoreEntry::touch() next, which sets it to now
    e.expires = static_cast<time_t>(info.expires);
    e.lastModified(static_cast<time_t>(info.lastModified));
    e.swap_file_sz = info.size;
    e.refcount = 1; // the transaction that stored it
    for (const auto &pair: FlagPairs) {
        if (info.flags & pair.engine)
            EBIT_SET(e.flags, pair.squid);
        else
            EBIT_CLR(e.flags, pair.squid);
    }
    if (info.flags & flagDoubtful)
        EBIT_SET(e.flags, ENTRY_REVALIDATE_ALWAYS);
}

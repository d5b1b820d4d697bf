// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "enums.h"
#include "fs/cluster/squid/EntryWalk.h"
#include "globals.h"
#include "hash.h"
#include "Store.h"

#include <vector>

bool
ClusterFs::EntryWalk::next(const std::function<bool(StoreEntry &)> &chosen, uint64_t &released)
{
    unsigned seen = 0;
    for (auto left = sliceBuckets; left > 0 && seen < sliceEntries && bucket_ < store_hash_buckets; --left, ++bucket_) {
        std::vector<StoreEntry *> found; // a release changes the bucket, and no other entry
        for (auto link = hash_get_bucket(store_table, bucket_); link; link = link->next) {
            const auto e = static_cast<StoreEntry *>(link);
            ++seen;
            if (e->publicKey() && !EBIT_TEST(e->flags, ENTRY_SPECIAL) && chosen(*e))
                found.push_back(e);
        }
        for (const auto e: found) {
            e->release(true);
            ++released;
        }
    }
    return bucket_ < store_hash_buckets;
}

void
ClusterFs::DirRelease::go()
{
    if (walk_.next([this](const StoreEntry &e) { return e.hasDisk(dir_); }, released_))
        schedule(0);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Search */

#include "squid.h"
#include "enums.h"
#include "fs/cluster/squid/Convert.h"
#include "fs/cluster/squid/HandleTable.h"
#include "fs/cluster/squid/Search.h"
#include "fs/cluster/squid/SwapDir.h"
#include "globals.h"
#include "hash.h"
#include "SquidConfig.h"
#include "store/Controller.h"

StoreSearch *
ClusterFs::Search::Make()
{
    // The core's validation at a start is for entries that a start loads into
    // store_table. It would walk millions of our objects for nothing.
    if (StoreController::store_dirs_rebuilding)
        return nullptr;
    return new Search;
}

void
ClusterFs::Search::next(void (callback)(void *), void *cbdata)
{
    next();
    callback(cbdata);
}

bool
ClusterFs::Search::next()
{
    found_ = !done_ && findNext();
    if (!found_ && !done_)
        looks_ = maxLooks;
    return found_;
}

bool
ClusterFs::Search::findNext()
{
    const auto &dirs = ::Config.cacheSwap;
    for (const auto count = static_cast<size_t>(dirs.n_configured); dir_ < count; ++dir_, cursor_ = 0) {
        const auto dir = dynamic_cast<SwapDir*>(dirs.swapDirs[dir_].getRaw());
        ObjectInfo info;
        while (dir && dir->nextObject(cursor_, key_, info, looks_)) {
            if (hash_lookup(store_table, squidKey(key_)))
                continue; // the search over store_table has it
            fill(dir->index, info);
            return true;
        }
        if (!looks_)
            return false;
    }
    done_ = true;
    return false;
}

/// makes entry_ look like one that SwapDir::get() returns
void
ClusterFs::Search::fill(const int dirIndex, const ObjectInfo &info)
{
    entry_.key = key_.bytes.data();
    entry_.flags = 0;
    exportInfo(info, entry_);
    EBIT_SET(entry_.flags, ENTRY_VALIDATED);
    entry_.store_status = STORE_OK;
    entry_.attachToDisk(dirIndex, HandleTable::reserved, SWAPOUT_DONE);
}

bool
ClusterFs::SwapDir::lists() const
{
#if HAVE_FS_CLUSTER
    return config_.list;
#else
    return false;
#endif
}

bool
ClusterFs::SwapDir::nextObject(uint64_t &cursor, Key &key, ObjectInfo &info, unsigned &looks) const
{
    const auto forOthers = home_ && home_->owner(); // workers list what this process has for them
    return !forOthers && readable() && config_.list && store_->next(cursor, key, info, looks);
}

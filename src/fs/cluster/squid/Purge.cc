// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "enums.h"
#include "fs/cluster/squid/Convert.h"
#include "fs/cluster/squid/Purge.h"
#include "fs/cluster/squid/SwapDir.h"
#include "globals.h"
#include "hash.h"
#include "MemObject.h"
#include "Store.h"
#include "store/Controller.h"

#include <sstream>

namespace {

/// seconds between looks at a journal that is behind
const double JournalPause = 0.1;

} // namespace

bool
ClusterFs::Purge::Remove(const Key &key)
{
    auto had = false;
    SwapDir::ForEach([&](const SwapDir &dir) {
        ObjectInfo info;
        had = dir.peekObject(key, info) || had;
    });
    if (const auto e = static_cast<StoreEntry *>(hash_lookup(store_table, squidKey(key)))) {
        if (!e->publicKey() || EBIT_TEST(e->flags, ENTRY_SPECIAL))
            return false; // the key of a forged object
        had = true;
    }
    Store::Root().evictIfFound(squidKey(key));
    return had;
}

double
ClusterFs::Purge::work()
{
    return step_ == Step::disks ? search() : walk();
}

/// one slice of the entries in memory
double
ClusterFs::Purge::walk()
{
    const auto more = walk_.next([this](StoreEntry &e) {
        return e.mem_obj && e.mem_obj->hasUris() && choice_->matches(e.mem_obj->storeId());
    }, removed_);
    if (more)
        return 0;
    walk_ = EntryWalk();
    if (step_ == Step::memory)
        step_ = Step::disks;
    else
        finish();
    return 0;
}

/// one piece of the search through the cache_dirs
double
ClusterFs::Purge::search()
{
    if (!found_.empty())
        return removeFound();
    if (search_ && !search_->over())
        return search_->go();
    if (search_) {
        unread_ += search_->unread();
        const auto failure = search_->failure();
        search_.reset();
        if (!failure.empty()) {
            fail(failure);
            return 0;
        }
    }
    SwapDir *next = nullptr;
    size_t position = 0;
    SwapDir::ForEach([&](SwapDir &dir) {
        if (position++ == dir_)
            next = &dir;
    });
    if (!next) {
        step_ = Step::memoryAgain; // objects may have come to memory before the search found them
        return 0;
    }
    ++dir_;
    if (next->serving()) {
        search_ = std::make_unique<ClusterSearch>(*next, ClusterSearch::Follows::moves, turns_, [this](const ClusterSearch::Met &met) {
            if (choice_->matches(met.url))
                found_.push_back(met.key);
        });
    } else {
        skipped_ += "not searched: cache_dir " + std::string(next->path) + ", which is " + next->stateText() + "\n";
    }
    return 0;
}

/// removes some of the objects that were found
double
ClusterFs::Purge::removeFound()
{
    const auto &dir = search_->dir();
    if (unlooked_ >= removalsBetweenLooks && dir.started()) {
        if (dir.engine()->stats().deletesPending > maxPending)
            return JournalPause;
        unlooked_ = 0;
    }
    for (auto left = turnRemovals; left && !found_.empty(); --left) {
        const auto key = found_.back();
        found_.pop_back();
        ObjectInfo info;
        if (!dir.peekObject(key, info) || !Remove(key))
            continue;
        ++removed_;
        ++unlooked_;
    }
    return 0;
}

std::string
ClusterFs::Purge::describe() const
{
    std::ostringstream os;
    os << "job: purge " << choice_->text() << "\n"
       "objects removed: " << removed_ << "\n"
       "clusters unread: " << unread_ + (search_ ? search_->unread() : 0) << "\n" << skipped_;
    if (search_)
        os << "searching: " << search_->dir().path << "\n"
           "clusters searched: " << search_->clustersDone() << " of " << search_->clusters() << "\n";
    return os.str();
}

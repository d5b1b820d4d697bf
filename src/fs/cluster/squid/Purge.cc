// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "enums.h"
#include "fs/cluster/squid/Convert.h"
#include "fs/cluster/squid/ForWorkers.h"
#include "fs/cluster/squid/ObjectText.h"
#include "fs/cluster/squid/Purge.h"
#include "fs/cluster/squid/SwapDir.h"
#include "globals.h"
#include "hash.h"
#include "MemObject.h"
#include "Store.h"
#include "store/Controller.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace {

/// seconds between looks at removals that are behind
const double RemovalPause = 0.002;

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
    if (search_ && !search_->over()) {
        const auto pause = search_->go(lines_);
        take();
        return pause;
    }
    if (search_) {
        search_.reset();
        if (!failure_.empty() || !whole_) {
            fail(failure_.empty() ? "the search ended before its time" : failure_);
            return 0;
        }
    }
    searched_ = nullptr;
    size_t position = 0;
    SwapDir::ForEach([&](SwapDir &dir) {
        if (position++ == dir_)
            searched_ = &dir;
    });
    if (!searched_) {
        step_ = Step::memoryAgain; // objects may have come to memory before the search found them
        return 0;
    }
    ++dir_;
    if (searched_->serving()) {
        whole_ = false;
        search_ = searched_->ask(std::string(Question::search) + ' ' + choice_->spelled());
    } else {
        skipped_ += "not searched: cache_dir " + std::string(searched_->path) + ", which is " + searched_->stateText() + "\n";
    }
    return 0;
}

/// takes what the search has written, see FoundText
void
ClusterFs::Purge::take()
{
    size_t at = 0;
    for (auto end = lines_.find('\n'); end != std::string::npos; at = end + 1, end = lines_.find('\n', at)) {
        const auto colon = std::min(lines_.find(": ", at), end);
        const auto name = lines_.substr(at, colon - at);
        const auto value = colon < end ? lines_.substr(colon + 2, end - colon - 2) : std::string();
        if (const auto key = name == "found" ? keyIn(value) : std::nullopt)
            found_.push_back(*key);
        else if (name == "clusters searched")
            progress_ = value;
        else if (name == "clusters unread")
            unread_ += strtoull(value.c_str(), nullptr, 10);
        else if (name == "error")
            failure_ = value;
        else if (name == "end")
            whole_ = true;
    }
    lines_.erase(0, at);
}

/// removes some of the objects that were found
double
ClusterFs::Purge::removeFound()
{
    if (searched_->removalsAreBehind())
        return RemovalPause;
    for (auto left = turnRemovals; left && !found_.empty(); --left) {
        const auto key = found_.back();
        found_.pop_back();
        ObjectInfo info;
        if (searched_->peekObject(key, info) && Remove(key))
            ++removed_;
    }
    return 0;
}

std::string
ClusterFs::Purge::describe() const
{
    std::ostringstream os;
    os << "job: purge " << choice_->text() << "\n"
       "objects removed: " << removed_ << "\n"
       "clusters unread: " << unread_ << "\n" << skipped_;
    if (search_)
        os << "searching: " << searched_->path << "\n"
           "clusters searched: " << (progress_.empty() ? "0" : progress_) << "\n";
    return os.str();
}

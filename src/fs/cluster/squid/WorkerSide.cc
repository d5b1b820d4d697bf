// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/RemoteText.h"
#include "fs/cluster/squid/WorkerSide.h"

#include <sstream>

void
ClusterFs::WorkerSide::poll()
{
    store_.poll();
    noteOwner();
    noteClosing();
}

/// tells of an owner that has come
void
ClusterFs::WorkerSide::noteOwner()
{
    if (!store_.connected() || ownersSeen_ == store_.link().connections())
        return;
    ownersSeen_ = store_.link().connections();
    closingsSeen_ = store_.closings();
    ownerCame_();
}

/// lets go of what this worker has in use, when the owner was shut to be cleared
void
ClusterFs::WorkerSide::noteClosing()
{
    if (!store_.connected() || store_.closings() == closingsSeen_)
        return;
    closingsSeen_ = store_.closings();
    release_.emplace(index_);
}

std::string
ClusterFs::WorkerSide::stateText() const
{
    return store_.connected() ? std::string(store_.stateText()) + ", in another process" : "waits for the process that has the device";
}

std::unique_ptr<ClusterFs::PageText>
ClusterFs::WorkerSide::ask(const std::string &question)
{
    if (!store_.connected())
        return refusal("cache_dir " + path_ + ": " + stateText());
    if (question.size() > RemoteStore::maxHead)
        return refusal("the question is too long");
    return std::make_unique<RemoteText>(store_.ask(question), path_);
}

bool
ClusterFs::WorkerSide::removalsAreBehind() const
{
    constexpr size_t some = WorkerRow::length / 4; // with more than a row has, nobody finds anything
    return store_.link().removalsKept() > some;
}

std::string
ClusterFs::WorkerSide::report(const size_t comingIn) const
{
    std::ostringstream os;
    const auto &link = store_.link();
    os << "worker's lookups: " << store_.lookups() << "\n"
       "worker's found: " << store_.found() << "\n"
       "worker's objects coming in: " << comingIn << "\n"
       "worker's connections: " << link.connections() << "\n"
       "worker's wake-ups of the owner: " << link.wakeUps() << "\n"
       "worker's bytes kept for the owner: " << link.keptBytes() << "\n"
       "worker's removals lost: " << (link.removalsLost() ? "yes" : "no") << "\n";
    return os.str();
}

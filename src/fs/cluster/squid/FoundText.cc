// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/FoundText.h"
#include "fs/cluster/squid/SwapDir.h"

#include <utility>

namespace {

/// seconds between looks at a journal that is behind
const double JournalPause = 0.1;

} // namespace

bool ClusterFs::FoundText::running_ = false;

ClusterFs::FoundText::FoundText(SwapDir &dir, std::unique_ptr<UrlChoice> choice):
    dir_(dir),
    choice_(std::move(choice)),
    search_(dir, ClusterSearch::Follows::moves, turns_, [this](const ClusterSearch::Met &met) {
        if (!choice_->matches(met.url))
            return;
        lines_ += "found: " + met.key.hex() + "\n";
        ++unlooked_;
    })
{
    running_ = true;
}

double
ClusterFs::FoundText::work(std::string &text)
{
    if (journalIsBehind())
        return JournalPause;
    const auto done = search_.clustersDone();
    const auto pause = search_.go();
    text += std::exchange(lines_, std::string());
    if (search_.clustersDone() != done)
        text += "clusters searched: " + std::to_string(search_.clustersDone()) + " of " + std::to_string(search_.clusters()) + "\n";
    endWith(search_, text);
    return pause;
}

bool
ClusterFs::FoundText::journalIsBehind()
{
    if (unlooked_ < foundBetweenLooks || !dir_.started())
        return false;
    if (dir_.engine()->stats().deletesPending > maxPending)
        return true;
    unlooked_ = 0;
    return false;
}

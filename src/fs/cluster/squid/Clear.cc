// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/Clear.h"
#include "fs/cluster/squid/SwapDir.h"
#include "Store.h"

#include <sstream>

namespace {

/// seconds between looks at what the engine does
const double Pause = 0.1;

} // namespace

ClusterFs::Clear::Clear(SwapDir &dir):
    dir_(dir),
    starts_(dir.starts())
{
}

/// whether the engine is still the one that the job began with, and works
bool
ClusterFs::Clear::usable() const
{
    return dir_.started() && dir_.starts() == starts_ && dir_.engine()->state() == EngineState::serving;
}

double
ClusterFs::Clear::work()
{
    if (!usable()) {
        fail("cache_dir " + std::string(dir_.path) + " is " + dir_.stateText());
        return 0;
    }
    left_ = dir_.engine()->objectCount();
    switch (step_) {
    case Step::begin:
        before_ = left_;
        dir_.setClearing(true);
        step_ = Step::entries;
        return 0;

    case Step::entries:
        // not in memory, either, and those that are being stored are given up
        if (!walk_.next([this](const StoreEntry &e) { return e.hasDisk(dir_.index); }, released_))
            step_ = Step::objects;
        return 0;

    case Step::objects:
        return left_ ? Pause : await(Step::oldCheckpoint);

    case Step::oldCheckpoint: // it may have begun before the last object went
    case Step::checkpoint:
        const auto counters = dir_.engine()->stats().counters;
        if (counters.checkpointErrors > errors_)
            fail("no checkpoint could be written: objects may come back after a crash; try again");
        else if (counters.checkpoints == checkpoints_)
            return Pause;
        else if (step_ == Step::oldCheckpoint)
            return await(Step::checkpoint);
        else
            finish();
        return 0;
    }
    return 0;
}

/// asks for a checkpoint
double
ClusterFs::Clear::await(const Step next)
{
    const auto counters = dir_.engine()->stats().counters;
    checkpoints_ = counters.checkpoints;
    errors_ = counters.checkpointErrors;
    dir_.engine()->requestCheckpoint();
    step_ = next;
    return Pause;
}

void
ClusterFs::Clear::letGo()
{
    if (dir_.starts() == starts_)
        dir_.setClearing(false);
}

std::string
ClusterFs::Clear::describe() const
{
    std::ostringstream os;
    os << "job: clear " << dir_.path << "\n"
       "objects removed: " << before_ - std::min(before_, left_) << "\n"
       "objects left: " << left_ << "\n";
    return os.str();
}

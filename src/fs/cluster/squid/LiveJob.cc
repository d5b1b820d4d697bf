// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "base/TextException.h"
#include "fs/cluster/squid/LiveJob.h"
#include "fs/cluster/squid/SwapDir.h"
#include "globals.h"
#include "sbuf/SBuf.h"
#include "sbuf/Stream.h"
#include "store/Controller.h"
#include "time/gadgets.h"

#include <sstream>

namespace {

/// never destroyed at exit, when Squid's parts that a job needs are gone
ClusterFs::LiveJob *LatestJob = nullptr;

} // namespace

ClusterFs::LiveJob::LiveJob():
    begun_(squid_curtime)
{
}

ClusterFs::LiveJob *
ClusterFs::LiveJob::Latest()
{
    return LatestJob;
}

std::string
ClusterFs::LiveJob::Report()
{
    return LatestJob ? LatestJob->report() : "job: none\n";
}

std::string
ClusterFs::LiveJob::Stop()
{
    if (LatestJob)
        LatestJob->stop();
    return Report();
}

std::string
ClusterFs::LiveJob::Start(std::unique_ptr<LiveJob> job)
{
    if (LatestJob && !LatestJob->over())
        return busy;
    if (StoreController::store_dirs_rebuilding)
        return "Squid is still loading the index of a cache_dir: try again later";
    delete LatestJob;
    LatestJob = job.release();
    LatestJob->go(); // a clear takes effect before the next request
    return std::string();
}

void
ClusterFs::LiveJob::go()
{
    double pause = 0;
    try {
        const TurnMeter::Turn turn(turns_);
        if (shutting_down)
            end(State::stopped, "");
        else
            pause = work();
    } catch (...) {
        fail(ToSBuf(CurrentException).c_str());
    }
    if (!over())
        schedule(pause);
}

void
ClusterFs::LiveJob::stop()
{
    if (over())
        return;
    cancel();
    end(State::stopped, "");
}

void
ClusterFs::LiveJob::end(const State state, const std::string &why)
{
    state_ = state;
    why_ = why;
    ended_ = squid_curtime;
    letGo();
}

std::string
ClusterFs::LiveJob::report() const
{
    static const char * const names[] = {"running", "done", "stopped", "failed"};
    std::ostringstream os;
    os << describe() <<
       "state: " << names[static_cast<unsigned>(state_)] << "\n";
    if (!why_.empty())
        os << "reason: " << why_ << "\n";
    os << turns_.line() <<
       "begun: " << begun_ << "\n"
       "seconds: " << (over() ? ended_ : static_cast<int64_t>(squid_curtime)) - begun_ << "\n";
    return os.str();
}

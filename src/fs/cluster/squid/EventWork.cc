// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "base/CodeContext.h"
#include "event.h"
#include "fs/cluster/squid/EventWork.h"

#include <algorithm>

namespace {

/// The least time, in seconds, between two pieces. Squid goes over its events until none is due, and only then over its
/// connections: an event that schedules itself for now would hold up all requests to the end of the work.
const double LeastPause = 0.0001;

} // namespace

void
ClusterFs::EventWork::schedule(const double seconds)
{
    eventAdd("ClusterFs::EventWork::Go", &Go, this, std::max(seconds, LeastPause), 0, false);
}

void
ClusterFs::EventWork::cancel()
{
    if (eventFind(&Go, this))
        eventDelete(&Go, this);
}

void
ClusterFs::EventWork::Go(void * const self)
{
    CallService(nullptr, [self] {
        static_cast<EventWork *>(self)->go();
    });
}

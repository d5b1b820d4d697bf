// SPDX-License-Identifier: GPL-2.0-or-later
/* Work in small pieces, beside the requests. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_EVENTWORK_H
#define SQUID_SRC_FS_CLUSTER_SQUID_EVENTWORK_H

#include "fs/cluster/squid/TurnMeter.h"

namespace ClusterFs {

/// Work that Squid's events call piece by piece. Between two pieces, Squid looks at its connections.
class EventWork
{
public:
    virtual ~EventWork() = default;
    EventWork(EventWork &&) = delete; // no copying or moving of any kind

protected:
    EventWork() = default;

    /// does a piece, and schedules the next one; may delete this object
    virtual void go() = 0;

    /// calls go() after so many seconds, but not before Squid has looked at its connections
    void schedule(double seconds);

    /// takes back a schedule(), if there is one
    void cancel();

    TurnMeter turns_; ///< of what the work does to Squid's event loop

private:
    static void Go(void *self);
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts what comes to the disk and goes. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_DEVICE_TRAFFIC_H
#define CLUSTERFS_TOOLS_DISKMODEL_DEVICE_TRAFFIC_H

#include "tools/base/Json.h"
#include "tools/diskmodel/model/Request.h"

namespace DiskModel {

using namespace Tools;

/// Requests, bytes, and times as the host sees them.
class Traffic
{
public:
    /// begins to count anew; what is under way stays so
    void reset(Nanos now);

    void arrived(const Request &);
    void left(const Request &, Nanos now, bool failed);

    /// an event was served so much after its time
    void late(Nanos by);

    void report(Json &, Nanos now) const;

private:
    struct Kind {
        uint64_t count = 0;
        uint64_t bytes = 0;
        Nanos time = 0; ///< sum of the answered requests' times from arrival to answer
    };
    /// since the reset
    struct Counts {
        Kind kinds[4]; ///< by Op
        uint64_t errors = 0;
        Nanos busy = 0; ///< with anything under way
        double depthTime = 0; ///< nanoseconds times requests under way
        uint64_t maxUnderWay = 0;
        uint64_t events = 0; ///< timed ones
        uint64_t lateOverMilli = 0;
        Nanos lateSum = 0;
        Nanos lateMost = 0;
    };

    void pass(Counts &, Nanos now) const;

    Counts counts_;
    uint64_t underWay_ = 0;
    Nanos last_ = 0; ///< until when counts_.busy is right
    Nanos began_ = 0;
};

} // namespace DiskModel

#endif

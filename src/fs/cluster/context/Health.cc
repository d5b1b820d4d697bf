// SPDX-License-Identifier: GPL-2.0-or-later
/* The health of the device. */

#include "fs/cluster/context/Health.h"

#include "fs/cluster/base/Messages.h"

#include <algorithm>
#include <utility>

void
ClusterFs::Health::writeDone(const Status s, const Log &log, const bool cluster)
{
    if (s == Status::busy)
        return;
    if (s == Status::ok) {
        writeErrors_ = 0;
        clusterErrors_ = cluster ? 0 : clusterErrors_;
        return;
    }
    ++writeErrors_;
    clusterErrors_ += cluster;
    if (std::max(writeErrors_, clusterErrors_) >= maxWriteErrorsAnywhere)
        noMoreWrites(log);
    else if (writeErrors_ % maxWriteErrors == 0 && level == Level::good)
        writesSuspect = true;
}

void
ClusterFs::Health::writeProbed(const bool well, const Log &log)
{
    writesSuspect = false;
    if (!well)
        noMoreWrites(log);
    else
        sayBad(writeErrors_, "writes", log);
}

void
ClusterFs::Health::readDone(const Status s)
{
    if (s == Status::busy)
        return;
    if (s == Status::ok)
        readErrors_ = 0;
    else if (++readErrors_ >= maxReadErrors && level != Level::gone)
        suspect = true;
}

void
ClusterFs::Health::probed(const bool answers, const Log &log)
{
    suspect = false;
    const auto failed = std::exchange(readErrors_, 0);
    if (!answers) {
        level = Level::gone;
        say<Message::deviceGone>(log);
    } else if (failed >= maxReadErrors) {
        sayBad(failed, "reads", log);
    }
}

void
ClusterFs::Health::noMoreWrites(const Log &log)
{
    if (level != Level::good)
        return;
    level = Level::noWrites;
    suspect = true;
    say<Message::writesFailed>(log, std::max(writeErrors_, clusterErrors_));
}

void
ClusterFs::Health::sayBad(const unsigned failed, const char *const what, const Log &log)
{
    if (!std::exchange(saidBad_, true))
        say<Message::placesBad>(log, failed, what);
}

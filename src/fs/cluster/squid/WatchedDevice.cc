// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/WatchedDevice.h"

#include <algorithm>

ClusterFs::WatchedDevice::WatchedDevice(const Clock &clock, std::unique_ptr<AioDevice> disk, const unsigned depth):
    Device(clock, disk->size(), disk->alignment(), depth),
    disk_(std::move(disk))
{
}

void
ClusterFs::WatchedDevice::watch(Watch watch)
{
    watch_ = std::move(watch);
    for (const auto write: writes_) {
        if (watch_)
            watch_(write->io);
    }
}

bool
ClusterFs::WatchedDevice::start(Request * const request)
{
    if (request->io.op == IoOp::write) {
        writes_.push_back(request);
        if (watch_)
            watch_(request->io);
    }
    Io io;
    io.op = request->io.op;
    io.ioClass = request->io.ioClass;
    io.offset = request->io.offset;
    io.size = request->io.size;
    io.buffer = request->io.buffer;
    io.done = [this, request](const Status status) {
        end(request, status);
    };
    disk_->submit(std::move(io));
    return true;
}

void
ClusterFs::WatchedDevice::end(Request * const request, const Status status)
{
    if (request->io.op == IoOp::write)
        writes_.erase(std::find(writes_.begin(), writes_.end(), request));
    finish(request, status, status == Status::ok ? 0 : disk_->stats().lastErrno);
}

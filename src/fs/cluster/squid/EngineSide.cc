// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/engine/Open.h"
#include "fs/cluster/squid/EngineSide.h"
#include "fs/cluster/squid/SwapDir.h"

ClusterFs::Status
ClusterFs::EngineSide::Open(SwapDir &dir, const Config &config, const std::string &socket, const Clock &clock, const Log &log,
                            std::function<void()> poll, std::unique_ptr<EngineSide> &side, std::string &error)
{
    std::unique_ptr<EngineSide> opened(new EngineSide(dir, config, clock, std::move(poll)));
    AioDevice::OpenOptions options;
    options.path = dir.path;
    options.depth = config.depth;
    opened->device_ = AioDevice::Open(clock, options, log, error);
    if (!opened->device_)
        return Status::ioError;
    const auto status = openEngine(*opened->device_, clock, config, log, opened->engine_, error);
    if (status != Status::ok)
        return status;
    if (!socket.empty()) {
        opened->owner_ = Owner::Open(*opened->engine_, clock, socket, error, &opened->forWorkers_);
        if (!opened->owner_)
            return Status::busy;
        opened->workersLoop_.start(opened->owner_->fd());
    }
    side = std::move(opened);
    return Status::ok;
}

void
ClusterFs::EngineSide::poll()
{
    MemoryRoom room;
    if (memory_.look(clock_.micros(), room))
        engine_->noteMemory(room);
    engine_->poll();
    if (owner_)
        owner_->poll();
}

void
ClusterFs::EngineSide::configure(const Config &wanted)
{
    config_ = wanted;
    apply();
}

/// gives the engine the options that are live
void
ClusterFs::EngineSide::apply()
{
    auto config = config_;
    if (clearing_)
        config.clusterLifetime = config.persist = 1;
    engine_->reconfigure(config);
}

void
ClusterFs::EngineSide::setClearing(const bool clearing)
{
    clearing_ = clearing;
    if (owner_)
        owner_->shut(clearing);
    apply();
}

ClusterFs::Status
ClusterFs::EngineSide::close(const unsigned milliseconds)
{
    if (owner_)
        owner_->poll(); // what workers have said until now counts
    workersLoop_.stop();
    owner_ = nullptr;
    return engine_->close(milliseconds);
}

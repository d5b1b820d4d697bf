// SPDX-License-Identifier: GPL-2.0-or-later
/* The two rings and the two bells between the owner and one worker. */

#include "fs/cluster/sharing/Channel.h"

#include <utility>

bool
ClusterFs::Channel::make(std::string &error)
{
    mine_ = Bell::Make();
    others_ = Bell::Make();
    if (mine_.fd() < 0 || others_.fd() < 0) {
        error = "no file descriptor for a worker";
        return false;
    }
    if (!memory_.make("clusterfs-channel", memoryBytes, error))
        return false;
    in_.emplace(memory_.data(), toOwnerBytes);
    out_.emplace(memory_.data() + Ring::MemoryFor(toOwnerBytes), toWorkerBytes);
    return true;
}

bool
ClusterFs::Channel::join(Descriptor memory, Descriptor ownersBell, Descriptor workersBell, std::string &error)
{
    if (!memory_.map(std::move(memory), memoryBytes, SharedMemory::Access::write, error))
        return false;
    mine_ = Bell(std::move(workersBell));
    others_ = Bell(std::move(ownersBell));
    out_.emplace(memory_.data(), toOwnerBytes);
    in_.emplace(memory_.data() + Ring::MemoryFor(toOwnerBytes), toWorkerBytes);
    return true;
}

void
ClusterFs::Channel::ring()
{
    ++wakeUps_;
    others_.ring();
}

void
ClusterFs::Channel::publish(const uint32_t kind, const uint32_t bytes, const bool quiet)
{
    if (out_->publish(kind, bytes, quiet))
        ring();
}

void
ClusterFs::Channel::release()
{
    if (in_->release())
        ring();
}

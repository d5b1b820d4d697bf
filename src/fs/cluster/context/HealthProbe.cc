// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out whether a device whose requests fail is dead. */

#include "fs/cluster/context/HealthProbe.h"

#include "fs/cluster/layout/Superblock.h"

#include <cstring>
#include <utility>

ClusterFs::HealthProbe::HealthProbe(StoreContext &context):
    context_(context),
    io_(context, superblockBytes, IoClass::urgent)
{
}

void
ClusterFs::HealthProbe::poll()
{
    if (io_.busy())
        return;
    if (context_.health.writesSuspect)
        write();
    else if (context_.health.suspect)
        read(0);
}

void
ClusterFs::HealthProbe::write()
{
    memset(io_.data(), 0, superblockBytes);
    submit(IoOp::write, probeOffset, [this](const Status status) {
        context_.health.writeProbed(status == Status::ok, context_.log);
    });
}

void
ClusterFs::HealthProbe::read(const unsigned copy)
{
    submit(IoOp::read, superblockOffset(copy), [this, copy](const Status status) {
        if (status != Status::ok && copy == 0)
            read(1);
        else
            context_.health.probed(status == Status::ok, context_.log);
    });
}

void
ClusterFs::HealthProbe::submit(const IoOp op, const uint64_t offset, std::function<void(Status)> then)
{
    io_.submit(op, offset, superblockBytes, [then = std::move(then)](const Status status) {
        if (status != Status::busy) // if it was, the next poll() asks again
            then(status);
    });
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out whether a device whose requests fail is dead. */

#include "fs/cluster/context/HealthProbe.h"

#include "fs/cluster/layout/Superblock.h"

#include <memory>

void
ClusterFs::HealthProbe::poll()
{
    if (busy_)
        return;
    if (context_.health.writesSuspect)
        write();
    else if (context_.health.suspect)
        read(0);
}

void
ClusterFs::HealthProbe::write()
{
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
    const auto buffer = std::make_shared<Buffer>(superblockBytes);
    memset(buffer->data(), 0, superblockBytes);
    Io io;
    io.op = op;
    io.ioClass = IoClass::urgent;
    io.offset = offset;
    io.size = superblockBytes;
    io.buffer = buffer->data();
    const auto alive = context_.alive;
    io.done = [this, alive, buffer, then = std::move(then)](const Status status) {
        if (!*alive)
            return;
        busy_ = false;
        if (status != Status::busy) // if it was, the next poll() asks again
            then(status);
    };
    busy_ = true;
    context_.device.submit(std::move(io));
}

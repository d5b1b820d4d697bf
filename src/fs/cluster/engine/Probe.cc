// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a device that fails is dead. */

#include "fs/cluster/engine/Probe.h"

#include "fs/cluster/recovery/SuperblockFile.h"

#include <memory>

void
ClusterFs::Probe::poll()
{
    if (busy_)
        return;
    if (shared_.health.writesSuspect)
        write();
    else if (shared_.health.suspect)
        read(0);
}

void
ClusterFs::Probe::write()
{
    submit(IoOp::write, probeOffset, [this](const Status status) {
        shared_.health.writeProbed(status == Status::ok, shared_.log);
    });
}

void
ClusterFs::Probe::read(const unsigned copy)
{
    submit(IoOp::read, superblockOffset(copy), [this, copy](const Status status) {
        if (status != Status::ok && copy == 0)
            read(1);
        else
            shared_.health.probed(status == Status::ok, shared_.log);
    });
}

void
ClusterFs::Probe::submit(const IoOp op, const uint64_t offset, std::function<void(Status)> then)
{
    const auto buffer = std::make_shared<Buffer>(superblockBytes);
    memset(buffer->data(), 0, superblockBytes);
    Io io;
    io.op = op;
    io.ioClass = IoClass::urgent;
    io.offset = offset;
    io.size = superblockBytes;
    io.buffer = buffer->data();
    const auto alive = shared_.alive;
    io.done = [this, alive, buffer, then](const Status status) {
        if (!*alive)
            return;
        busy_ = false;
        if (status != Status::busy) // else asked again by the next poll()
            then(status);
    };
    busy_ = true;
    shared_.device.submit(std::move(io));
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a device that fails is dead. */

#include "fs/cluster/engine/Probe.h"

#include "fs/cluster/recovery/SuperblockFile.h"

void
ClusterFs::Probe::poll()
{
    if (!shared_.health.suspect || reading_)
        return;
    reading_ = true;
    read(0);
}

void
ClusterFs::Probe::read(const unsigned copy)
{
    const auto buffer = std::make_shared<Buffer>(superblockBytes);
    Io io;
    io.op = IoOp::read;
    io.ioClass = IoClass::urgent;
    io.offset = superblockOffset(copy);
    io.size = superblockBytes;
    io.buffer = buffer->data();
    const auto alive = shared_.alive;
    io.done = [this, alive, buffer, copy](const Status status) {
        if (!*alive)
            return;
        if (status != Status::ok && copy == 0) {
            read(1);
            return;
        }
        reading_ = false;
        shared_.health.probed(status == Status::ok, shared_.log);
    };
    shared_.device.submit(std::move(io));
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* One request at a time. */

#include "fs/cluster/context/SingleIo.h"

#include <cassert>

ClusterFs::SingleIo::SingleIo(StoreContext &context, const size_t bytes, const IoClass ioClass):
    context_(context),
    class_(ioClass),
    buffer_(std::make_shared<Buffer>(bytes))
{
}

void
ClusterFs::SingleIo::submit(const IoOp op, const uint64_t offset, const uint32_t size, std::function<void(Status)> done)
{
    assert(!busy_);
    Io io;
    io.op = op;
    io.ioClass = class_;
    io.offset = offset;
    io.size = size;
    io.buffer = buffer_->data();
    const auto alive = context_.alive;
    const auto buffer = buffer_; // stays until the device is done with it
    io.done = [this, alive, buffer, done = std::move(done)](const Status status) {
        if (!*alive)
            return;
        busy_ = false;
        done(status);
    };
    busy_ = true;
    context_.device.submit(std::move(io));
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the superblock. */

#include "fs/cluster/recovery/SuperblockFile.h"

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Messages.h"

#include <algorithm>
#include <memory>

namespace ClusterFs {
namespace {
constexpr unsigned stepMilliseconds = 50; ///< longest wait until the next look at the clock
constexpr unsigned superblockMilliseconds = 30000; ///< to wait for each read
} // namespace
} // namespace ClusterFs

ClusterFs::Status
ClusterFs::doAndWait(Device &device, const IoOp op, const uint64_t offset, const BufferPointer &buffer, const uint32_t size, const unsigned maxMilliseconds)
{
    struct Answer {
        bool here = false;
        Status status = Status::busy;
    };
    const auto answer = std::make_shared<Answer>();
    Io io;
    io.op = op;
    io.offset = offset;
    io.buffer = buffer ? buffer->data() : nullptr;
    io.size = size;
    io.done = [answer, buffer](const Status s) {
        answer->here = true;
        answer->status = s;
    };
    device.submit(std::move(io));
    const auto deadline = device.clock().micros() + uint64_t(maxMilliseconds) * 1000;
    for (;;) {
        device.poll();
        if (answer->here)
            return answer->status;
        const auto now = device.clock().micros();
        if (now >= deadline)
            return Status::ioError;
        device.wait(static_cast<unsigned>(std::min<uint64_t>(stepMilliseconds, (deadline - now + 999) / 1000)));
    }
}

bool
ClusterFs::blocksSuit(const Device &device, std::string &error)
{
    if (device.alignment() <= superblockBytes)
        return true;
    error = messageText<Message::blocksTooLarge>(device.alignment(), superblockBytes);
    return false;
}

ClusterFs::Status
ClusterFs::readSuperblock(Device &device, Superblock &superblock, std::string &error)
{
    if (!blocksSuit(device, error))
        return Status::unsupported;
    auto best = Status::notOurs;
    bool found = false;
    error = messageText<Message::noSuperblock>();
    const auto buffer = std::make_shared<Buffer>(superblockBytes);
    for (uint64_t copy = 0; copy < 2; ++copy) {
        if (superblockOffset(copy) + superblockBytes > device.size())
            continue;
        auto status = doAndWait(device, IoOp::read, superblockOffset(copy), buffer, superblockBytes, superblockMilliseconds);
        Superblock candidate;
        auto why = messageText<Message::superblockUnread>();
        if (status == Status::ok)
            status = candidate.decode(buffer->data(), why);
        if (status == Status::ok && candidate.geometry.deviceBytes > device.size()) {
            status = Status::unsupported;
            why = messageText<Message::deviceTooSmall>(candidate.geometry.deviceBytes, device.size());
        }
        if (status == Status::ok) {
            if (!found || candidate.update > superblock.update)
                superblock = candidate;
            found = true;
        } else if (best == Status::notOurs || (best == Status::corrupt && status == Status::unsupported)) {
            // a whole copy says more than a torn one
            best = status;
            error = why;
        }
    }
    if (found)
        error.clear();
    return found ? Status::ok : best;
}

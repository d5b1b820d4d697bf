// SPDX-License-Identifier: GPL-2.0-or-later
/* A device in memory, for tests and simulation. */

#include "tools/models/MemoryDevice.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace ClusterFs {

MemoryDevice::MemoryDevice(const Clock &clock, const uint64_t size, const uint32_t alignment, const unsigned depth):
    Device(clock, size - size % std::max(alignment, 1U), alignment, depth)
{
    const auto length = std::max<uint64_t>(this->size(), 1);
    auto *const memory = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), "cannot map a memory device of " + std::to_string(length) + " bytes");
    data_ = static_cast<char *>(memory);
}

MemoryDevice::~MemoryDevice()
{
    for (auto *request: started_)
        delete request;
    munmap(data_, std::max<uint64_t>(size(), 1));
}

bool
MemoryDevice::start(Request *const request)
{
    started_.push_back(request);
    return true;
}

void
MemoryDevice::reap()
{
    std::vector<Request *> started;
    started.swap(started_);
    for (auto *request: started) {
        carryOut(request->io);
        finish(request, Status::ok, 0);
    }
}

void
MemoryDevice::carryOut(const Io &io)
{
    switch (io.op) {
    case IoOp::read:
        memcpy(io.buffer, data_ + io.offset, io.size);
        break;
    case IoOp::write:
        memcpy(data_ + io.offset, io.buffer, io.size);
        break;
    case IoOp::flush:
        break;
    }
}

} // namespace ClusterFs

// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests to a disk by Linux native AIO. Opening is in AioOpen.cc. */

#include "fs/cluster/device/AioDevice.h"

#include "fs/cluster/base/Messages.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ClusterFs {

AioDevice::AioDevice(const Clock &clock, const Opened &opened, const unsigned depth):
    Device(clock, opened.size, opened.alignment, std::min(depth, maxDepth)),
    fd_(opened.fd),
    direct_(opened.direct)
{
}

AioDevice::~AioDevice()
{
    if (context_) {
        // the kernel must not write to buffers that the owner is about to free
        while (free_.size() < operations_.size()) {
            if (!collect(static_cast<long>(operations_.size() - free_.size())))
                break; // io_destroy() waits as well
        }
        io_destroy(context_);
    }
    if (event_ >= 0)
        close(event_);
    close(fd_); // ends the locks, too
}

/// creates the eventfd and the kernel's AIO context
/// \returns false on errors
bool
AioDevice::setUp(const OpenOptions &options, const Log &log, std::string &error)
{
    event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_ < 0) {
        error = options.path + ": cannot create an eventfd: " + strerror(errno);
        return false;
    }

    const int result = io_setup(static_cast<int>(maxDepth), &context_);
    if (result == 0) {
        operations_.resize(maxDepth);
        for (auto &operation: operations_)
            free_.push_back(&operation);
        return true;
    }

    context_ = nullptr;
    if (log) {
        const std::string why = result == -EAGAIN ?
                                "the system's limit of AIO requests is used up; raise fs.aio-max-nr with sysctl" :
                                strerror(-result);
        say<Message::notAsynchronous>(log, options.path, why);
    }
    return true;
}

void
AioDevice::prepare(Operation &operation, Request &request) const
{
    auto &control = operation.control;
    const auto &io = request.io;
    const auto offset = static_cast<long long>(io.offset);
    if (io.op == IoOp::read)
        io_prep_pread(&control, fd_, io.buffer, io.size, offset);
    else if (io.op == IoOp::write)
        io_prep_pwrite(&control, fd_, io.buffer, io.size, offset);
    else
        io_prep_fdsync(&control, fd_);
    io_set_eventfd(&control, event_);
    control.data = &operation;
    operation.request = &request;
}

bool
AioDevice::start(Request *const request)
{
    if (!context_) {
        runNow(request, 0);
        return true;
    }

    if (free_.empty())
        return false;

    auto *const operation = free_.back();
    prepare(*operation, *request);
    auto *control = &operation->control;
    const int result = io_submit(context_, 1, &control);
    if (result == 1) {
        free_.pop_back();
        ++signalsDue_;
        return true;
    }

    const int errnum = result < 0 ? -result : EAGAIN;
    if (errnum == EAGAIN) {
        if (free_.size() < operations_.size())
            return false; // a completion will make room and wake us

        // nothing is in flight, so waiting for room could last for ever
        runNow(request, 0);
        return true;
    }

    if (errnum == EINVAL && request->io.op == IoOp::flush)
        runNow(request, 0); // this kernel cannot flush asynchronously
    else
        finish(request, Status::ioError, errnum);
    return true;
}

void
AioDevice::reap()
{
    // Read before collecting: a completion that arrives later leaves its signal.
    uint64_t signals = 0;
    if (signalsDue_ > 0 && read(event_, &signals, sizeof(signals)) == sizeof(signals))
        signalsDue_ -= static_cast<int64_t>(signals);

    if (context_)
        (void)collect(0);
}

/// takes completions from the kernel, waiting for that many of them
/// \returns false on errors
bool
AioDevice::collect(const long least)
{
    struct io_event events[maxDepth];
    struct timespec immediately = {0, 0};
    const int count = io_getevents(context_, least, maxDepth, events, least ? nullptr : &immediately);

    for (int i = 0; i < count; ++i) {
        auto *const operation = static_cast<Operation *>(events[i].data);
        auto *const request = operation->request;
        operation->request = nullptr;
        free_.push_back(operation);
        complete(request, static_cast<long>(events[i].res));
    }
    return count >= 0 || count == -EINTR;
}

void
AioDevice::complete(Request *const request, const long result)
{
    const auto &io = request->io;
    if (io.op == IoOp::flush && result == -EINVAL)
        return runNow(request, 0);
    if (result < 0)
        return finish(request, Status::ioError, static_cast<int>(-result));
    if (io.op == IoOp::flush || result == static_cast<long>(io.size))
        return finish(request, Status::ok, 0);
    if (result == 0 || result > static_cast<long>(io.size))
        return finish(request, Status::ioError, EIO); // the file or device is smaller than it was
    runNow(request, static_cast<uint32_t>(result)); // rare: moved only in part
}

/// carries out a request, or the rest of it, here and now
void
AioDevice::runNow(Request *const request, const uint32_t alreadyMoved)
{
    int errnum = 0;
    switch (request->io.op) {
    case IoOp::read:
    case IoOp::write:
        errnum = moveNow(request->io, alreadyMoved);
        break;
    case IoOp::flush:
        errnum = fdatasync(fd_) == 0 ? 0 : errno;
        break;
    }
    finish(request, errnum ? Status::ioError : Status::ok, errnum);
}

/// \returns an errno value, 0 on success
int
AioDevice::moveNow(const Io &io, uint32_t moved) const
{
    while (moved < io.size) {
        const auto offset = static_cast<off_t>(io.offset + moved);
        const auto result = io.op == IoOp::read ?
                            pread(fd_, io.buffer + moved, io.size - moved, offset) :
                            pwrite(fd_, io.buffer + moved, io.size - moved, offset);
        if (result < 0 && errno == EINTR)
            continue;
        if (result < 0)
            return errno;
        if (result == 0)
            return EIO; // the file or device is smaller than it was
        moved += static_cast<uint32_t>(result);
    }
    return 0;
}

void
AioDevice::wake()
{
    const uint64_t one = 1;
    if (write(event_, &one, sizeof(one)) == sizeof(one))
        ++signalsDue_;
}

void
AioDevice::wait(const unsigned milliseconds)
{
    struct pollfd waiting = {event_, POLLIN, 0};
    // a signal that ends this early is fine: callers look again
    (void)::poll(&waiting, 1, static_cast<int>(std::min(milliseconds, 3600000U)));
}

} // namespace ClusterFs

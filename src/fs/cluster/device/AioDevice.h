// SPDX-License-Identifier: GPL-2.0-or-later
/* A block device or a preallocated file, by O_DIRECT and Linux native AIO. */

#ifndef SQUID_SRC_FS_CLUSTER_DEVICE_AIODEVICE_H
#define SQUID_SRC_FS_CLUSTER_DEVICE_AIODEVICE_H

#include "fs/cluster/device/Device.h"
#include "fs/cluster/device/PathCheck.h"

#include <libaio.h>

#include <memory>
#include <string>
#include <vector>

namespace ClusterFs {

/// A real disk. Without kernel AIO (fs.aio-max-nr is used up, or the kernel was
/// built without it) submit() carries requests out at once, one by one; without
/// O_DIRECT they go through the page cache. Open() logs a warning of each.
class AioDevice final : public Device
{
public:
    struct OpenOptions {
        std::string path; ///< block device, a symlink to one, or regular file
        bool writable = true;
        bool exclusive = true; ///< refused when mounted or open as another AioDevice; if false, only when that one is exclusive
        FileId id; ///< the file or device that the path must lead to; any when not known()
        unsigned depth = 32; ///< most requests in flight; at most maxDepth are used
    };

    static constexpr unsigned maxDepth = 128; ///< most requests that the kernel gets at a time

    /// Opens, locks and measures; blocks for that, at most about a second if something else locks a block device.
    /// \param error receives the reason and the way out
    /// \returns nil on errors
    static std::unique_ptr<AioDevice> Open(const Clock &, const OpenOptions &, const Log &, std::string &error);

    /// blocks until no request is in flight
    ~AioDevice() override;

    void wait(unsigned milliseconds) override;
    int wakeupFd() const override { return event_; }
    bool asynchronous() const override { return context_ != nullptr; } ///< has kernel AIO
    void discardAll() override;

    bool direct() const { return direct_; } ///< bypasses the page cache

private:
    /// a request that the kernel works on
    struct Operation {
        struct iocb control;
        Request *request = nullptr;
    };

    /// an open path and its properties
    struct Opened {
        int fd = -1;
        bool block = false; ///< else a regular file
        bool direct = true;
        uint64_t size = 0; ///< bytes, a multiple of the alignment
        uint32_t alignment = 4096; ///< bytes, of offsets and sizes
    };

    AioDevice(const Clock &, const Opened &, unsigned depth);

    static bool OpenPath(const OpenOptions &, Opened &, std::string &error);
    static bool Lock(const OpenOptions &, const Opened &, std::string &error);
    static bool Measure(const OpenOptions &, Opened &, std::string &error);
    bool setUp(const OpenOptions &, const Log &, std::string &error);

    bool start(Request *) override;
    void reap() override;
    void wake() override;

    void prepare(Operation &, Request &) const;
    bool collect(long least);
    void complete(Request *, long result);
    void runNow(Request *, uint32_t alreadyMoved);
    int moveNow(const Io &, uint32_t alreadyMoved) const;

    int fd_ = -1;
    int event_ = -1; ///< eventfd, counts completions and wake() calls
    bool direct_ = false;
    io_context_t context_ = nullptr; ///< nil without kernel AIO
    std::vector<Operation> operations_; ///< maxDepth of them, never moved; none without kernel AIO
    std::vector<Operation *> free_; ///< unused ones
    int64_t signalsDue_ = 0; ///< signals that event_ got or will get, and that are not read from it yet
};

} // namespace ClusterFs

#endif

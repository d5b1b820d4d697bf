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

/// A real disk. Without kernel AIO (fs.aio-max-nr used up, a kernel built
/// without it) requests are relocated out at once, one by one; without O_DIRECT
/// they go through the page cache. Both are said in the log once.
class AioDevice final : public Device
{
public:
    struct OpenOptions {
        std::string path; ///< block device, a symlink to one, or regular file
        bool writable = true;
        bool exclusive = true; ///< nobody else may have it open; else only no exclusive user
        FileId id; ///< unless unknown, what the path must lead to
        unsigned depth = 32; ///< most requests in flight; at most maxDepth are used
    };

    static constexpr unsigned maxDepth = 128;

    /// \param error is told what is wrong and the way out
    /// \returns nil on errors
    static std::unique_ptr<AioDevice> Open(const Clock &, const OpenOptions &, const Log &, std::string &error);

    /// waits for what is in flight
    ~AioDevice() override;

    void wait(unsigned milliseconds) override;
    int wakeupFd() const override { return event_; }
    bool asynchronous() const override { return context_ != nullptr; } ///< has kernel AIO

    bool direct() const { return direct_; } ///< bypasses the page cache

private:
    /// a request that the kernel works on
    struct Operation {
        struct iocb control;
        Request *request = nullptr;
    };

    /// what opening found out about a path
    struct Opened {
        int fd = -1;
        bool block = false; ///< else a regular file
        bool direct = true;
        uint64_t size = 0; ///< bytes, a multiple of the alignment
        uint32_t alignment = 4096;
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
    std::vector<Operation> operations_; ///< maxDepth, never moved
    std::vector<Operation *> free_; ///< unused ones
    int64_t signalsDue_ = 0; ///< promised to event_ and not yet read from it
};

} // namespace ClusterFs

#endif

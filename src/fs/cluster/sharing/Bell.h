// SPDX-License-Identifier: GPL-2.0-or-later
/* What wakes another process. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_BELL_H
#define SQUID_SRC_FS_CLUSTER_SHARING_BELL_H

#include "fs/cluster/base/Descriptor.h"

#include <sys/eventfd.h>

#include <cstdint>
#include <utility>

namespace ClusterFs {

/// An eventfd that two processes have. Of three ways to wake a process it is the cheapest: see bench-workers.
class Bell
{
public:
    /// none at first: ringing it does nothing
    Bell() = default;
    explicit Bell(Descriptor fd): fd_(std::move(fd)) {}
    /// \returns a new one, or none when the process has all the descriptors that it may have
    static Bell Make() { return Bell(Descriptor(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))); }

    int fd() const { return fd_.get(); } ///< readable when the other side has rung; -1 = none

    /// wakes the other side
    void ring() const {
        const uint64_t one = 1;
        // it fails only when it has been rung 2^64 - 2 times since hush()
        [[maybe_unused]] const auto written = write(fd_.get(), &one, sizeof(one));
    }
    /// makes fd() not readable until the other side rings again
    void hush() const {
        uint64_t times;
        [[maybe_unused]] const auto bytes = read(fd_.get(), &times, sizeof(times));
    }

private:
    Descriptor fd_;
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* A file descriptor that closes itself. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_DESCRIPTOR_H
#define SQUID_SRC_FS_CLUSTER_BASE_DESCRIPTOR_H

#include <unistd.h>

#include <utility>

namespace ClusterFs {

/// owns a file descriptor, or none
class Descriptor
{
public:
    Descriptor() = default;
    explicit Descriptor(const int fd): fd_(fd) {}
    Descriptor(Descriptor &&other) noexcept: fd_(std::exchange(other.fd_, -1)) {}
    Descriptor &operator =(Descriptor &&other) noexcept {
        reset(std::exchange(other.fd_, -1));
        return *this;
    }
    ~Descriptor() { reset(); }

    explicit operator bool() const { return fd_ >= 0; }
    int get() const { return fd_; } ///< -1 = none

    void reset(const int fd = -1) {
        if (fd_ >= 0)
            close(fd_);
        fd_ = fd;
    }

private:
    int fd_ = -1;
};

} // namespace ClusterFs

#endif

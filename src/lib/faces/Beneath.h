// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening what is inside a folder. */

#ifndef CLUSTERFS_SRC_LIB_FACES_BENEATH_H
#define CLUSTERFS_SRC_LIB_FACES_BENEATH_H

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ClusterFs::Library {

/// Opens a path that begins in a folder and stays in it, whoever moves what is on the way.
/// \param flags as open() has them; close-on-exec is added
/// \param links whether symbolic links are followed; those that lead out of the folder never are
/// \returns a descriptor, or -1 with the reason in errno
inline int
openBeneath(const int folder, const char *const path, const int flags, const bool links)
{
    open_how how{};
    how.flags = static_cast<unsigned>(flags) | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (links ? 0U : RESOLVE_NO_SYMLINKS);
    return static_cast<int>(syscall(SYS_openat2, folder, path, &how, sizeof(how)));
}

/// a file descriptor that is closed at the end
class Descriptor
{
public:
    explicit Descriptor(const int fd = -1): fd_(fd) {}
    ~Descriptor() { reset(); }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator =(const Descriptor &) = delete;

    bool open() const { return fd_ >= 0; }
    int get() const { return fd_; }
    int release() {
        const int fd = fd_;
        fd_ = -1;
        return fd;
    }
    void reset(const int fd = -1) {
        if (fd_ >= 0)
            ::close(fd_);
        fd_ = fd;
    }

private:
    int fd_;
};

} // namespace ClusterFs::Library

#endif

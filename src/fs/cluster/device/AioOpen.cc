// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening a disk: whether it may be opened, who else has it, how large it is. */

#include "fs/cluster/device/AioDevice.h"

#include "fs/cluster/base/Messages.h"
#include "fs/cluster/device/PathCheck.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace ClusterFs {

std::unique_ptr<AioDevice>
AioDevice::Open(const Clock &clock, const OpenOptions &options, const Log &log, std::string &error)
{
    Opened opened;
    if (!OpenPath(options, opened, error))
        return nullptr;

    if (!Lock(options, opened, error) || !Measure(options, opened, error)) {
        close(opened.fd);
        return nullptr;
    }

    if (!opened.direct && log)
        say<Message::notDirect>(log, options.path);

    std::unique_ptr<AioDevice> device(new AioDevice(clock, opened, options.depth));
    if (!device->setUp(options, log, error))
        return nullptr;
    return device;
}

static std::string
openError(const std::string &path, const int errnum)
{
    auto text = path + ": cannot open: " + strerror(errnum);
    if (errnum == EBUSY)
        text += "; it is mounted, used as swap, part of a RAID or LVM volume, or in use by another process: end that use first";
    else if (errnum == EACCES || errnum == EPERM)
        text += "; it must be readable and writable for the user that Squid runs as";
    else if (errnum == ELOOP)
        text += "; it became a symbolic link just now";
    return text;
}

/// Whether O_DIRECT works; some file systems accept the flag and then refuse
/// to read.
static bool
directReadWorks(const int fd)
{
    void *memory = nullptr;
    if (posix_memalign(&memory, Device::bufferAlignment(), Device::bufferAlignment()) != 0)
        return true; // unknown, and not the place to find out
    const bool works = pread(fd, memory, Device::bufferAlignment(), 0) >= 0 || errno != EINVAL;
    free(memory);
    return works;
}

bool
AioDevice::OpenPath(const OpenOptions &options, Opened &opened, std::string &error)
{
    struct stat before;
    if (!checkPath(options.path, before, error))
        return false;

    opened.block = S_ISBLK(before.st_mode);
    int flags = (options.writable ? O_RDWR : O_RDONLY) | O_CLOEXEC;
    if (opened.block)
        flags |= options.exclusive ? O_EXCL : 0; // refused when mounted or claimed
    else
        flags |= O_NOFOLLOW;

    opened.fd = open(options.path.c_str(), flags | O_DIRECT);
    if (opened.fd < 0 && errno == EINVAL) {
        opened.direct = false;
        opened.fd = open(options.path.c_str(), flags);
    }
    if (opened.fd < 0) {
        error = openError(options.path, errno);
        return false;
    }

    struct stat after;
    if (fstat(opened.fd, &after) != 0 || FileId(after) != FileId(before) ||
            (options.id.known() && FileId(after) != options.id)) {
        error = options.path + ": replaced by something else while it was opened; try again";
        close(opened.fd);
        return false;
    }

    if (opened.direct && !directReadWorks(opened.fd)) {
        opened.direct = false;
        const int now = fcntl(opened.fd, F_GETFL);
        if (now < 0 || fcntl(opened.fd, F_SETFL, now & ~O_DIRECT) != 0) {
            error = options.path + ": cannot switch O_DIRECT off: " + strerror(errno);
            close(opened.fd);
            return false;
        }
    }
    return true;
}

/// keeps a second Squid or tool away, on block devices and files alike
bool
AioDevice::Lock(const OpenOptions &options, const Opened &opened, std::string &error)
{
    const int how = (options.exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
    // udev locks a block device for the moments it needs to probe it
    const unsigned tries = opened.block ? 20 : 1;
    for (unsigned i = 1; flock(opened.fd, how) != 0; ++i) {
        if (errno == EINTR && i < 1000)
            continue;
        if (errno != EWOULDBLOCK) {
            error = options.path + ": cannot lock: " + strerror(errno);
            return false;
        }
        if (i >= tries) {
            error = messageText<Message::inUse>(options.path);
            return false;
        }
        const struct timespec pause = {0, 50000000};
        (void)nanosleep(&pause, nullptr);
    }
    return true;
}

/// the alignment that direct I/O to this file should have, bytes
static uint32_t
fileAlignment(const int fd, const struct stat &file)
{
    // smaller pieces than a block are legal, but the file system reads the block before it writes them
    auto alignment = static_cast<uint32_t>(std::min<blksize_t>(file.st_blksize, 4096));
#ifdef STATX_DIOALIGN
    struct statx extended;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &extended) == 0 && (extended.stx_mask & STATX_DIOALIGN))
        alignment = std::max(alignment, extended.stx_dio_offset_align);
#else
    (void)fd;
#endif
    return std::max(alignment, 512U);
}

/// fills in size and alignment
bool
AioDevice::Measure(const OpenOptions &options, Opened &opened, std::string &error)
{
    struct stat found;
    bool known = fstat(opened.fd, &found) == 0;
    if (known && opened.block) {
        int logical = 0;
        unsigned int physical = 0;
        known = ioctl(opened.fd, BLKGETSIZE64, &opened.size) == 0 &&
                ioctl(opened.fd, BLKSSZGET, &logical) == 0 &&
                ioctl(opened.fd, BLKPBSZGET, &physical) == 0;
        // A piece of a physical sector makes the drive read before it writes.
        // Some report their whole stripe: more than 4 KB is only a wish.
        opened.alignment = std::max(static_cast<uint32_t>(logical), std::min(physical, 4096U));
    } else if (known) {
        opened.size = static_cast<uint64_t>(found.st_size);
        opened.alignment = fileAlignment(opened.fd, found);
    }

    if (!known) {
        error = options.path + ": cannot find out its size: " + strerror(errno);
        return false;
    }

    opened.size -= opened.size % opened.alignment;
    if (!opened.size) {
        error = options.path + ": has no space: fewer than " + std::to_string(opened.alignment) + " bytes";
        return false;
    }
    return true;
}

void
AioDevice::discardAll()
{
    // in pieces, so that a signal can end it: some disks take minutes
    constexpr uint64_t piece = 1 << 30;
    bool taken = true;
    for (uint64_t at = 0; taken && at < size(); at += piece) {
        uint64_t range[2] = {at, std::min(piece, size() - at)};
        taken = ioctl(fd_, BLKDISCARD, range) == 0; // fails for a file, and where the disk cannot
    }
}

} // namespace ClusterFs

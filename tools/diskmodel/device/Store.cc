// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the bytes of the modelled disk are kept. */

#include "tools/diskmodel/device/Store.h"

#include "tools/base/Numbers.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace DiskModel {

using namespace Tools;

/// Reading a hole of a mapped tmpfs file would allocate it. So chunks that were
/// never written are known, and read as zeros without touching the mapping.
static constexpr uint64_t chunk = 4096;

/// bytes of memory that programs can still get
static uint64_t
availableMemory()
{
    std::ifstream file("/proc/meminfo");
    std::string name, unit;
    uint64_t kilobytes = 0;
    while (file >> name >> kilobytes && std::getline(file, unit)) {
        if (name == "MemAvailable:")
            return kilobytes << 10;
    }
    return UINT64_MAX; // unknown
}

/// \throws BadRequest when the file system could not take so many bytes more
static void
checkRoom(const std::string &place, const int fd, const uint64_t wanted)
{
    struct statvfs space;
    struct statfs kind;
    if (fstatvfs(fd, &space) != 0 || fstatfs(fd, &kind) != 0)
        throw BadRequest(place + ": " + strerror(errno));
    const bool inMemory = kind.f_type == TMPFS_MAGIC;
    uint64_t room = uint64_t(space.f_bavail) * space.f_frsize;
    if (inMemory)
        room = std::min(room, availableMemory());
    if (room < wanted) {
        throw BadRequest(place + " has room for " + sizeText(room) + (inMemory ? " of memory" : "") +
                         ", the disk may need " + sizeText(wanted) +
                         ": free some, make the disk smaller (--size), keep it elsewhere (--store-folder), or,"
                         " if it will not be filled, use --overcommit");
    }
}

Store::Store(const int fd, const uint64_t size):
    fd_(fd),
    size_(size),
    used_((size + chunk - 1) / chunk),
    scratch_(maxRead)
{
}

Store::~Store()
{
    if (map_)
        munmap(map_, size_);
    close(fd_);
}

std::unique_ptr<Store>
Store::Nameless(const std::string &folder, const uint64_t size, const bool overcommit)
{
    const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        throw BadRequest("cannot make a file in " + folder + ": " + strerror(errno));
    std::unique_ptr<Store> store(new Store(fd, size));
    if (!overcommit)
        checkRoom(folder, fd, size);
    if (ftruncate(fd, static_cast<off_t>(size)) != 0)
        throw BadRequest("cannot make a file of " + sizeText(size) + " in " + folder + ": " + strerror(errno));
    store->noteExisting();
    return store;
}

std::unique_ptr<Store>
Store::Named(const std::string &path, const uint64_t size, const bool overcommit)
{
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        throw BadRequest("cannot open " + path + ": " + strerror(errno));
    std::unique_ptr<Store> store(new Store(fd, size));
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        throw BadRequest(path + " is not a regular file");
    if (static_cast<uint64_t>(status.st_size) > size)
        throw BadRequest(path + " has " + sizeText(static_cast<uint64_t>(status.st_size)) +
                         ", more than the disk: give its size, or remove it");
    const auto present = static_cast<uint64_t>(status.st_blocks) * 512;
    if (!overcommit && present < size)
        checkRoom(path, fd, size - present);
    if (ftruncate(fd, static_cast<off_t>(size)) != 0)
        throw BadRequest("cannot make " + path + " " + sizeText(size) + " large: " + strerror(errno));
    store->noteExisting();
    return store;
}

/// maps the file and finds out what is in it
void
Store::noteExisting()
{
    void *const map = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (map == MAP_FAILED)
        throw BadRequest("cannot map " + sizeText(size_) + ": " + strerror(errno));
    map_ = static_cast<char *>(map);
    for (off_t at = 0; (at = lseek(fd_, at, SEEK_DATA)) >= 0;) {
        const off_t end = lseek(fd_, at, SEEK_HOLE);
        if (end <= at)
            break;
        blank_ = false;
        mark(static_cast<uint64_t>(at), static_cast<uint64_t>(end - at), true);
        at = end;
    }
}

/// notes that chunks are used, all that the range touches; or that they are
/// not, those that lie in it as a whole
void
Store::mark(const uint64_t offset, const uint64_t size, const bool used)
{
    const auto end = offset + size;
    const auto first = used ? offset / chunk : (offset + chunk - 1) / chunk;
    const auto last = used || end == size_ ? (end + chunk - 1) / chunk : end / chunk;
    for (auto i = first; i < last; ++i)
        used_[i] = used;
}

/// whether all chunks that a range touches were written
bool
Store::allUsed(const uint64_t offset, const uint64_t size) const
{
    for (auto i = offset / chunk; i * chunk < offset + size; ++i) {
        if (!used_[i])
            return false;
    }
    return true;
}

const char *
Store::read(const uint64_t offset, const uint64_t size)
{
    if (allUsed(offset, size))
        return map_ + offset;
    const auto end = offset + size;
    for (uint64_t at = offset; at < end;) {
        const auto next = std::min(end, (at / chunk + 1) * chunk);
        char *const to = scratch_.data() + (at - offset);
        if (used_[at / chunk])
            memcpy(to, map_ + at, next - at);
        else
            memset(to, 0, next - at);
        at = next;
    }
    return scratch_.data();
}

int
Store::write(const uint64_t offset, const uint64_t size, const char *const data)
{
    if (allUsed(offset, size)) { // cheaper than a pwrite() to tmpfs
        memcpy(map_ + offset, data, size);
        return 0;
    }
    // new blocks not through the mapping: a full file system must be an error, not a SIGBUS
    for (uint64_t done = 0; done < size;) {
        const auto n = pwrite(fd_, data + done, size - done, static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        mark(offset + done, static_cast<uint64_t>(n), true);
        done += static_cast<uint64_t>(n);
    }
    return 0;
}

int
Store::discard(const uint64_t offset, const uint64_t size)
{
    if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(size)) != 0)
        return errno;
    mark(offset, size, false);
    return 0;
}

uint64_t
Store::usedBytes() const
{
    struct stat status;
    return fstat(fd_, &status) == 0 ? static_cast<uint64_t>(status.st_blocks) * 512 : 0;
}

} // namespace DiskModel

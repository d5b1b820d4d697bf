// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that several processes map. */

#include "fs/cluster/base/SharedMemory.h"

#include "fs/cluster/base/SystemError.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdint>
#include <utility>

namespace ClusterFs {
namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW;

} // namespace
} // namespace ClusterFs

ClusterFs::SharedMemory::SharedMemory(SharedMemory &&other) noexcept:
    fd_(std::move(other.fd_)),
    data_(std::exchange(other.data_, nullptr)),
    size_(std::exchange(other.size_, 0))
{
}

ClusterFs::SharedMemory &
ClusterFs::SharedMemory::operator =(SharedMemory &&other) noexcept
{
    std::swap(fd_, other.fd_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

ClusterFs::SharedMemory::~SharedMemory()
{
    unmap();
}

bool
ClusterFs::SharedMemory::make(const char *const name, const size_t bytes, std::string &error)
{
    unmap();
    fd_.reset(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd_ || ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0 || fcntl(fd_.get(), F_ADD_SEALS, seals) != 0) {
        error = systemError("no shared memory");
        fd_.reset();
        return false;
    }
    return mapIt(bytes, Access::write, error);
}

void
ClusterFs::SharedMemory::sealWrites()
{
    (void)fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
}

bool
ClusterFs::SharedMemory::openToRead()
{
    Descriptor fd(open(("/proc/self/fd/" + std::to_string(fd_.get())).c_str(), O_RDONLY | O_CLOEXEC));
    fd_ = fd ? std::move(fd) : Descriptor(fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
    return bool(fd_);
}

bool
ClusterFs::SharedMemory::map(Descriptor fd, const size_t bytes, const Access access, std::string &error)
{
    unmap();
    struct stat status;
    if (fstat(fd.get(), &status) != 0) {
        error = systemError("shared memory can't be looked at");
        return false;
    }
    const auto found = fcntl(fd.get(), F_GET_SEALS);
    if (found < 0 || (found & seals) != seals || static_cast<uint64_t>(status.st_size) != bytes) {
        error = "shared memory has " + std::to_string(status.st_size) + " bytes instead of " + std::to_string(bytes) +
            ", or is not sealed";
        return false;
    }
    fd_ = std::move(fd);
    return mapIt(bytes, access, error);
}

bool
ClusterFs::SharedMemory::mapIt(const size_t bytes, const Access access, std::string &error)
{
    const auto protection = access == Access::write ? PROT_READ | PROT_WRITE : PROT_READ;
    const auto at = mmap(nullptr, bytes, protection, MAP_SHARED, fd_.get(), 0);
    if (at == MAP_FAILED) {
        error = systemError("shared memory can't be mapped");
        fd_.reset();
        return false;
    }
    madvise(at, bytes, MADV_DONTDUMP);
    data_ = static_cast<char *>(at);
    size_ = bytes;
    return true;
}

void
ClusterFs::SharedMemory::unmap()
{
    if (data_)
        munmap(data_, size_);
    data_ = nullptr;
    size_ = 0;
    fd_.reset();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that several processes map. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_SHAREDMEMORY_H
#define SQUID_SRC_FS_CLUSTER_BASE_SHAREDMEMORY_H

#include "fs/cluster/base/Descriptor.h"

#include <cstddef>
#include <string>

namespace ClusterFs {

/// A mapping of memory that has no name, and that other processes can map when they are given its descriptor (memfd). Its
/// size never changes: the kernel refuses that (F_SEAL_SHRINK, F_SEAL_GROW), so that nobody's look at it can end in SIGBUS
/// because another process has truncated it. It is not bound by the size of /dev/shm, and not in core dumps.
class SharedMemory
{
public:
    enum class Access { read, write };

    SharedMemory() = default;
    SharedMemory(SharedMemory &&) noexcept;
    SharedMemory &operator =(SharedMemory &&) noexcept;
    ~SharedMemory();

    /// Makes memory that is filled with zeros, and maps it to write.
    /// \param name for /proc/PID/maps
    /// \param error receives the reason when it fails
    /// \returns false when the system refuses it
    bool make(const char *name, size_t bytes, std::string &error);

    /// From now on, others can map it only to read, and so can this process. Linux before 5.1 does not know that, and lets
    /// them.
    void sealWrites();

    /// The same for memory whose pages go back to the system, which the kernel refuses for what it has sealed: from now on fd() is one by
    /// which others can map it only to read. Where there is no /proc, it lets them write.
    /// \returns false when the process may not have another descriptor: then fd() is none
    bool openToRead();

    /// Maps what another process has made.
    /// \param bytes that it must have
    /// \param error receives the reason when it fails
    /// \returns false when it has another size, is not sealed, or can't be mapped
    bool map(Descriptor, size_t bytes, Access, std::string &error);
    void closeDescriptor() { fd_.reset(); } ///< the mapping needs none

    char *data() const { return data_; } ///< nil when there is none
    size_t size() const { return size_; } ///< bytes
    int fd() const { return fd_.get(); } ///< to be passed to others

private:
    bool mapIt(size_t bytes, Access, std::string &error);
    void unmap();

    Descriptor fd_;
    char *data_ = nullptr;
    size_t size_ = 0;
};

} // namespace ClusterFs

#endif

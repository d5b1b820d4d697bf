// SPDX-License-Identifier: GPL-2.0-or-later
/* A clusterfs device or file that this program has for itself. */

#ifndef CLUSTERFS_TOOLS_CLI_IMAGE_H
#define CLUSTERFS_TOOLS_CLI_IMAGE_H

#include "fs/cluster/base/Clock.h"
#include "fs/cluster/base/Memory.h"
#include "fs/cluster/device/AioDevice.h"
#include "fs/cluster/layout/Superblock.h"

#include <memory>
#include <string>
#include <vector>

namespace ClusterFs::Cli {

/// one of the two copies of the superblock as it was found
struct SuperblockCopy {
    Status status = Status::notOurs;
    std::string reason; ///< when it is not whole
    Superblock superblock; ///< when it is whole
};

/// An open device, its superblocks, and reads that wait.
class Image
{
public:
    /// Nobody else may have it open.
    /// \param writable whether device() takes writes
    /// \returns nil on errors
    static std::unique_ptr<Image> Open(const std::string &path, bool writable, const Log &, std::string &error);

    const std::string &path() const { return path_; }
    const Clock &clock() const { return clock_; }
    Device &device() { return *device_; }

    const SuperblockCopy &copy(const unsigned n) const { return copies_[n]; }
    /// whether at least one copy was a clusterfs superblock, maybe a damaged one
    bool ours() const;

    /// The superblock that a start takes.
    /// \returns ok, or why a start would refuse the device, with the reason
    Status choose(Superblock &, std::string &error);

    /// Reads size bytes, rounded up to whole blocks of the device. Waits for
    /// them for minutes; later reads fail at once when they did not come.
    /// \param bytes stay until the next read
    Status read(uint64_t offset, uint64_t size, const char *&bytes);

private:
    explicit Image(const std::string &path): path_(path) {}
    void readCopies();
    const BufferPointer &bufferFor(uint64_t size);

    std::string path_;
    SystemClock clock_;
    /// the newest one is in use; the others may still wait for a late answer
    BufferPointer buffer_; ///< of the last read
    std::unique_ptr<AioDevice> device_;
    SuperblockCopy copies_[2];
    bool silent_ = false; ///< an answer did not come
};

/// a log that prints warnings and errors to standard error
Log complaints(const std::string &path);

/// prints "clusterfs: ..." to standard error
void complain(const std::string &);

} // namespace ClusterFs::Cli

#endif

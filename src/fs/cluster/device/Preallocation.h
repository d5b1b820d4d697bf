// SPDX-License-Identifier: GPL-2.0-or-later
/* A file that can serve as a device. */

#ifndef SQUID_SRC_FS_CLUSTER_DEVICE_PREALLOCATION_H
#define SQUID_SRC_FS_CLUSTER_DEVICE_PREALLOCATION_H

#include "fs/cluster/device/PathCheck.h"

#include <cstdint>
#include <string>

namespace ClusterFs {

/// Makes one regular file of zeros whose space is reserved. The name is looked
/// up once. Everything else goes by descriptors, so that somebody who may write
/// to the folder can't have another file changed or removed.
class Preallocation
{
public:
    Preallocation() = default;
    ~Preallocation(); ///< keeps the file
    Preallocation(const Preallocation &) = delete;
    Preallocation &operator =(const Preallocation &) = delete;

    /// Creates a file that only its owner, this user, may read and write. Never
    /// touches an existing one. Blocks until the file is on the disk.
    /// \param error receives the reason and the way out
    /// \returns false on errors, and then leaves no file behind
    bool create(const std::string &path, uint64_t bytes, std::string &error);

    /// Lengthens a file: a blank one, such as one whose creation was interrupted, or
    /// one whose store is to grow. Its bytes stay. Blocks until the file is on the disk.
    /// \param known the file that was examined under this path
    /// \param bytes of the longer file
    /// \returns false on errors, and then leaves the file as it was
    bool extend(const std::string &path, const FileId &known, uint64_t bytes, std::string &error);

    /// Removes the created file, or shortens the extended one; does nothing
    /// when there is neither.
    /// \returns whether everything is as before
    bool undo();

    /// the file, once it was created or extended
    const FileId &id() const { return id_; }

private:
    bool reserve(const std::string &path, uint64_t bytes, std::string &error);
    bool openFolder(const std::string &path, std::string &error);

    int folder_ = -1; ///< descriptor of the folder of a created file
    int file_ = -1; ///< descriptor
    std::string name_; ///< in the folder
    FileId id_;
    uint64_t bytesBefore_ = 0; ///< of a file that was extended
};

} // namespace ClusterFs

#endif

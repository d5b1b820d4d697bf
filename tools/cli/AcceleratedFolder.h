// SPDX-License-Identifier: GPL-2.0-or-later
/* A folder with a store in front of it, as a file system in user space. */

#ifndef CLUSTERFS_TOOLS_CLI_ACCELERATEDFOLDER_H
#define CLUSTERFS_TOOLS_CLI_ACCELERATEDFOLDER_H

#include "clusterfs/accelerator.h"
#include "lib/faces/Beneath.h"

#include <mutex>
#include <string>
#include <unordered_set>

struct fuse;

namespace ClusterFs::Cli {

/// A mount that can be read only. Names, attributes and links are those of the folder at that moment, and the kernel keeps
/// no attributes, so that a changed file is never read with the size that it had before. Contents come from the accelerator.
class AcceleratedFolder
{
public:
    /// \param accelerator outlives this
    /// \param folder the same that it has
    AcceleratedFolder(clusterfs_accelerator *accelerator, const std::string &folder);
    ~AcceleratedFolder();
    AcceleratedFolder(const AcceleratedFolder &) = delete;
    AcceleratedFolder &operator =(const AcceleratedFolder &) = delete;

    /// \returns false with the reason in error
    bool mount(const std::string &where, std::string &error);

    /// Answers the kernel until SIGTERM, SIGINT, SIGHUP, or somebody unmounts it. \returns false when the kernel refuses
    bool serve();

private:
    friend struct FolderCalls;

    /// \param flags as open() has them; \returns a descriptor, or a negative errno
    int openPath(const char *path, int flags) const;
    void keep(clusterfs_file *);
    void drop(clusterfs_file *);

    clusterfs_accelerator *const accelerator_;
    const Library::Descriptor folder_;
    const int folderError_; ///< why folder_ is not open
    fuse *fuse_ = nullptr;
    bool mounted_ = false;
    std::mutex mutex_; ///< for files_
    std::unordered_set<clusterfs_file *> files_; ///< that are open; the kernel does not release them once the loop has ended
};

} // namespace ClusterFs::Cli

#endif

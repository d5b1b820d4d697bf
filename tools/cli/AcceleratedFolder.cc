// SPDX-License-Identifier: GPL-2.0-or-later
/* The mount of clusterfs accelerate, with libfuse. */

#define FUSE_USE_VERSION 312

#include "AcceleratedFolder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace ClusterFs::Cli {
namespace {

constexpr unsigned threads = 64; ///< that answer the kernel at most: so many reads of the disk are under way at once

/// whether the process that asks may read a file by its mode. The kernel has looked too, but perhaps at another file of that name
bool
mayRead(const struct stat &status)
{
    const auto *const who = fuse_get_context();
    if (who->uid == 0)
        return true;
    if (who->uid == status.st_uid)
        return status.st_mode & S_IRUSR;
    if (who->gid == status.st_gid)
        return status.st_mode & S_IRGRP;
    std::vector<gid_t> groups(64);
    int count = fuse_getgroups(static_cast<int>(groups.size()), groups.data());
    if (count > static_cast<int>(groups.size())) {
        groups.resize(static_cast<size_t>(count));
        count = fuse_getgroups(count, groups.data());
    }
    const auto end = groups.begin() + std::max(0, std::min(count, static_cast<int>(groups.size())));
    const bool member = std::find(groups.begin(), end, status.st_gid) != end;
    return status.st_mode & (member ? S_IRGRP : S_IROTH);
}

/// the negative errno for what a call of the library returned
int
errnoOf(const int64_t result)
{
    return result == -CLUSTERFS_FILE && errno ? -errno : result == -CLUSTERFS_NO_MEMORY ? -ENOMEM : -EIO;
}

clusterfs_file *
fileOf(const fuse_file_info *const info)
{
    const auto number = static_cast<uintptr_t>(info->fh);
    clusterfs_file *file = nullptr;
    memcpy(&file, &number, sizeof(number));
    return file;
}

} // namespace

/// what libfuse calls
struct FolderCalls {
    static AcceleratedFolder &folder() { return *static_cast<AcceleratedFolder *>(fuse_get_context()->private_data); }

    static void *init(fuse_conn_info *, fuse_config *const config) {
        config->use_ino = 1;
        config->entry_timeout = 1;
        config->attr_timeout = 0;
        config->negative_timeout = 0;
        return &folder();
    }

    static int getattr(const char *const path, struct stat *const status, fuse_file_info *const info) {
        if (info && info->fh) {
            *status = *clusterfs_file_status(fileOf(info));
            return 0;
        }
        errno = 0;
        const int result = clusterfs_accelerator_status(folder().accelerator_, path[1] ? path + 1 : ".", status);
        return result == 0 ? 0 : errnoOf(result);
    }

    static int readlink(const char *const path, char *const to, const size_t size) {
        const Library::Descriptor fd(folder().openPath(path, O_PATH | O_NOFOLLOW));
        if (fd.get() < 0)
            return fd.get();
        const auto count = readlinkat(fd.get(), "", to, size - 1);
        if (count < 0)
            return -errno;
        to[count] = '\0';
        return 0;
    }

    static int readdir(const char *const path, void *const buffer, const fuse_fill_dir_t fill, off_t, fuse_file_info *, fuse_readdir_flags) {
        const int fd = folder().openPath(path, O_RDONLY | O_DIRECTORY);
        if (fd < 0)
            return fd;
        DIR *const entries = fdopendir(fd);
        if (!entries) {
            const int error = errno;
            close(fd);
            return -error;
        }
        errno = 0;
        for (const dirent *entry; (entry = ::readdir(entries)); errno = 0) {
            struct stat status;
            memset(&status, 0, sizeof(status));
            status.st_ino = entry->d_ino;
            status.st_mode = DTTOIF(entry->d_type);
            if (fill(buffer, entry->d_name, &status, 0, static_cast<fuse_fill_dir_flags>(0)) != 0) {
                errno = ENOMEM;
                break;
            }
        }
        const int error = errno;
        closedir(entries);
        return -error;
    }

    static int open(const char *const path, fuse_file_info *const info) {
        clusterfs_file *file = nullptr;
        errno = 0;
        const auto client = static_cast<uint64_t>(fuse_get_context()->pid);
        const int result = clusterfs_file_open(folder().accelerator_, path + 1, client, &file);
        if (result != 0)
            return errnoOf(result);
        if (!mayRead(*clusterfs_file_status(file))) {
            clusterfs_file_close(file);
            return -EACCES;
        }
        info->fh = reinterpret_cast<uintptr_t>(file);
        folder().keep(file);
        return 0;
    }

    static int read(const char *, char *const to, const size_t size, const off_t offset, fuse_file_info *const info) {
        errno = 0;
        const auto got = clusterfs_file_read(fileOf(info), static_cast<uint64_t>(offset), to, size);
        return got < 0 ? errnoOf(got) : static_cast<int>(got);
    }

    static int release(const char *, fuse_file_info *const info) {
        folder().drop(fileOf(info));
        return 0;
    }

    static int statfs(const char *, struct statvfs *const status) {
        return fstatvfs(folder().folder_.get(), status) == 0 ? 0 : -errno;
    }

    static const fuse_operations &all() {
        static const fuse_operations operations = [] {
            fuse_operations o{};
            o.init = &FolderCalls::init;
            o.getattr = &FolderCalls::getattr;
            o.readlink = &FolderCalls::readlink;
            o.readdir = &FolderCalls::readdir;
            o.open = &FolderCalls::open;
            o.read = &FolderCalls::read;
            o.release = &FolderCalls::release;
            o.statfs = &FolderCalls::statfs;
            return o;
        }();
        return operations;
    }
};

AcceleratedFolder::AcceleratedFolder(clusterfs_accelerator *const accelerator, const std::string &folder):
    accelerator_(accelerator),
    folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
    folderError_(folder_.open() ? 0 : errno)
{
}

AcceleratedFolder::~AcceleratedFolder()
{
    if (mounted_)
        fuse_unmount(fuse_);
    if (fuse_)
        fuse_destroy(fuse_);
    for (auto *const file: files_)
        clusterfs_file_close(file);
}

void
AcceleratedFolder::keep(clusterfs_file *const file)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    files_.insert(file);
}

void
AcceleratedFolder::drop(clusterfs_file *const file)
{
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        files_.erase(file);
    }
    clusterfs_file_close(file);
}

int
AcceleratedFolder::openPath(const char *const path, const int flags) const
{
    const int fd = Library::openBeneath(folder_.get(), path[1] ? path + 1 : ".", flags, false);
    return fd < 0 ? -errno : fd;
}

bool
AcceleratedFolder::mount(const std::string &where, std::string &error)
{
    if (!folder_.open()) {
        error = where + ": " + strerror(folderError_);
        return false;
    }
    // whoever is not root may let nobody else in, as long as /etc/fuse.conf does not permit it
    const std::string options = std::string("ro,default_permissions,fsname=clusterfs,subtype=clusterfs") + (geteuid() == 0 ? ",allow_other" : "");
    const char *words[] = {"clusterfs", "-o", options.c_str()};
    fuse_args args = FUSE_ARGS_INIT(3, const_cast<char **>(words));
    fuse_ = fuse_new(&args, &FolderCalls::all(), sizeof(fuse_operations), this);
    fuse_opt_free_args(&args);
    mounted_ = fuse_ && fuse_mount(fuse_, where.c_str()) == 0;
    if (!mounted_)
        error = where + ": can't be mounted there (libfuse has said why)";
    return mounted_;
}

bool
AcceleratedFolder::serve()
{
    auto *const session = fuse_get_session(fuse_);
    fuse_loop_config *const config = fuse_loop_cfg_create();
    if (!config || fuse_set_signal_handlers(session) != 0)
        return false;
    fuse_loop_cfg_set_max_threads(config, threads);
    const int result = fuse_loop_mt(fuse_, config);
    fuse_loop_cfg_destroy(config);
    fuse_remove_signal_handlers(session);
    // a positive number is the signal that has ended it
    return result >= 0;
}

} // namespace ClusterFs::Cli

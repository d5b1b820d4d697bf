// SPDX-License-Identifier: GPL-2.0-or-later
/* The modelled disk as files of a small file system. */

#define FUSE_USE_VERSION 312

#include "tools/diskmodel/serve/FuseFiles.h"

#include "tools/base/Numbers.h"

#include <fcntl.h>
#include <fuse3/fuse_lowlevel.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace DiskModel {

using namespace Tools;

enum Node : fuse_ino_t { folderNode = FUSE_ROOT_ID, diskNode, ctlNode, statsNode };

static const struct {
    const char *name;
    fuse_ino_t node;
} entries[] = {{"disk", diskNode}, {"ctl", ctlNode}, {"stats", statsNode}};

static constexpr double forever = 1e9; ///< seconds that the kernel may remember names and sizes
static constexpr unsigned maxUnderWay = 512; ///< asynchronous requests that the kernel sends at once
static constexpr size_t maxTexts = 64;

/// What libfuse calls, a function for each kind of request
struct FuseCalls {
    static FuseFiles &of(const fuse_req_t request) { return *static_cast<FuseFiles *>(fuse_req_userdata(request)); }

    static struct stat attributes(FuseFiles &files, const fuse_ino_t node) {
        struct stat status;
        memset(&status, 0, sizeof(status));
        status.st_ino = node;
        status.st_nlink = 1;
        status.st_blksize = 4096;
        status.st_mode = node == folderNode ? S_IFDIR | 0755 : S_IFREG | 0600;
        if (node == diskNode) {
            status.st_size = static_cast<off_t>(files.disk_->size());
            status.st_blocks = status.st_size / 512;
        }
        return status;
    }

    static void init(void *, fuse_conn_info *const connection) {
        connection->max_write = Store::maxRead;
        connection->max_background = maxUnderWay;
        connection->congestion_threshold = maxUnderWay;
        // one copy from the store's mapping is cheaper than pipes
        connection->want &= ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
        connection->want |= connection->capable & (FUSE_CAP_ASYNC_DIO | FUSE_CAP_ASYNC_READ);
    }

    static void lookup(const fuse_req_t request, const fuse_ino_t parent, const char *const name) {
        for (const auto &entry: entries) {
            if (parent == folderNode && !strcmp(name, entry.name)) {
                struct fuse_entry_param found;
                memset(&found, 0, sizeof(found));
                found.ino = entry.node;
                found.attr = attributes(of(request), entry.node);
                found.attr_timeout = found.entry_timeout = forever;
                fuse_reply_entry(request, &found);
                return;
            }
        }
        fuse_reply_err(request, ENOENT);
    }

    static void getattr(const fuse_req_t request, const fuse_ino_t node, fuse_file_info *) {
        const auto status = attributes(of(request), node);
        fuse_reply_attr(request, &status, forever);
    }

    /// nothing can be changed; truncation, as by a shell's ">", is let pass
    static void setattr(const fuse_req_t request, const fuse_ino_t node, struct stat *, int,
                        fuse_file_info *const file) {
        getattr(request, node, file);
    }

    static void open(const fuse_req_t request, const fuse_ino_t node, fuse_file_info *const file) {
        auto &files = of(request);
        if (node != diskNode && files.texts_.size() >= maxTexts) {
            fuse_reply_err(request, ENFILE);
            return;
        }
        file->direct_io = 1;
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 15)
        file->parallel_direct_writes = 1;
#endif
        if (node == diskNode)
            ++files.openDisks_;
        else
            file->fh = files.keepText(node == statsNode ? files.disk_->stats() : files.control_->result() + "\n");
        fuse_reply_open(request, file);
    }

    static void release(const fuse_req_t request, const fuse_ino_t node, fuse_file_info *const file) {
        auto &files = of(request);
        if (node == diskNode)
            --files.openDisks_;
        else
            files.texts_.erase(file->fh);
        fuse_reply_err(request, 0);
    }

    static void flush(const fuse_req_t request, fuse_ino_t, fuse_file_info *) { fuse_reply_err(request, 0); }

    static void readdir(const fuse_req_t request, fuse_ino_t, const size_t size, const off_t offset, fuse_file_info *) {
        char buffer[512];
        size_t used = 0;
        for (size_t i = static_cast<size_t>(offset); i < std::size(entries); ++i) {
            const auto status = attributes(of(request), entries[i].node);
            used += fuse_add_direntry(request, buffer + used, sizeof(buffer) - used, entries[i].name, &status,
                                      static_cast<off_t>(i) + 1);
        }
        fuse_reply_buf(request, buffer, std::min(used, size));
    }

    static void read(const fuse_req_t request, const fuse_ino_t node, const size_t size, const off_t offset,
                     fuse_file_info *const file) {
        auto &files = of(request);
        const auto begin = static_cast<uint64_t>(offset);
        if (node != diskNode) {
            const auto &text = files.texts_[file->fh];
            const auto from = std::min<uint64_t>(begin, text.size());
            fuse_reply_buf(request, text.data() + from, std::min<uint64_t>(size, text.size() - from));
            return;
        }
        const auto end = std::min<uint64_t>(files.disk_->size(), begin + std::min<uint64_t>(size, Store::maxRead));
        if (begin >= end)
            fuse_reply_buf(request, nullptr, 0);
        else
            files.disk_->read(request, begin, end - begin);
    }

    static void write(const fuse_req_t request, const fuse_ino_t node, const char *const data, const size_t size,
                      const off_t offset, fuse_file_info *) {
        auto &files = of(request);
        const auto begin = static_cast<uint64_t>(offset);
        if (node == ctlNode && files.control_->obey(std::string(data, size)))
            fuse_reply_write(request, size);
        else if (node != diskNode)
            fuse_reply_err(request, EINVAL);
        else if (begin + size > files.disk_->size())
            fuse_reply_err(request, ENOSPC);
        else
            files.disk_->write(request, begin, size, data);
    }

    static void fsync(const fuse_req_t request, const fuse_ino_t node, int, fuse_file_info *) {
        if (node == diskNode)
            of(request).disk_->flush(request);
        else
            fuse_reply_err(request, 0);
    }

    /// holes are punched for discards and for zeros; a preallocation is nothing to do
    static void fallocate(const fuse_req_t request, const fuse_ino_t node, const int mode, const off_t offset,
                          const off_t length, fuse_file_info *) {
        auto &disk = *of(request).disk_;
        const auto begin = static_cast<uint64_t>(offset);
        const auto size = static_cast<uint64_t>(length);
        if (node != diskNode)
            fuse_reply_err(request, EOPNOTSUPP);
        else if (begin >= disk.size() || size > disk.size() - begin)
            fuse_reply_err(request, EINVAL);
        else if (!mode)
            fuse_reply_err(request, 0);
        else
            disk.discard(request, begin, size);
    }

    static void statfs(const fuse_req_t request, fuse_ino_t) {
        struct statvfs status;
        memset(&status, 0, sizeof(status));
        status.f_bsize = status.f_frsize = 4096;
        status.f_blocks = of(request).disk_->size() / 4096;
        status.f_namemax = 255;
        fuse_reply_statfs(request, &status);
    }

    static fuse_lowlevel_ops table() {
        fuse_lowlevel_ops ops;
        memset(&ops, 0, sizeof(ops));
        ops.init = &init;
        ops.lookup = &lookup;
        ops.getattr = &getattr;
        ops.setattr = &setattr;
        ops.open = &open;
        ops.release = &release;
        ops.flush = &flush;
        ops.readdir = &readdir;
        ops.read = &read;
        ops.write = &write;
        ops.fsync = &fsync;
        ops.fallocate = &fallocate;
        ops.statfs = &statfs;
        return ops;
    }
};

FuseFiles::FuseFiles(const std::string &name, const std::string &folder):
    buffer_(std::make_unique<fuse_buf>())
{
    memset(buffer_.get(), 0, sizeof(*buffer_)); // libfuse allocates the memory in it
    struct fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
    const std::string options = "-oallow_other,subtype=diskmodel,fsname=" + name;
    const auto ops = FuseCalls::table();
    if (fuse_opt_add_arg(&arguments, "diskmodel") == 0 && fuse_opt_add_arg(&arguments, options.c_str()) == 0)
        session_ = fuse_session_new(&arguments, &ops, sizeof(ops), this);
    fuse_opt_free_args(&arguments);
    if (!session_)
        throw BadRequest("libfuse does not begin a session");
    if (fuse_session_mount(session_, folder.c_str()) != 0) {
        fuse_session_destroy(session_);
        throw BadRequest("cannot mount " + folder + " (is FUSE in the kernel, and is this root?)");
    }
    const int flags = fcntl(fd(), F_GETFL);
    fcntl(fd(), F_SETFL, flags | O_NONBLOCK); // receive() must not wait: time goes on
}

FuseFiles::~FuseFiles()
{
    fuse_session_unmount(session_);
    fuse_session_destroy(session_);
    free(buffer_->mem);
}

void
FuseFiles::serve(Disk &disk, Control &control)
{
    disk_ = &disk;
    control_ = &control;
}

int
FuseFiles::fd() const
{
    return fuse_session_fd(session_);
}

bool
FuseFiles::ended() const
{
    return fuse_session_exited(session_);
}

bool
FuseFiles::receive()
{
    if (fuse_session_receive_buf(session_, buffer_.get()) <= 0)
        return false;
    fuse_session_process_buf(session_, buffer_.get());
    return true;
}

uint64_t
FuseFiles::keepText(const std::string &text)
{
    texts_[++lastText_] = text;
    return lastText_;
}

void
FuseFiles::read(void *const handle, const char *const data, const uint64_t size)
{
    fuse_reply_buf(static_cast<fuse_req_t>(handle), data, size);
}

void
FuseFiles::written(void *const handle, const uint64_t size)
{
    fuse_reply_write(static_cast<fuse_req_t>(handle), size);
}

void
FuseFiles::done(void *const handle)
{
    fuse_reply_err(static_cast<fuse_req_t>(handle), 0);
}

void
FuseFiles::failed(void *const handle, const int error)
{
    fuse_reply_err(static_cast<fuse_req_t>(handle), error);
}

} // namespace DiskModel

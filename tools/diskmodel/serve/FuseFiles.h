// SPDX-License-Identifier: GPL-2.0-or-later
/* The modelled disk as files of a small file system. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_SERVE_FUSEFILES_H
#define CLUSTERFS_TOOLS_DISKMODEL_SERVE_FUSEFILES_H

#include "tools/diskmodel/device/Control.h"

#include <map>

struct fuse_session;
struct fuse_buf;

namespace DiskModel {

/// A mounted folder with three files: disk, the device; ctl, where commands are
/// written, and read what came of the last ones; stats, JSON. One thread reads
/// requests from the kernel when there are some, and answers them in any order.
class FuseFiles : public Answers
{
public:
    /// mounts the folder; serve() must be told the disk before requests are received
    /// \throws BadRequest
    FuseFiles(const std::string &name, const std::string &folder);
    ~FuseFiles() override; ///< unmounts

    void serve(Disk &, Control &);

    int fd() const; ///< readable when there are requests
    bool receive(); ///< takes one, if there is one \returns whether there was
    bool ended() const; ///< somebody else unmounted the folder
    unsigned openDisks() const { return openDisks_; } ///< how often disk is open

    void read(void *handle, const char *data, uint64_t size) override;
    void written(void *handle, uint64_t size) override;
    void done(void *handle) override;
    void failed(void *handle, int error) override;

private:
    friend struct FuseCalls;

    /// a text as it was when its file was opened
    uint64_t keepText(const std::string &);

    fuse_session *session_ = nullptr;
    std::unique_ptr<fuse_buf> buffer_;
    Disk *disk_ = nullptr;
    Control *control_ = nullptr;
    unsigned openDisks_ = 0;
    std::map<uint64_t, std::string> texts_; ///< by file handle
    uint64_t lastText_ = 0;
};

} // namespace DiskModel

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that is the disk. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_SERVE_SERVER_H
#define CLUSTERFS_TOOLS_DISKMODEL_SERVE_SERVER_H

#include "tools/diskmodel/device/WriteLog.h"
#include "tools/diskmodel/serve/FuseFiles.h"
#include "tools/diskmodel/serve/Options.h"

namespace DiskModel {

/// Mounts the folder, answers requests on time, and goes on until its owner is
/// gone (or SIGTERM came) and nobody has the disk open. Then unmounts, and
/// removes the folder.
class Server
{
public:
    /// \param owner a stream socket; its end means the owner's
    /// \param log may be nil
    Server(const ServeOptions &, Store &, WriteLog *log, const std::string &folder, int owner);

    /// says "ok\n" or what is wrong to the owner; \returns what to exit with
    int run();

private:
    bool start();
    void loop();
    bool waitForEvent();
    void beginStop();
    void say(const std::string &) const;

    const ServeOptions &options_;
    Store &store_;
    WriteLog *const log_;
    const std::string folder_;
    const int owner_;
    int signals_ = -1;
    std::unique_ptr<FuseFiles> files_;
    std::unique_ptr<Disk> disk_;
    std::unique_ptr<Control> control_;
    Nanos stopBy_ = never; ///< when to end even if the disk is open
};

} // namespace DiskModel

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that makes the disk and takes it away again. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_SERVE_SUPERVISOR_H
#define CLUSTERFS_TOOLS_DISKMODEL_SERVE_SUPERVISOR_H

#include "tools/diskmodel/device/Store.h"
#include "tools/diskmodel/device/WriteLog.h"
#include "tools/diskmodel/serve/LoopDevice.h"
#include "tools/diskmodel/serve/Options.h"

#include <sys/types.h>

namespace DiskModel {

/// Starts the server in a process of its own, since attaching a loop device
/// waits for answers of the disk. Whichever of the two processes dies, and
/// however, the other one cleans up: the loop device goes when this one ends,
/// the mount and its folder when the server ends.
class Supervisor
{
public:
    explicit Supervisor(const ServeOptions &options): options_(options) {}

    /// makes the disk, says so on standard output, waits for the end, cleans up
    /// \returns what to exit with \throws BadRequest when there is no disk to be had
    int run();

private:
    void checkMachine() const;
    void makeFolder();
    void startServer();
    void awaitServer() const;
    void attachLoop();
    void announce() const;
    void waitForEnd();
    bool cleanUp();
    bool endServer();

    const ServeOptions options_;
    std::unique_ptr<Store> store_;
    std::unique_ptr<WriteLog> log_;
    std::string folder_;
    int signals_ = -1;
    int server_ = -1; ///< the socket to it
    pid_t pid_ = -1; ///< the server's
    std::unique_ptr<LoopDevice> loop_;
};

} // namespace DiskModel

#endif

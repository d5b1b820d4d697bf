// SPDX-License-Identifier: GPL-2.0-or-later
/* A device whose writes somebody may watch. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_WATCHEDDEVICE_H
#define SQUID_SRC_FS_CLUSTER_SQUID_WATCHEDDEVICE_H

#include "fs/cluster/device/AioDevice.h"

#include <functional>
#include <memory>
#include <vector>

namespace ClusterFs {

/// Passes each request on to a disk, and shows somebody each write. A search through the disk has to see the clusters
/// that the engine writes meanwhile, and the engine does not tell. Destroy it when it is idle(): requests under way
/// would keep their memory.
class WatchedDevice final : public Device
{
public:
    /// takes a write before the disk has it, and submits no request
    using Watch = std::function<void(const Io &)>;

    /// \param disk its depth is at least that of this device, so that requests wait here only
    WatchedDevice(const Clock &, std::unique_ptr<AioDevice> disk, unsigned depth);

    /// Tells this function of each write from now on, and of those that are under way; an empty one ends it.
    void watch(Watch);

    void wait(const unsigned milliseconds) override { disk_->wait(milliseconds); }
    int wakeupFd() const override { return disk_->wakeupFd(); }
    bool asynchronous() const override { return disk_->asynchronous(); }

private:
    bool start(Request *) override;
    void reap() override { (void)disk_->poll(); }
    void wake() override { disk_->pollAgain(); }
    void end(Request *, Status);

    const std::unique_ptr<AioDevice> disk_;
    std::vector<const Request *> writes_; ///< under way, at most depth()
    Watch watch_; ///< empty: nobody watches
};

} // namespace ClusterFs

#endif

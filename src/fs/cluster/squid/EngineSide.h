// SPDX-License-Identifier: GPL-2.0-or-later
/* A cache_dir in the process that has its engine. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_ENGINESIDE_H
#define SQUID_SRC_FS_CLUSTER_SQUID_ENGINESIDE_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/base/Clock.h"
#include "fs/cluster/base/SystemMemory.h"
#include "fs/cluster/device/AioDevice.h"
#include "fs/cluster/sharing/Owner.h"
#include "fs/cluster/squid/EventLoop.h"
#include "fs/cluster/squid/StoreSide.h"

#include <functional>
#include <memory>
#include <string>

namespace ClusterFs {

class SwapDir;

/// The device, the engine, and where workers share the cache_dir, the owner that serves them.
class EngineSide final : public StoreSide
{
public:
    /// Opens the device and starts the engine.
    /// \param dir outlives this
    /// \param socket for workers; empty = there are none
    /// \param poll is called when workers want something
    /// \param error receives the reason when it fails, if the status does not say all
    static Status Open(SwapDir &dir, const Config &, const std::string &socket, const Clock &, const Log &, std::function<void()> poll,
                       std::unique_ptr<EngineSide> &side, std::string &error);

    /* StoreSide API */
    ObjectStore &store() override { return *engine_; }
    int wakeupFd() const override { return device_->wakeupFd(); }
    void poll() override;
    void configure(const Config &) override;
    Status close(unsigned milliseconds) override;
    std::string stateText() const override { return engine_->stateText(); }
    std::unique_ptr<PageText> ask(const std::string &question) override { return answerTo(dir_, question); }

    Engine &engine() const { return *engine_; }
    AioDevice &device() const { return *device_; }
    Owner *owner() const { return owner_.get(); } ///< nil without workers

    /// While a dir is cleared, nothing is found or stored, and the engine packs what is staged and frees all clusters.
    void setClearing(bool);
    bool clearing() const { return clearing_; }

private:
    EngineSide(SwapDir &dir, const Config &config, const Clock &clock, std::function<void()> poll):
        dir_(dir), config_(config), clock_(clock), forWorkers_(dir, poll), workersLoop_(std::move(poll)) {}

    void apply();

    SwapDir &dir_;
    Config config_; ///< as configured, without what clearing changes
    const Clock &clock_;
    SystemMemory memory_;
    std::unique_ptr<AioDevice> device_; ///< outlives the engine
    std::unique_ptr<Engine> engine_;
    ForWorkers forWorkers_;
    std::unique_ptr<Owner> owner_; ///< nil unless workers of other processes use engine_
    EventLoop workersLoop_; ///< for owner_
    bool clearing_ = false; ///< see setClearing()
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine alone, in one thread, for measurements. */

#ifndef CLUSTERFS_TOOLS_BENCH_ENGINE_DIRECTENGINE_H
#define CLUSTERFS_TOOLS_BENCH_ENGINE_DIRECTENGINE_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/api/Reader.h"
#include "fs/cluster/base/Clock.h"
#include "fs/cluster/device/AioDevice.h"
#include "fs/cluster/engine/Open.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace Bench {

/// A store on a device, whose engine is run by the calls here: each waits for the disk where it must.
class DirectEngine
{
public:
    /// Opens a store and waits until its index is loaded. \throws std::runtime_error
    explicit DirectEngine(const std::string &path) {
        const auto log = [](ClusterFs::LogLevel, const std::string &) {};
        std::string error;
        ClusterFs::AioDevice::OpenOptions options;
        options.path = path;
        device_ = ClusterFs::AioDevice::Open(clock_, options, log, error);
        if (!device_ || openEngine(*device_, clock_, ClusterFs::Config(), log, engine_, error) != ClusterFs::Status::ok)
            throw std::runtime_error(error);
        while (engine_->state() == ClusterFs::EngineState::recovering)
            turn();
    }
    ~DirectEngine() { (void)engine_->close(60000); }
    DirectEngine(const DirectEngine &) = delete;
    DirectEngine &operator =(const DirectEngine &) = delete;

    ClusterFs::Engine &engine() { return *engine_; }
    const ClusterFs::Device &device() const { return *device_; }

    /// Reads all of an object, as Squid does for a hit.
    /// \param buffer room for all of its bytes
    /// \returns whether there is one
    bool read(const ClusterFs::Key &key, std::vector<char> &buffer) {
        ClusterFs::ObjectInfo info;
        if (!engine_->find(key, info))
            return false;
        engine_->touch(key);
        const auto reader = engine_->read(key);
        for (size_t at = 0; at < info.size;) {
            const auto moved = reader->copy(at, buffer.data() + at, buffer.size() - at);
            if (moved > 0) {
                at += static_cast<size_t>(moved);
                continue;
            }
            bool answered = false;
            reader->fetch(at, [&](ClusterFs::Status) { answered = true; });
            while (!answered)
                turn();
        }
        engine_->poll();
        return true;
    }

    void turn() {
        engine_->poll();
        device_->wait(device_->idle() ? 0 : 10);
    }

    /// until the disk has done all that was asked of it
    void finish() {
        while (!device_->idle())
            turn();
    }

private:
    const ClusterFs::SystemClock clock_;
    std::unique_ptr<ClusterFs::AioDevice> device_;
    std::unique_ptr<ClusterFs::Engine> engine_;
};

} // namespace Bench

#endif

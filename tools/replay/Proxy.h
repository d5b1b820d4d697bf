// SPDX-License-Identifier: GPL-2.0-or-later
/* An engine in simulated time, and what a proxy does with it. */

#ifndef CLUSTERFS_TOOLS_REPLAY_PROXY_H
#define CLUSTERFS_TOOLS_REPLAY_PROXY_H

#include "fs/cluster/api/Config.h"
#include "fs/cluster/api/Engine.h"
#include "tools/replay/ModelDevice.h"

#include <memory>
#include <string>
#include <vector>

namespace Replay {

constexpr uint64_t headerBytes = 300; ///< that a proxy stores with each body

/// Sets options of a cache_dir from one text, "name=value name=value", and checks all of them.
/// \throws BadRequest, with what in front of the text that is wrong
void setOptions(const std::string &what, const std::string &text, ClusterFs::Config &);

/// Stores and reads objects as Squid does, one request after the other, on a modelled device. Objects have no
/// contents here, but zeros: what is checked elsewhere is not checked again.
class Proxy
{
public:
    /// \param deviceBytes rounded down to a multiple of 4096
    /// \throws std::system_error when there is not enough address space
    Proxy(const ClusterFs::Config &, uint64_t deviceBytes, const Costs &);

    /// opens the engine, and formats the device before if asked to
    /// \returns false with the reason in error
    bool start(bool format, std::string &error);
    /// the proxy ends cleanly
    void stop();

    /// reads an object to its end \returns false for a miss
    bool fetch(const ClusterFs::Key &);
    /// \param bytes that are stored, headers included
    /// \returns false when the engine refused it
    bool store(const ClusterFs::Key &, uint64_t bytes);

    /// lets time pass until then, if it is not later already; the engine does its housekeeping
    void passUntil(uint64_t micros);

    ClusterFs::Engine &engine() { return *engine_; } ///< after start()
    const ModelDevice &device() const { return device_; }
    ModelDevice &device() { return device_; }
    uint64_t now() const { return clock_.micros(); } ///< microseconds

private:
    void poll();

    ClusterFs::Config config_;
    ClusterFs::ManualClock clock_;
    ModelDevice device_;
    std::unique_ptr<ClusterFs::Engine> engine_; ///< after device_, so that it goes first
    std::vector<char> buffer_; ///< zeros
};

} // namespace Replay

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of statistics. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_STATISTICS_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_STATISTICS_H

#include "fs/cluster/api/Stats.h"
#include "fs/cluster/device/Device.h"
#include "fs/cluster/layout/Superblock.h"

#include <string>
#include <variant>
#include <vector>

namespace ClusterFs {

class Engine;

/// the figures from which statistics are made, at one moment
struct Snapshot {
    std::string state; ///< Engine::stateText()
    Stats stats;
    double recoveryProgress = 0; ///< 0 to 1
    const Superblock *superblock = nullptr; ///< nil when the engine is closed
    DeviceStats device;
    bool asynchronous = false; ///< whether Squid goes on while the device works
    uint64_t inFlight = 0; ///< requests at the device
    uint64_t queued = 0; ///< requests in front of it
    uint64_t activeMicros = 0; ///< see Device::activeMicros()
};

/// \param device of that engine
Snapshot snapshotOf(const Engine &, const Device &);

/// A figure, as the manager's page and docs/metrics.md show it.
struct Statistic {
    /// a counter only grows until Squid is restarted, or the device is taken out of service
    enum class Kind : uint8_t { counter, gauge, text };

    /// monostate: the page leaves the figure out. A text in place of a number says why there is none. A histogram
    /// has whole numbers.
    using Value = std::variant<std::monostate, uint64_t, double, std::string, const Histogram *>;

    const char *section; ///< of the page; empty for figures in front of all sections
    const char *name; ///< stable: scripts look for it
    Kind kind;
    const char *unit; ///< of the value: bytes, s, ms, us, %; empty for things that are counted, a ratio or a text
    Value (*value)(const Snapshot &); ///< takes it from a snapshot, which owns a histogram that it points to
    const char *meaning; ///< a phrase
    const char *watch = ""; ///< a phrase that tells an administrator why to watch it; or empty
};

/// all statistics, in the order of the page
const std::vector<Statistic> &statistics();

} // namespace ClusterFs

#endif

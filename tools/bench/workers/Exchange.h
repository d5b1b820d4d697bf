// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects of one process's engine, for another process. */

#ifndef CLUSTERFS_TOOLS_BENCH_WORKERS_EXCHANGE_H
#define CLUSTERFS_TOOLS_BENCH_WORKERS_EXCHANGE_H

#include "fs/cluster/base/Types.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace Bench {

/// what a worker does
struct Load {
    const char *name;
    bool stores; ///< or else it reads
    uint64_t times; ///< in each round
    unsigned depth; ///< objects at a time
    std::function<uint64_t(uint64_t)> object; ///< the number of the nth one, over all rounds
};

/// the costs of one object of a load
struct ExchangeCosts {
    std::vector<double> workerMicros; ///< of processor time, by round
    std::vector<double> ownerMicros; ///< of processor time, by round
    std::vector<double> latency; ///< median microseconds from asking for an object to having all of it, by round
    std::vector<double> wakeUps; ///< of either process, by round
};

/// Runs a load in a process of its own, for which this process is the owner of a store.
/// \param path of a store whose objects have so many bytes each
/// \throws std::runtime_error when an object is not there, not stored, or has other bytes
ExchangeCosts exchange(const std::string &path, const Load &, uint64_t bytes, uint64_t rounds, ClusterFs::Key (*keyOf)(uint64_t));

} // namespace Bench

#endif

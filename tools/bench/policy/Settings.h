// SPDX-License-Identifier: GPL-2.0-or-later
/* What the command line of bench-policy says. */

#ifndef CLUSTERFS_BENCH_POLICY_SETTINGS_H
#define CLUSTERFS_BENCH_POLICY_SETTINGS_H

#include "fs/cluster/api/Config.h"
#include "tools/bench/web/workload/Factory.h"
#include "tools/replay/ModelDevice.h"

#include <memory>
#include <string>
#include <vector>

namespace PolicyBench {

/// Everything that decides a run.
class Settings
{
public:
    WebBench::WorkloadSettings workload;
    uint64_t cacheMb = 400; ///< size of the device
    uint64_t users = 16; ///< active at once
    std::string prepare = "age"; ///< fill, age or nothing
    double turns = 3; ///< how often ageing replaces the cache
    uint64_t warm = 1000; ///< visits as measured, not counted
    bool restart = false; ///< before the counted visits
    uint64_t visits = 2000; ///< counted
    uint64_t show = 0; ///< visits after these whose requests are shown one by one
    ClusterFs::Config config;
    Replay::Costs costs;

    /// \returns false when the words asked for help, which was printed
    /// \throws BadRequest
    bool read(const std::vector<std::string> &words);

    /// the visits to prepare with, in that order, or those to measure when order is empty
    /// \returns nothing, with the reason in error
    std::unique_ptr<WebBench::Workload> visitsIn(const std::string &order, std::string &error) const;

private:
    void declare(Tools::CommandLine &);
    void check();

    std::vector<std::string> words_;
    std::string engine_;
    std::string model_ = "hdd";
};

} // namespace PolicyBench

#endif

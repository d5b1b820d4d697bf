// SPDX-License-Identifier: GPL-2.0-or-later
/* What is known of paths without another look at the folder. */

#ifndef CLUSTERFS_SRC_LIB_FACES_STATUSES_H
#define CLUSTERFS_SRC_LIB_FACES_STATUSES_H

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace ClusterFs::Library {

/// Remembers the status of paths for some seconds. Of many paths, it forgets those that nobody has asked for longest, half of
/// them at a time. Any thread may call it.
class Statuses
{
public:
    /// \param seconds 0 = it remembers nothing \param most paths
    Statuses(const uint64_t seconds, const uint64_t most): seconds_(seconds), half_(most / 2) {}

    bool find(const std::string &path, struct stat &status);
    void note(const std::string &path, const struct stat &status);
    void forget(const std::string &path);

private:
    using Clock = std::chrono::steady_clock;
    struct Known {
        struct stat status;
        Clock::time_point since;
    };
    using Map = std::unordered_map<std::string, Known>;

    void keep(const std::string &path, const Known &);

    const uint64_t seconds_;
    const uint64_t half_;
    std::mutex mutex_; ///< for both
    Map newer_; ///< at most half_, of those that were asked for since it was empty
    Map older_;
};

} // namespace ClusterFs::Library

#endif

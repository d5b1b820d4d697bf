// SPDX-License-Identifier: GPL-2.0-or-later
/* What is known of paths without another look at the folder. */

#include "lib/faces/Statuses.h"

#include <utility>

namespace ClusterFs::Library {

bool
Statuses::find(const std::string &path, struct stat &status)
{
    if (!seconds_)
        return false;
    const std::lock_guard<std::mutex> lock(mutex_);
    auto found = newer_.find(path);
    if (found == newer_.end()) {
        const auto old = older_.find(path);
        if (old == older_.end())
            return false;
        const auto known = old->second;
        older_.erase(old);
        keep(path, known);
        found = newer_.find(path);
    }
    if (found == newer_.end() || Clock::now() - found->second.since >= std::chrono::seconds(seconds_))
        return false;
    status = found->second.status;
    return true;
}

void
Statuses::note(const std::string &path, const struct stat &status)
{
    if (!seconds_)
        return;
    const std::lock_guard<std::mutex> lock(mutex_);
    older_.erase(path);
    keep(path, {status, Clock::now()});
}

void
Statuses::forget(const std::string &path)
{
    if (!seconds_)
        return;
    const std::lock_guard<std::mutex> lock(mutex_);
    newer_.erase(path);
    older_.erase(path);
}

/// the caller has the lock
void
Statuses::keep(const std::string &path, const Known &known)
{
    if (newer_.size() >= half_) {
        older_ = std::exchange(newer_, Map());
        if (!half_)
            return;
    }
    newer_[path] = known;
}

} // namespace ClusterFs::Library

// SPDX-License-Identifier: GPL-2.0-or-later
/* What a cache would have that drops the least recently used object, one by one. */

#ifndef CLUSTERFS_BENCH_POLICY_OBJECTLRU_H
#define CLUSTERFS_BENCH_POLICY_OBJECTLRU_H

#include "fs/cluster/base/Types.h"

#include <list>
#include <unordered_map>

namespace PolicyBench {

/// The replacement that proxies are measured against. Knows which objects such
/// a cache would hold and keeps no bytes of them.
class ObjectLru
{
public:
    /// \param limit bytes of all objects
    explicit ObjectLru(const uint64_t limit): limit_(limit) {}

    /// Asks for an object, which is stored when it is not there.
    /// \returns whether it was
    bool request(const ClusterFs::Key &key, const uint64_t bytes) {
        const auto found = places_.find(key);
        if (found != places_.end()) {
            order_.splice(order_.begin(), order_, found->second);
            return true;
        }
        if (bytes > limit_)
            return false;
        order_.push_front({key, bytes});
        places_[key] = order_.begin();
        used_ += bytes;
        while (used_ > limit_) {
            used_ -= order_.back().bytes;
            places_.erase(order_.back().key);
            order_.pop_back();
        }
        return false;
    }

private:
    struct Object {
        ClusterFs::Key key;
        uint64_t bytes;
    };

    uint64_t limit_;
    uint64_t used_ = 0;
    std::list<Object> order_; ///< the newest first
    std::unordered_map<ClusterFs::Key, std::list<Object>::iterator, ClusterFs::KeyHash> places_;
};

} // namespace PolicyBench

#endif

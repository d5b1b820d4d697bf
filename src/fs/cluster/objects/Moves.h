// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects that are on their way to another key. */

#ifndef SQUID_SRC_FS_CLUSTER_OBJECTS_MOVES_H
#define SQUID_SRC_FS_CLUSTER_OBJECTS_MOVES_H

#include "fs/cluster/base/Types.h"

#include <unordered_map>

namespace ClusterFs {

/// A move to another key may wait for the device. It gives way to what happens to that key meanwhile: an object that was removed
/// there must not come to life, and a newer one must not be replaced.
class Moves
{
public:
    void begin(const Key &to) { ++toward_[to].moves; }
    void end(const Key &to) {
        const auto found = toward_.find(to);
        if (!--found->second.moves)
            toward_.erase(found);
    }

    /// an object was stored or removed under a key
    void noteChange(const Key &key) {
        const auto found = toward_.find(key);
        if (found != toward_.end())
            found->second.changed = true;
    }
    /// whether that has happened since a move began that is under way
    bool changed(const Key &to) const { return toward_.at(to).changed; }

private:
    struct Toward {
        unsigned moves = 0; ///< under way
        bool changed = false;
    };
    std::unordered_map<Key, Toward, KeyHash> toward_;
};

} // namespace ClusterFs

#endif

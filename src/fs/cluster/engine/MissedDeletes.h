// SPDX-License-Identifier: GPL-2.0-or-later
/* Deletes that no engine could record. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_MISSEDDELETES_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_MISSEDDELETES_H

#include "fs/cluster/api/Engine.h"

#include <limits>
#include <unordered_set>

namespace ClusterFs {

/// Remembers the objects that were deleted or replaced while a device was out of service, so that
/// they do not come back with it. Replaced objects that are too many to remember can be doubted
/// instead: revalidation finds out which ones they are. Deleted ones can't.
class MissedDeletes
{
public:
    static constexpr size_t limit = 65536; ///< objects, about 3 MB
    static constexpr size_t replacedLimit = limit / 2; ///< objects, from which on no replaced ones are added

    /// an object was deleted
    void note(const Key &);

    /// the caller has got a newer version of an object, which it keeps elsewhere, or not at all
    void noteReplaced(const Key &);

    /// any object of the device may have been replaced
    void noteAnyReplaced() { anyReplaced_ = true; }

    /// whether more may have been deleted than is remembered, so that the device can't be used again
    bool full() const { return keys_.size() >= limit; }

    /// Removes what was deleted from an engine that has come into service, and forgets it.
    /// \param now seconds since 1970
    void tell(Engine &, int64_t now);

    /// whether an object may have been deleted or replaced while no engine was there
    /// \param timestamp of the object's Date, seconds since 1970
    bool doubts(const int64_t timestamp) const { return timestamp <= doubtedUntil_; }

private:
    std::unordered_set<Key, KeyHash> keys_;
    bool anyReplaced_ = false; ///< also objects that are not in keys_
    int64_t doubtedUntil_ = std::numeric_limits<int64_t>::min();
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Deletes that no engine could record. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_MISSEDDELETES_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_MISSEDDELETES_H

#include "fs/cluster/api/Engine.h"

#include <limits>
#include <unordered_set>

namespace ClusterFs {

/// Remembers the objects that were deleted or replaced while a device was out of service, so that
/// they do not come back with it. If too many were replaced, all objects of that time are doubtful
/// instead: revalidation finds those that were replaced. It would not find deleted ones.
class MissedDeletes
{
public:
    static constexpr size_t limit = 65536; ///< objects that are remembered; about 3 MB
    static constexpr size_t replacedLimit = limit / 2; ///< objects from which on no replaced ones are added

    /// an object was deleted
    void note(const Key &);

    /// the caller got a newer version of an object, which it stores elsewhere, or not at all
    void noteReplaced(const Key &);

    /// any object of the device may have been replaced
    void noteAnyReplaced() { anyReplaced_ = true; }

    /// whether deletes may have been missed, so that the device must not be used again
    bool full() const { return keys_.size() >= limit; }

    /// Removes the remembered objects from an engine that has come into service, and forgets them.
    /// \param now seconds since 1970
    void tell(Engine &, int64_t now);

    /// see doubts()
    int64_t doubtedUntil() const { return doubtedUntil_; }

    /// whether an object may have been deleted or replaced while no engine was there
    /// \param timestamp of the object's Date, seconds since 1970
    bool doubts(const int64_t timestamp) const { return timestamp <= doubtedUntil_; }

private:
    std::unordered_set<Key, KeyHash> keys_;
    bool anyReplaced_ = false; ///< objects that are not in keys_ may have been replaced, too
    int64_t doubtedUntil_ = std::numeric_limits<int64_t>::min(); ///< seconds since 1970, see doubts()
};

} // namespace ClusterFs

#endif

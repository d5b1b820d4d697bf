// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/RebuildNotice.h"
#include "store_rebuild.h"
#include "time/gadgets.h"

#include <algorithm>
#include <limits>

namespace {

/// the core counts objects with ints
int
ToInt(const uint64_t n)
{
    return static_cast<int>(std::min<uint64_t>(n, std::numeric_limits<int>::max()));
}

} // namespace

void
ClusterFs::RebuildNotice::begin()
{
    startTime_ = current_time;
}

void
ClusterFs::RebuildNotice::update(const int dirIndex, const Engine * const engine)
{
    if (given_)
        return;

    StoreRebuildData counts;
    counts.updateStartTime(startTime_);
    if (engine) {
        // not indexLoaded() only: a scan of the whole device may take hours, and Squid must not wait for that
        if (engine->state() == EngineState::recovering && !engine->indexLoaded()) {
            const auto found = engine->objectCount();
            const auto part = engine->recoveryProgress();
            if (found > 0 && part > 0.0)
                storeRebuildProgress(dirIndex, ToInt(static_cast<uint64_t>(static_cast<double>(found) / part)), ToInt(found));
            return;
        }
        const auto recovery = engine->stats().recovery;
        counts.objcount = ToInt(recovery.objects);
        counts.dupcount = ToInt(recovery.dropped);
        counts.cancelcount = ToInt(recovery.deletes);
        counts.scancount = ToInt(recovery.objects + recovery.dropped);
        counts.validations = static_cast<int64_t>(recovery.clustersRead);
    }
    given_ = true;
    storeRebuildComplete(&counts);
}

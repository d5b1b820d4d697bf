// SPDX-License-Identifier: GPL-2.0-or-later
/* Deletes that no engine could record. */

#include "fs/cluster/engine/MissedDeletes.h"

void
ClusterFs::MissedDeletes::note(const Key &key)
{
    if (!full())
        keys_.insert(key);
}

void
ClusterFs::MissedDeletes::noteReplaced(const Key &key)
{
    if (keys_.size() < replacedLimit)
        keys_.insert(key);
    else
        anyReplaced_ = true;
}

void
ClusterFs::MissedDeletes::tell(Engine &engine, const int64_t now)
{
    for (const auto &key: keys_)
        engine.remove(key);
    keys_.clear();
    if (anyReplaced_)
        doubtedUntil_ = now;
    anyReplaced_ = false;
}

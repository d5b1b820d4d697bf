// SPDX-License-Identifier: GPL-2.0-or-later
/* The owner's index, as a worker maps it. */

#include "fs/cluster/sharing/SharedIndex.h"

#include <utility>

bool
ClusterFs::SharedIndex::map(Descriptors descriptors, const SharedTables &tables, std::string &error)
{
    view_.reset();
    for (size_t i = 0; i < descriptors.size(); ++i) {
        if (!memories_[i].map(std::move(descriptors[i]), tables.memories[i].bytes, SharedMemory::Access::read, error))
            return false;
    }
    const auto &head = memories_[SharedTables::head];
    const auto &buckets = memories_[SharedTables::buckets];
    const auto &records = memories_[SharedTables::records];
    const auto &clusters = memories_[SharedTables::clusters];
    IndexView::Tables t;
    t.head = reinterpret_cast<const IndexHead *>(head.data());
    t.buckets = reinterpret_cast<const uint32_t *>(buckets.data());
    t.bucketsAtMost = buckets.size() / sizeof(uint32_t);
    t.records = reinterpret_cast<const Record *>(records.data());
    t.recordsAtMost = records.size() / sizeof(Record);
    t.clusters = reinterpret_cast<const ClusterEntry *>(clusters.data());
    t.clusterCount = static_cast<uint32_t>(clusters.size() / sizeof(ClusterEntry));
    t.baseBuckets = tables.baseBuckets;
    if (head.size() != sizeof(IndexHead) || !t.baseBuckets || t.baseBuckets > t.bucketsAtMost) {
        error = "an index that can't be";
        return false;
    }
    view_.emplace(t, tables.secret);
    return true;
}

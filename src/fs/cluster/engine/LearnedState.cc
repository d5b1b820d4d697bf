// SPDX-License-Identifier: GPL-2.0-or-later
/* What a store keeps beside the index. */

#include "fs/cluster/engine/LearnedState.h"

ClusterFs::SavedGroups::Saved
ClusterFs::LearnedState::save(uint32_t &at, std::vector<SavedGroups::GroupRecord> &records)
{
    constexpr uint32_t ofHotList = 1; // where to go on; from the next one on, it is a place of the groups
    constexpr uint32_t ofGroups = 2;
    if (at <= ofHotList) {
        const auto saved = hotList_.save(at == 0, SavedGroups::BytesInChunk(), records);
        at = ofHotList;
        if (saved != SavedGroups::Saved::all)
            return saved;
        at = ofGroups;
    }
    auto inGroups = at - ofGroups;
    const auto saved = groups_.save(inGroups, records);
    at = inGroups + ofGroups;
    return saved;
}

bool
ClusterFs::LearnedState::load(const SavedGroups::GroupRecord &record)
{
    if (record.kind != SavedGroups::hotList)
        return groups_.load(record);
    hotList_.restore(record);
    return true;
}

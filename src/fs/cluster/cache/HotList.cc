// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading what was in memory before a restart. */

#include "fs/cluster/cache/HotList.h"

#include "fs/cluster/base/Bytes.h"

#include <algorithm>
#include <tuple>

namespace ClusterFs {
namespace {

constexpr size_t membersInRecord = 1000;

/// A range as a member of a record has it. The lower half of the sequence number tells the contents from older ones.
Key
keyOf(const ClusterRange &range)
{
    Key key;
    ByteWriter w(reinterpret_cast<char *>(key.bytes.data()), key.bytes.size());
    w.id(range.cluster);
    w.u32(range.start);
    w.u32(range.size);
    w.u32(static_cast<uint32_t>(range.sequence.value()));
    return key;
}

ClusterRange
rangeOf(const Key &key)
{
    ByteReader r(reinterpret_cast<const char *>(key.bytes.data()), key.bytes.size());
    ClusterRange range;
    range.cluster = ClusterNo(r.u32());
    range.start = r.u32();
    range.size = r.u32();
    range.sequence = Sequence(r.u32());
    return range;
}

} // namespace
} // namespace ClusterFs

ClusterFs::HotList::HotList(StoreContext &context, ReadCache &cache):
    context_(context),
    cache_(cache)
{
}

ClusterFs::SavedGroups::Saved
ClusterFs::HotList::save(const bool again, const size_t bytes, std::vector<SavedGroups::GroupRecord> &out)
{
    if (!context_.config.warm)
        return SavedGroups::Saved::all;
    if (again) {
        toSave_ = cache_.windows.hottest(most);
        // a run that was too short to read all of its list hands the rest on
        for (auto left = toRead_.rbegin(); left != toRead_.rend() && toSave_.size() < most; ++left)
            toSave_.push_back(*left);
        saved_ = 0;
    }
    size_t used = 0;
    for (const auto &record: out)
        used += record.bytes();
    while (saved_ < toSave_.size()) {
        SavedGroups::GroupRecord record;
        record.kind = SavedGroups::hotList;
        for (; saved_ < toSave_.size() && record.members.size() < membersInRecord; ++saved_) {
            if (used + record.bytes() + SavedGroups::MemberRecord::encodedBytes > bytes)
                break;
            record.members.emplace_back();
            record.members.back().key = keyOf(toSave_[saved_]);
        }
        if (record.members.empty())
            return SavedGroups::Saved::full;
        used += record.bytes();
        out.push_back(std::move(record));
    }
    toSave_ = {};
    saved_ = 0;
    return SavedGroups::Saved::all;
}

void
ClusterFs::HotList::restore(const SavedGroups::GroupRecord &record)
{
    for (const auto &member: record.members) {
        if (toRead_.size() < most)
            toRead_.push_back(rangeOf(member.key));
    }
    sorted_ = false;
}

/// whether the bytes are those that were hot, and can be read
bool
ClusterFs::HotList::isThere(const ClusterRange &range) const
{
    const auto &clusters = context_.catalog.clusters();
    if (!clusters.has(range.cluster) || !range.size || range.size > cache_.loader.maxPrefetch())
        return false;
    const auto &c = clusters[range.cluster];
    return c.state == ClusterState::packed && static_cast<uint32_t>(c.sequence.value()) == range.sequence.value() &&
           uint64_t(range.start) + range.size <= c.end;
}

/// \param range receives the next one that is worth a read
/// \returns false when there is none
bool
ClusterFs::HotList::next(ClusterRange &range)
{
    constexpr unsigned looks = 256; // in a turn
    for (unsigned looked = 0; looked < looks && !toRead_.empty(); ++looked) {
        range = toRead_.back();
        toRead_.pop_back();
        if (!isThere(range))
            continue;
        range.sequence = context_.catalog.clusters()[range.cluster].sequence;
        if (!cache_.loader.has(range))
            return true;
    }
    return false;
}

void
ClusterFs::HotList::poll()
{
    if (!context_.config.warm)
        toRead_.clear();
    if (toRead_.empty() || reading_ || !context_.recovered || !context_.device.idle())
        return;
    if (!sorted_) {
        const auto behind = [](const ClusterRange &a, const ClusterRange &b) { return std::tie(a.cluster, a.start) > std::tie(b.cluster, b.start); };
        std::sort(toRead_.begin(), toRead_.end(), behind);
        sorted_ = true;
    }
    if (cache_.windows.bytes() >= cache_.windows.limit() / 4 * 3) {
        toRead_ = {};
        return;
    }
    ClusterRange range;
    if (!next(range)) {
        context_.device.pollAgain();
        return;
    }
    reading_ = true;
    const auto alive = context_.alive;
    cache_.loader.load(range, range.cluster, IoClass::background, [this, alive](Status) {
        if (!*alive)
            return;
        reading_ = false;
        ++windowsRead_;
        context_.device.pollAgain();
    });
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* An index as another process sees it. */

#include "fs/cluster/catalog/IndexView.h"

#include "fs/cluster/base/SharedWord.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace ClusterFs {
namespace {

/// copies a record word by word, so that no word is torn
void
copy(Record &to, const Record &from)
{
    static_assert(std::is_trivially_copyable<Record>::value && sizeof(Record) % sizeof(uint32_t) == 0, "a record is some words");
    constexpr auto words = sizeof(Record) / sizeof(uint32_t);
    uint32_t copied[words];
    const auto source = reinterpret_cast<const uint32_t *>(&from);
    for (size_t i = 0; i < words; ++i)
        copied[i] = loadShared(source[i]);
    memcpy(&to, copied, sizeof(to));
}

} // namespace
} // namespace ClusterFs

bool
ClusterFs::IndexView::locate(const Key &key, Place &place) const
{
    place.hashed = hasher_(key);
    const auto &counter = tables_.head->counterOf(place.hashed);
    for (unsigned i = 0; i < maxTries; ++i) {
        place.counter = counter.load(std::memory_order_acquire);
        if (place.counter % 2)
            continue;
        const auto found = look(place.hashed, place);
        if (stays(place))
            return found;
    }
    return false;
}

bool
ClusterFs::IndexView::stays(const Place &place) const
{
    std::atomic_thread_fence(std::memory_order_acquire); // what was read was read before that
    return tables_.head->counterOf(place.hashed).load(std::memory_order_relaxed) == place.counter;
}

bool
ClusterFs::IndexView::find(const Key &key, ObjectInfo &info) const
{
    Place place;
    if (!locate(key, place))
        return false;
    info = InfoOf(place);
    return true;
}

bool
ClusterFs::IndexView::next(uint64_t &cursor, Key &key, ObjectInfo &info, unsigned &looks) const
{
    const auto end = std::min({tables_.head->slots.load(std::memory_order_relaxed), tables_.recordsAtMost, tables_.keysAtMost});
    for (; cursor < end && looks; ++cursor) {
        --looks;
        memcpy(&key, &tables_.keys[cursor], sizeof(key)); // where it is half of one, no record has it
        Place place;
        if (key == Key() || !locate(key, place) || place.slot.value() != cursor)
            continue;
        ++cursor;
        info = InfoOf(place);
        return true;
    }
    return false;
}

ClusterFs::ObjectInfo
ClusterFs::IndexView::InfoOf(const Place &place)
{
    auto info = place.record.info();
    info.size = place.size;
    return info;
}

/// Finds what the tables have now, which may be nonsense if they are being changed.
bool
ClusterFs::IndexView::look(const HashedKey hashed, Place &place) const
{
    const auto now = tables_.head->buckets.load(std::memory_order_relaxed);
    if (now < tables_.baseBuckets || now > tables_.bucketsAtMost)
        return false;
    unsigned level = 0;
    while (now >= uint64_t(tables_.baseBuckets) << (level + 1))
        ++level;
    const auto bucket = IndexHead::BucketOf(hashed, tables_.baseBuckets, level, now);
    const auto first = loadShared(tables_.buckets[bucket]);
    if (!first)
        return false;
    auto at = first - 1;
    auto found = false;
    for (unsigned steps = 0; steps < maxSteps && at < tables_.recordsAtMost; ++steps) {
        const auto &record = tables_.records[at];
        if (loadShared(record.tag) == hashed.tag) {
            place.slot = SlotNo(at);
            copy(place.record, record);
            found = true;
            break;
        }
        at = loadShared(record.next);
    }
    return found && describe(place);
}

/// adds what the cluster table knows of a record
/// \returns false when the record names clusters that can't be
bool
ClusterFs::IndexView::describe(Place &place) const
{
    const auto &record = place.record;
    place.size = record.size;
    if (record.parted()) {
        const auto part = record.firstPart();
        if (part.value() >= tables_.clusterCount)
            return false;
        place.size = loadShared(tables_.clusters[part.value()].total);
    }
    place.sequence = Sequence(0);
    if (record.cluster.value() >= tables_.clusterCount)
        return true; // it is staged
    static_assert(sizeof(uint64_t) == sizeof(Sequence) && std::is_trivially_copyable<Sequence>::value, "a sequence is a number");
    const auto &sequence = tables_.clusters[record.cluster.value()].sequence;
    place.sequence = Sequence(loadShared(reinterpret_cast<const uint64_t &>(sequence)));
    return true;
}

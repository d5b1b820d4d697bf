// SPDX-License-Identifier: GPL-2.0-or-later
/* An index as another process sees it. */

#include "fs/cluster/catalog/IndexView.h"

#include <cstring>
#include <type_traits>

namespace ClusterFs {
namespace {

template <class Number>
Number
load(const Number &from)
{
    return __atomic_load_n(&from, __ATOMIC_RELAXED);
}

/// copies a record word by word, so that no word is torn
void
copy(Record &to, const Record &from)
{
    static_assert(std::is_trivially_copyable<Record>::value && sizeof(Record) % sizeof(uint32_t) == 0, "a record is some words");
    constexpr auto words = sizeof(Record) / sizeof(uint32_t);
    uint32_t copied[words];
    const auto source = reinterpret_cast<const uint32_t *>(&from);
    for (size_t i = 0; i < words; ++i)
        copied[i] = load(source[i]);
    memcpy(&to, copied, sizeof(to));
}

} // namespace
} // namespace ClusterFs

bool
ClusterFs::IndexView::find(const Key &key, ObjectInfo &info) const
{
    const auto hashed = hasher_(key);
    const auto &counter = tables_.head->counterOf(hashed);
    for (unsigned i = 0; i < maxTries; ++i) {
        const auto before = counter.load(std::memory_order_acquire);
        if (before % 2)
            continue;
        const auto found = look(hashed);
        std::atomic_thread_fence(std::memory_order_acquire); // what was read was read before that
        if (counter.load(std::memory_order_relaxed) != before)
            continue;
        if (found.any) {
            info = found.record.info();
            info.size = found.size;
        }
        return found.any;
    }
    return false;
}

/// what the tables have now, which may be nonsense if they are being changed
ClusterFs::IndexView::Found
ClusterFs::IndexView::look(const HashedKey hashed) const
{
    Found found;
    const auto now = tables_.head->buckets.load(std::memory_order_relaxed);
    if (now < tables_.baseBuckets || now > tables_.bucketsAtMost)
        return found;
    unsigned level = 0;
    while (now >= uint64_t(tables_.baseBuckets) << (level + 1))
        ++level;
    const auto bucket = IndexHead::BucketOf(hashed, tables_.baseBuckets, level, now);
    const auto first = load(tables_.buckets[bucket]);
    if (!first)
        return found;
    auto at = first - 1;
    for (unsigned steps = 0; steps < maxSteps && at < tables_.recordsAtMost; ++steps) {
        const auto &record = tables_.records[at];
        if (load(record.tag) == hashed.tag) {
            copy(found.record, record);
            found.size = found.record.size;
            found.any = true;
            break;
        }
        at = load(record.next);
    }
    if (found.any && found.record.parted()) {
        const auto part = found.record.firstPart();
        found.any = part.value() < tables_.clusterCount;
        if (found.any)
            found.size = load(tables_.clusters[part.value()].total);
    }
    return found;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* An engine as another process sees it. */

#include "fs/cluster/engine/EngineView.h"

#include <utility>

namespace ClusterFs {
namespace {

/// what a memory has, as an array
template <class T>
struct Array {
    explicit Array(const SharedMemory &memory): first(reinterpret_cast<const T *>(memory.data())), count(memory.size() / sizeof(T)) {}

    const T *const first;
    const uint64_t count;
};

} // namespace
} // namespace ClusterFs

bool
ClusterFs::EngineView::map(Descriptors descriptors, const SharedTables &tables, std::string &error)
{
    index_.reset();
    for (size_t i = 0; i < descriptors.size(); ++i) {
        memories_[i] = SharedMemory();
        if (i == SharedTables::keys && !tables.memories[i].bytes)
            continue;
        if (!memories_[i].map(std::move(descriptors[i]), tables.memories[i].bytes, SharedMemory::Access::read, error))
            return false;
        memories_[i].closeDescriptor();
    }
    const auto memory = [this](const SharedTables::Which which) -> const SharedMemory & { return memories_[which]; };
    const Array<uint32_t> buckets(memory(SharedTables::buckets));
    const Array<Record> records(memory(SharedTables::records));
    const Array<Key> keys(memory(SharedTables::keys));
    const Array<ClusterEntry> clusters(memory(SharedTables::clusters));
    const Array<char> bytes(memory(SharedTables::staging));
    const Array<uint32_t> chunks(memory(SharedTables::chunks));
    const Array<Staged> staged(memory(SharedTables::staged));
    const Array<SharedWindowRow> rows(memory(SharedTables::windowTable));
    const Array<char> windows(memory(SharedTables::windows));
    if (memory(SharedTables::head).size() != sizeof(IndexHead) || !tables.baseBuckets || tables.baseBuckets > buckets.count ||
            bytes.count / Staging::chunkBytes < chunks.count || !rows.count) {
        error = "an index that can't be";
        return false;
    }
    index_.emplace(IndexView::Tables{reinterpret_cast<const IndexHead *>(memory(SharedTables::head).data()), buckets.first, buckets.count,
                                     records.first, records.count, keys.first, keys.count, clusters.first,
                                     static_cast<uint32_t>(clusters.count), tables.baseBuckets},
                   tables.secret);
    staging_.emplace(StagingView::Tables{bytes.first, chunks.first, chunks.count, staged.first, staged.count});
    windows_.emplace(rows.first, rows.count, windows.first, windows.count);
    uuid_ = tables.uuid;
    return true;
}

bool
ClusterFs::EngineView::read(const Key &key, const uint64_t most, Copy &copy) const
{
    IndexView::Place place;
    if (!index_ || !index_->locate(key, place) || place.record.parted() || place.size > most)
        return false;
    copy.info = IndexView::InfoOf(place);
    return place.record.staged() ? copyStaged(key, place, copy) : copyExtent(key, place, copy);
}

bool
ClusterFs::EngineView::copyStaged(const Key &key, const IndexView::Place &place, Copy &copy) const
{
    copy.front = 0;
    copy.memory.reset(new char[place.size]);
    return staging_->copy(place.record.stage(), key, static_cast<uint32_t>(place.size), copy.memory.get()) && index_->stays(place);
}

/// Copies an object from the read cache. Its checksum covers its key and its place: what lies there, but is another object, is none.
bool
ClusterFs::EngineView::copyExtent(const Key &key, const IndexView::Place &place, Copy &copy) const
{
    ExtentHeader expected;
    expected.size = static_cast<uint32_t>(place.size);
    expected.sequence = place.sequence;
    expected.key = key;
    const auto bytes = static_cast<uint32_t>(ExtentHeader::encodedBytes) + expected.size;
    const ClusterRange range{place.record.cluster, place.sequence, place.record.offset(), bytes};
    copy.front = ExtentHeader::encodedBytes;
    copy.memory.reset(new char[bytes]);
    return windows_->copy(range, copy.memory.get()) && index_->stays(place) &&
           checkExtent(copy.memory.get(), bytes, expected, uuid_, range.cluster, range.start) == Status::ok;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The staging area. */

#include "fs/cluster/catalog/Staging.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace ClusterFs {
namespace {
constexpr uint32_t noChunk = ChunkMemory::none;
} // namespace
} // namespace ClusterFs

ClusterFs::Staging::Staging(const uint64_t bytes):
    chunks_(static_cast<uint32_t>(std::max<uint64_t>(bytes / chunkBytes, 16)), "clusterfs-staging"),
    nextChunk_(chunks_.count(), "clusterfs-chunks"),
    table_(chunks_.count(), "clusterfs-staged")
{
}

ClusterFs::StageNo
ClusterFs::Staging::open(const Key &key, const ObjectInfo &info)
{
    StageNo s = freeStage_;
    if (s != noStage) {
        freeStage_ = table_[s].next;
    } else {
        if (freshStage_.value() >= table_.count())
            return noStage;
        s = freshStage_++;
    }
    auto &o = table_[s];
    o = Staged();
    o.id = ++lastId_;
    o.key = key;
    o.info = info;
    o.record = noSlot;
    o.firstChunk = o.lastChunk = noChunk;
    o.previous = o.next = noStage;
    o.firstPart = o.origin = noCluster;
    o.state = StageState::writing;
    ++objects_;
    return s;
}

bool
ClusterFs::Staging::append(const StageNo s, const char *from, size_t size)
{
    auto &o = table_[s];
    assert(o.state == StageState::writing);
    while (size > 0) {
        const auto used = o.size % chunkBytes;
        if (used == 0) {
            const auto c = chunks_.take();
            if (c == noChunk)
                return false;
            nextChunk_[c] = noChunk;
            if (o.lastChunk == noChunk)
                o.firstChunk = c;
            else
                nextChunk_[o.lastChunk] = c;
            o.lastChunk = c;
            writingBytes_ += chunkBytes;
        }
        const auto n = std::min<size_t>(size, chunkBytes - used);
        memcpy(chunks_.at(o.lastChunk) + used, from, n);
        o.size += static_cast<uint32_t>(n);
        from += n;
        size -= n;
    }
    return true;
}

void
ClusterFs::Staging::close(const StageNo s, const uint64_t size, const uint32_t heat)
{
    auto &o = table_[s];
    assert(o.state == StageState::writing);
    o.info.size = size;
    o.heat = heat;
}

void
ClusterFs::Staging::complete(const StageNo s, const uint64_t now, const bool moved)
{
    auto &o = table_[s];
    assert(o.state == StageState::writing);
    o.state = StageState::complete;
    o.since = now;
    o.moved = moved;
    writingBytes_ -= ChunksOf(o);
    link(s);
}

void
ClusterFs::Staging::touch(const StageNo s)
{
    if (table_[s].state != StageState::complete || listOf(table_[s].moved).head == s)
        return;
    unlink(s);
    link(s);
}

void
ClusterFs::Staging::putLast(const StageNo s)
{
    auto &o = table_[s];
    auto &list = listOf(o.moved);
    if (o.state != StageState::complete || list.tail == s)
        return;
    unlink(s);
    if (bySize_)
        (void)placeByWorth(s, worths_[o.moved].empty() ? 0 : worths_[o.moved].begin()->first);
    linkBelow(list.tail, s);
}

void
ClusterFs::Staging::startPacking(const StageNo s)
{
    assert(table_[s].state == StageState::complete);
    if (bySize_)
        inflation_ = std::max(inflation_, worths_[table_[s].moved].begin()->first);
    unlink(s);
    table_[s].state = StageState::packing;
}

void
ClusterFs::Staging::packingFailed(const StageNo s)
{
    assert(table_[s].state == StageState::packing);
    table_[s].state = StageState::complete;
    link(s);
}

void
ClusterFs::Staging::drop(const StageNo s)
{
    assert(table_[s].record == noSlot && table_[s].origin == noCluster);
    forget(s);
}

/// drops an object, even if the catalog still has a record, parts or an origin of it
void
ClusterFs::Staging::forget(const StageNo s)
{
    auto &o = table_[s];
    assert(o.state != StageState::free);
    if (o.state == StageState::complete)
        unlink(s);
    else if (o.state == StageState::writing)
        writingBytes_ -= ChunksOf(o);
    o.record = noSlot;
    o.state = StageState::leaving;
    if (!o.pins)
        freeObject(s);
}

void
ClusterFs::Staging::unpin(const StageNo s)
{
    auto &o = table_[s];
    assert(o.pins > 0);
    if (--o.pins == 0 && o.state == StageState::leaving)
        freeObject(s);
}

size_t
ClusterFs::Staging::copy(const StageNo s, const uint32_t offset, char *to, size_t size, Cursor &cursor) const
{
    const auto &o = table_[s];
    assert(o.state != StageState::free);
    if (offset >= o.size)
        return 0;
    size = std::min<size_t>(size, o.size - offset);
    if (cursor.chunk == noChunk || offset < cursor.start) {
        cursor.chunk = o.firstChunk;
        cursor.start = 0;
    }
    size_t done = 0;
    while (done < size) {
        const auto at = offset + done;
        while (at >= uint64_t(cursor.start) + chunkBytes) {
            cursor.chunk = nextChunk_[cursor.chunk];
            cursor.start += chunkBytes;
        }
        const auto inside = at - cursor.start;
        const auto n = std::min<size_t>(size - done, chunkBytes - inside);
        memcpy(to + done, chunks_.at(cursor.chunk) + inside, n);
        done += n;
    }
    return done;
}

bool
ClusterFs::Staging::promise(const uint64_t bytes)
{
    if (bytes > bytesFree())
        return false;
    promised_ += bytes;
    return true;
}

void
ClusterFs::Staging::unpromise(const uint64_t bytes)
{
    assert(promised_ >= bytes);
    promised_ -= bytes;
}

uint64_t
ClusterFs::Staging::bytesFree() const
{
    const auto taken = bytesUsed() + promised_;
    return taken < bytesLimit() ? bytesLimit() - taken : 0;
}

void
ClusterFs::Staging::link(const StageNo s)
{
    linkBelow(bySize_ ? placeByWorth(s, inflation_ + 1 / static_cast<double>(MemoryOf(table_[s].size))) : noStage, s);
}

/// puts a complete object behind another one of its list, or to its used-last end if that is noStage
void
ClusterFs::Staging::linkBelow(const StageNo above, const StageNo s)
{
    auto &o = table_[s];
    auto &list = listOf(o.moved);
    o.previous = above;
    o.next = above != noStage ? table_[above].next : list.head;
    (above != noStage ? table_[above].next : list.head) = s;
    (o.next != noStage ? table_[o.next].previous : list.tail) = s;
    list.bytes += MemoryOf(o.size);
}

/// notes what an object is worth
/// \returns the object with the next higher worth, or noStage
ClusterFs::StageNo
ClusterFs::Staging::placeByWorth(const StageNo s, const double worth)
{
    auto &worths = worths_[table_[s].moved];
    const auto place = worths.emplace(worth, s); // behind its equals, which are older
    worthOf_[s] = place;
    const auto above = std::next(place);
    return above != worths.end() ? above->second : noStage;
}

void
ClusterFs::Staging::unlink(const StageNo s)
{
    auto &o = table_[s];
    auto &list = listOf(o.moved);
    if (o.previous != noStage)
        table_[o.previous].next = o.next;
    else
        list.head = o.next;
    if (o.next != noStage)
        table_[o.next].previous = o.previous;
    else
        list.tail = o.previous;
    if (bySize_) {
        const auto worth = worthOf_.find(s);
        worths_[o.moved].erase(worth->second);
        worthOf_.erase(worth);
    }
    o.previous = o.next = noStage;
    assert(list.bytes >= MemoryOf(o.size));
    list.bytes -= MemoryOf(o.size);
}

void
ClusterFs::Staging::freeObject(const StageNo s)
{
    auto &o = table_[s];
    for (auto c = o.firstChunk; c != noChunk; c = nextChunk_[c])
        chunks_.giveBack(c);
    o.state = StageState::free;
    o.next = freeStage_;
    freeStage_ = s;
    assert(objects_ > 0);
    --objects_;
}

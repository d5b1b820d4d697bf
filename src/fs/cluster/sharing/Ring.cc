// SPDX-License-Identifier: GPL-2.0-or-later
/* Records from one process to another. */

#include "fs/cluster/sharing/Ring.h"

#include <cassert>
#include <cstring>

namespace ClusterFs {
namespace {

struct RecordHead {
    uint32_t bytes; ///< of the content
    uint32_t kind; ///< 0 = fills the end of the memory
};
static_assert(sizeof(RecordHead) == Ring::headBytes, "the head is a multiple of the records' alignment");

/// bytes that a record takes
uint64_t
recordBytes(const uint32_t content)
{
    return (uint64_t(Ring::headBytes) + content + 7) & ~uint64_t(7);
}

} // namespace
} // namespace ClusterFs

ClusterFs::RingWriter::RingWriter(char *const memory, const size_t capacity):
    Ring(memory, capacity),
    written_(state_.written.load(std::memory_order_relaxed))
{
    assert(capacity >= 4096 && capacity % 4096 == 0);
}

/// whether a record of that content has room, with what may have to be filled in front of it
bool
ClusterFs::RingWriter::fits(const uint32_t bytes)
{
    const auto record = recordBytes(bytes);
    const auto end = toEnd(written_);
    const auto wanted = record <= end ? record : end + record;
    return written_ - taken_ + wanted <= capacity_ || (written_ - taken() + wanted <= capacity_ && !broken_);
}

uint64_t
ClusterFs::RingWriter::taken()
{
    const auto taken = state_.taken.load(std::memory_order_acquire);
    if (taken < taken_ || taken > written_)
        broken_ = true;
    else
        taken_ = taken;
    return taken_;
}

char *
ClusterFs::RingWriter::reserve(const uint32_t bytes)
{
    assert(bytes <= maxContent());
    if (broken_ || !fits(bytes))
        return nullptr;
    const auto end = toEnd(written_);
    if (recordBytes(bytes) > end) {
        const RecordHead filler{static_cast<uint32_t>(end - headBytes), 0};
        memcpy(at(written_), &filler, sizeof(filler));
        written_ += end; // the reader hears of it with the record behind it
    }
    return at(written_) + headBytes;
}

bool
ClusterFs::RingWriter::publish(const uint32_t kind, const uint32_t bytes, const bool quiet)
{
    assert(kind && recordBytes(bytes) <= toEnd(written_));
    const RecordHead head{bytes, kind};
    memcpy(at(written_), &head, sizeof(head));
    written_ += recordBytes(bytes);
    state_.written.store(written_, std::memory_order_release);
    if (quiet)
        return false;
    // either we see that the reader sleeps, or it sees the record when it looks again, in sleep()
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return state_.readerSleeps.load(std::memory_order_relaxed) &&
        state_.readerSleeps.exchange(0, std::memory_order_relaxed);
}

bool
ClusterFs::RingWriter::waitForRoom(const uint32_t bytes)
{
    state_.writerWaits.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst); // as in publish(), the other way round
    if (broken_ || !fits(bytes))
        return true;
    state_.writerWaits.store(0, std::memory_order_relaxed);
    return false;
}

ClusterFs::RingReader::RingReader(char *const memory, const size_t capacity):
    Ring(memory, capacity),
    at_(state_.taken.load(std::memory_order_relaxed)),
    taken_(at_)
{
    assert(capacity >= 4096 && capacity % 4096 == 0);
}

/// bytes of records that are not taken yet
uint64_t
ClusterFs::RingReader::available()
{
    const auto written = state_.written.load(std::memory_order_acquire);
    if (written < at_ || written - taken_ > capacity_) {
        broken_ = true;
        return 0;
    }
    return written - at_;
}

bool
ClusterFs::RingReader::next(Record &record)
{
    while (!broken_) {
        const auto there = available();
        if (!there)
            return false;
        RecordHead head;
        memcpy(&head, at(at_), sizeof(head)); // once: the other side could change it
        const auto bytes = recordBytes(head.bytes);
        if (there < headBytes || bytes > there || bytes > toEnd(at_)) {
            broken_ = true;
            return false;
        }
        const auto *const content = at(at_) + headBytes;
        at_ += bytes;
        if (!head.kind)
            continue;
        record = {head.kind, head.bytes, content};
        return true;
    }
    return false;
}

bool
ClusterFs::RingReader::release()
{
    if (taken_ == at_)
        return false;
    taken_ = at_;
    state_.taken.store(taken_, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst); // as in RingWriter::publish()
    return state_.writerWaits.load(std::memory_order_relaxed) &&
        state_.writerWaits.exchange(0, std::memory_order_relaxed);
}

bool
ClusterFs::RingReader::sleep()
{
    state_.readerSleeps.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst); // see RingWriter::publish()
    if (!broken_ && available()) {
        awake();
        return false;
    }
    return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Records from one process to another, through memory that both map. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_RING_H
#define SQUID_SRC_FS_CLUSTER_SHARING_RING_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/* A ring has one writer and one reader (Lamport, Specifying concurrent program modules, TOPLAS 1983). Each of them moves
 * a position of its own, and nothing is locked: a process that is killed at any instruction leaves a ring in which
 * every record is there or not there. Neither side believes the other: a position or a size that can't be makes the
 * ring broken for whoever sees it, and it is not used any more.
 *
 * A record is contiguous. Where it would not fit before the end of the memory, a record without a kind fills the rest.
 */

/// the beginning of a ring's memory; all of it is zero at first
struct RingState {
    alignas(64) std::atomic<uint64_t> written; ///< bytes of all records so far; the writer moves it
    alignas(64) std::atomic<uint64_t> taken; ///< bytes that the reader has given back; the reader moves it
    /// The reader is going to sleep, or sleeps. Who clears it wakes the reader.
    alignas(64) std::atomic<uint32_t> readerSleeps;
    /// The writer waits for room. Who clears it wakes the writer.
    alignas(64) std::atomic<uint32_t> writerWaits;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free,
    "several processes share them");

/// what both sides of a ring know of it
class Ring
{
public:
    static constexpr size_t stateBytes = 4096; ///< in front of the records
    static constexpr uint32_t headBytes = 8; ///< of each record: its bytes and its kind

    /// \returns bytes of memory for a ring
    /// \param capacity bytes of records: a multiple of 4096
    static constexpr size_t MemoryFor(const size_t capacity) { return stateBytes + capacity; }

    /// \returns bytes that the content of a record can have at most
    uint32_t maxContent() const { return static_cast<uint32_t>(capacity_ / 2) - headBytes; }

    /// whether the other side has written something that can't be; nothing more goes through then
    bool broken() const { return broken_; }

protected:
    Ring(char *const memory, const size_t capacity):
        state_(*reinterpret_cast<RingState *>(memory)), records_(memory + stateBytes), capacity_(capacity) {}

    char *at(const uint64_t position) const { return records_ + position % capacity_; }
    uint64_t toEnd(const uint64_t position) const { return capacity_ - position % capacity_; } ///< bytes

    RingState &state_;
    char *const records_;
    const uint64_t capacity_; ///< bytes of records
    bool broken_ = false;
};

/// the side that gives records
class RingWriter: public Ring
{
public:
    /// \param memory filled with zeros, or as another life of this side has left it
    /// \param capacity see MemoryFor()
    RingWriter(char *memory, size_t capacity);

    /// Finds room for a record, whose content the caller then writes there before it calls publish().
    /// \param bytes at most maxContent()
    /// \returns nil when there is no room now
    char *reserve(uint32_t bytes);

    /// Gives a record to the other side.
    /// \param kind any number but 0
    /// \param bytes of its content, not more than were reserved
    /// \param quiet whether the other side may sleep on: it finds the record when something else wakes it
    /// \returns whether the other side sleeps and has to be woken
    bool publish(uint32_t kind, uint32_t bytes, bool quiet = false);

    /// Says that the writer wants to be woken when there is more room.
    /// \returns false when so much room is there already
    bool waitForRoom(uint32_t bytes);

    uint64_t written() const { return written_; } ///< bytes of all records so far: the end of the one that was published last
    /// \returns the end of the records that the reader has given back: it has done what they say
    uint64_t taken();

private:
    bool fits(uint32_t bytes);

    uint64_t written_; ///< as in the state, which the other side could spoil
    uint64_t taken_ = 0; ///< as it was seen last
};

/// the side that takes records
class RingReader: public Ring
{
public:
    struct Record {
        uint32_t kind = 0;
        uint32_t bytes = 0; ///< of the content
        const char *content = nullptr; ///< aligned to 8 bytes; the other side could change it until release()
    };

    /// \param memory, capacity see RingWriter
    RingReader(char *memory, size_t capacity);

    /// \returns false when there is no further record now
    bool next(Record &);

    /// Gives back the room of all records that next() has given.
    /// \returns whether the other side waits for room and has to be woken
    bool release();

    /// Says that the reader is going to sleep.
    /// \returns false when there is a record already; then it must not sleep
    bool sleep();
    /// says that the reader is awake
    void awake() { state_.readerSleeps.store(0, std::memory_order_relaxed); }

private:
    uint64_t available();

    uint64_t at_; ///< behind the record that next() gave last
    uint64_t taken_; ///< as in the state, which the other side could spoil
};

} // namespace ClusterFs

#endif

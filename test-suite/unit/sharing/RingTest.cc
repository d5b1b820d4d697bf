// SPDX-License-Identifier: GPL-2.0-or-later
/* Records through shared memory: order, room, sleep, damage, and a writer that is killed at any instruction. */

#include "test-suite/doubles/Content.h"

#include "fs/cluster/sharing/Ring.h"
#include "fs/cluster/base/SharedMemory.h"

#include <gtest/gtest.h>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr size_t capacity = 8192;

/// a ring with both sides
class RingTest: public testing::Test
{
protected:
    RingTest() {
        std::string error;
        EXPECT_TRUE(memory.make("test", Ring::MemoryFor(capacity), error)) << error;
        writer = std::make_unique<RingWriter>(memory.data(), capacity);
        reader = std::make_unique<RingReader>(memory.data(), capacity);
    }

    bool put(const std::string &content, const uint32_t itsKind = 1) {
        const auto to = writer->reserve(static_cast<uint32_t>(content.size()));
        if (!to)
            return false;
        memcpy(to, content.data(), content.size());
        woken = writer->publish(itsKind, static_cast<uint32_t>(content.size()));
        return true;
    }

    /// \returns the content of the next record, or "none"
    std::string get() {
        RingReader::Record record;
        if (!reader->next(record))
            return "none";
        kind = record.kind;
        return {record.content, record.bytes};
    }

    RingState &state() { return *reinterpret_cast<RingState *>(memory.data()); }
    char *records() { return memory.data() + Ring::stateBytes; }

    SharedMemory memory;
    std::unique_ptr<RingWriter> writer;
    std::unique_ptr<RingReader> reader;
    bool woken = false;
    uint32_t kind = 0;
};

/// what the nth record has
std::string
contentOf(const uint64_t n)
{
    return bytesOf(n, mix(n) % 700);
}

} // namespace

TEST_F(RingTest, givesRecordsInTheirOrder)
{
    ASSERT_TRUE(put("first", 7));
    ASSERT_TRUE(put("", 8));
    ASSERT_TRUE(put("third", 9));
    EXPECT_EQ(get(), "first");
    EXPECT_EQ(kind, 7U);
    EXPECT_EQ(get(), "");
    EXPECT_EQ(kind, 8U);
    EXPECT_EQ(get(), "third");
    EXPECT_EQ(get(), "none");
}

TEST_F(RingTest, goesRoundManyTimes)
{
    uint64_t given = 0;
    uint64_t taken = 0;
    while (taken < 5000) {
        while (given - taken < 1 + mix(given) % 20 && put(contentOf(given)))
            ++given;
        for (auto left = 1 + mix(taken) % 20; left && taken < given; --left) {
            ASSERT_EQ(get(), contentOf(taken));
            ++taken;
        }
        reader->release();
    }
    EXPECT_GT(writer->written(), 100 * capacity);
    EXPECT_FALSE(writer->broken() || reader->broken());
}

TEST_F(RingTest, betweenThreads)
{
    constexpr uint64_t count = 50000;
    std::atomic<bool> well(true);
    std::thread other([&] {
        for (uint64_t n = 0; n < count && well;) {
            if (put(contentOf(n)))
                ++n;
            else
                std::this_thread::yield();
        }
    });
    for (uint64_t n = 0; n < count && well;) {
        RingReader::Record record;
        if (reader->next(record)) {
            well = std::string(record.content, record.bytes) == contentOf(n++);
        } else {
            reader->release();
            std::this_thread::yield();
        }
        if (reader->broken())
            well = false;
    }
    other.join();
    EXPECT_TRUE(well);
}

TEST_F(RingTest, recordsLieSideBySideAndAreAligned)
{
    ASSERT_TRUE(put("abc"));
    ASSERT_TRUE(put("defghijklmn"));
    RingReader::Record first;
    RingReader::Record second;
    ASSERT_TRUE(reader->next(first) && reader->next(second));
    EXPECT_EQ(second.content - first.content, 16);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(second.content) % 8, 0U);
}

TEST_F(RingTest, aFullRingTakesNoMore)
{
    const std::string piece(1000, 'x');
    unsigned count = 0;
    while (put(piece))
        ++count;
    EXPECT_EQ(count, 8U);
    EXPECT_TRUE(writer->waitForRoom(1000));
    EXPECT_EQ(get(), piece);
    EXPECT_FALSE(put(piece)) << "its room is not given back yet";
    EXPECT_TRUE(reader->release()) << "the writer waits";
    EXPECT_TRUE(put(piece));
    EXPECT_FALSE(reader->release()) << "nobody waits";
}

TEST_F(RingTest, aRecordMayBeAsLongAsTheRingAllows)
{
    const std::string most(writer->maxContent(), 'm');
    for (unsigned i = 0; i < 5; ++i) {
        ASSERT_TRUE(put("x")) << i; // moves it to any place
        EXPECT_EQ(get(), "x");
        reader->release();
        ASSERT_TRUE(put(most)) << i;
        EXPECT_EQ(get(), most);
        reader->release();
    }
}

TEST_F(RingTest, roomThatIsThereNeedsNoWait)
{
    EXPECT_FALSE(writer->waitForRoom(1000));
    EXPECT_FALSE(state().writerWaits.load());
}

TEST_F(RingTest, wakesAReaderThatSleepsOnce)
{
    EXPECT_TRUE(reader->sleep());
    ASSERT_TRUE(put("one"));
    EXPECT_TRUE(woken);
    ASSERT_TRUE(put("two"));
    EXPECT_FALSE(woken) << "it is about to wake already";
    EXPECT_FALSE(reader->sleep()) << "there are records";
    EXPECT_EQ(get(), "one");
    EXPECT_EQ(get(), "two");
    EXPECT_TRUE(reader->sleep());
    reader->awake();
    ASSERT_TRUE(put("three"));
    EXPECT_FALSE(woken);
}

TEST_F(RingTest, anotherLifeOfTheWriterGoesOn)
{
    ASSERT_TRUE(put("before"));
    const auto to = writer->reserve(100);
    memset(to, 'x', 100); // and dies
    writer = std::make_unique<RingWriter>(memory.data(), capacity);
    ASSERT_TRUE(put("after"));
    EXPECT_EQ(get(), "before");
    EXPECT_EQ(get(), "after");
    EXPECT_EQ(get(), "none");
}

TEST_F(RingTest, tellsWhatTheReaderHasTaken)
{
    ASSERT_TRUE(put("one"));
    const auto end = writer->written();
    ASSERT_TRUE(put("two"));
    EXPECT_EQ(get(), "one");
    EXPECT_LT(writer->taken(), end) << "it may not have done what the record says";
    reader->release();
    EXPECT_EQ(writer->taken(), end);
}

TEST_F(RingTest, aReaderBelievesNothing)
{
    struct Damage {
        const char *what;
        uint64_t written;
        uint32_t bytes;
        bool well;
    };
    const Damage damages[] = {
        {"one record", 16, 8, true},
        {"a record that ends too late", 16, 9, false},
        {"a record that is longer than the ring", 16, 0xfffffff0U, false},
        {"a record whose size overflows", 16, 0xffffffffU, false},
        {"half a head", 4, 0, false},
        {"more than fits", capacity + 8, 8, false},
        {"far too much", ~uint64_t(0), 8, false},
    };
    for (const auto &damage: damages) {
        memset(memory.data(), 0, memory.size());
        RingReader victim(memory.data(), capacity);
        const uint32_t head[] = {damage.bytes, 1};
        memcpy(records(), head, sizeof(head));
        state().written.store(damage.written);
        RingReader::Record record;
        EXPECT_EQ(victim.next(record), damage.well) << damage.what;
        EXPECT_EQ(victim.broken(), !damage.well) << damage.what;
        state().written.store(16);
        memset(records(), 0, 8);
        EXPECT_EQ(victim.next(record), false) << damage.what << ": nothing more goes through";
    }
}

TEST_F(RingTest, aRecordThatGoesOverTheEndIsNotTaken)
{
    state().taken.store(capacity - 16);
    state().written.store(capacity + 200);
    const uint32_t head[] = {100, 1};
    memcpy(records() + capacity - 16, head, sizeof(head));
    RingReader late(memory.data(), capacity);
    RingReader::Record record;
    EXPECT_FALSE(late.next(record));
    EXPECT_TRUE(late.broken());
}

TEST_F(RingTest, aReaderDoesNotGoBack)
{
    ASSERT_TRUE(put("one"));
    EXPECT_EQ(get(), "one");
    state().written.store(0);
    EXPECT_EQ(get(), "none");
    EXPECT_TRUE(reader->broken());
}

TEST_F(RingTest, aFillerThatLeavesTheRingIsNotFollowed)
{
    const uint32_t head[] = {static_cast<uint32_t>(capacity), 0};
    memcpy(records(), head, sizeof(head));
    state().written.store(capacity);
    EXPECT_EQ(get(), "none");
    EXPECT_TRUE(reader->broken());
}

TEST_F(RingTest, aWriterBelievesNothing)
{
    const std::string piece(1000, 'x');
    while (put(piece))
        continue;
    state().taken.store(writer->written() + 8);
    EXPECT_FALSE(put(piece));
    EXPECT_TRUE(writer->broken());
    state().taken.store(writer->written());
    EXPECT_FALSE(put(piece)) << "nothing more goes through";
}

/* A process is killed after each instruction of its stores: whatever is in the memory then, the records before are whole, and
 * there is none that is not. */

namespace {

constexpr unsigned killRecords = 60;

/// contents short enough that the instructions stay few, long enough that they go round the ring
std::string
killContentOf(const unsigned n)
{
    return bytesOf(n, 100 + mix(n) % 300);
}

/// the process that is killed
[[noreturn]] void
writeAll(char *const memory, const std::vector<std::string> &contents)
{
    RingWriter writer(memory, capacity);
    RingReader ownReader(memory, capacity); // the test's other process must not be needed to make room
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    for (const auto &content: contents) {
        const auto to = writer.reserve(static_cast<uint32_t>(content.size()));
        if (!to)
            _exit(1);
        memcpy(to, content.data(), content.size());
        writer.publish(1, static_cast<uint32_t>(content.size()));
        RingReader::Record record;
        if (ownReader.next(record))
            ownReader.release();
    }
    _exit(0);
}

} // namespace

TEST_F(RingTest, aWriterMayBeKilledAtAnyInstruction)
{
    std::vector<std::string> contents;
    for (unsigned n = 0; n < killRecords; ++n)
        contents.push_back(killContentOf(n));
    // one record is taken for each that is given, so that the reader's place tells how many there were
    const auto child = fork();
    ASSERT_GE(child, 0);
    if (!child)
        writeAll(memory.data(), contents);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        GTEST_SKIP() << "no process may be traced here";
    ASSERT_TRUE(WIFSTOPPED(status));

    std::vector<char> before(memory.size());
    alignas(64) static char copy[Ring::MemoryFor(capacity)];
    uint64_t states = 0;
    uint64_t last = 0;
    unsigned seen = 0; // records that were given
    for (;;) {
        ASSERT_EQ(ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr), 0);
        ASSERT_EQ(waitpid(child, &status, 0), child);
        if (!WIFSTOPPED(status))
            break;
        if (memcmp(before.data(), memory.data(), memory.size()) == 0)
            continue;
        memcpy(before.data(), memory.data(), memory.size());
        ++states;
        const auto written = state().written.load();
        seen += written != last;
        last = written;
        // another process finds the ring as it is now
        memcpy(copy, memory.data(), memory.size());
        RingReader other(copy, capacity);
        RingReader::Record record;
        unsigned there = 0;
        std::string newest;
        while (other.next(record)) {
            newest.assign(record.content, record.bytes);
            ++there;
        }
        ASSERT_FALSE(other.broken()) << "after " << seen << " records";
        ASSERT_LE(there, 1U) << "after " << seen << " records";
        if (there) {
            ASSERT_EQ(newest, contents[seen - 1]);
        }
    }
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(seen, killRecords);
    EXPECT_GT(states, 5U * killRecords) << "too few states were looked at";
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Two sides that sleep whenever they can: no wake-up is lost, and none is rung in vain. */

#include "fs/cluster/sharing/Channel.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/poll.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

using namespace ClusterFs;

namespace {

Descriptor
copyOf(const int fd)
{
    return Descriptor(fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

class ChannelTest: public testing::Test
{
protected:
    void SetUp() override {
        std::string error;
        ASSERT_TRUE(owner.make(error)) << error;
        ASSERT_TRUE(worker.join(copyOf(owner.memoryFd()), copyOf(owner.bell().fd()), copyOf(owner.othersBellFd()), error)) << error;
    }

    /// \returns whether there is room
    static bool put(Channel &side, const uint64_t number, const uint32_t bytes = sizeof(uint64_t)) {
        const auto to = side.out().reserve(bytes);
        if (!to)
            return false;
        memcpy(to, &number, sizeof(number));
        side.publish(1, bytes);
        return true;
    }

    static bool get(Channel &side, uint64_t &number) {
        RingReader::Record record;
        if (!side.in().next(record))
            return false;
        memcpy(&number, record.content, sizeof(number));
        side.release();
        return true;
    }

    /// \returns false when nobody rings for long
    static bool waitFor(const Channel &side) {
        struct pollfd event = {side.bell().fd(), POLLIN, 0};
        const auto count = poll(&event, 1, 10000);
        side.bell().hush();
        return count == 1;
    }

    /// The next number, for which this side sleeps if there is none for a moment of any length. \returns false when it was
    /// never woken
    static bool take(Channel &side, uint64_t &number, uint64_t &random) {
        pause(random);
        while (!get(side, number)) {
            if (side.sleep() && !waitFor(side))
                return false;
            side.awake();
        }
        return true;
    }

    /// as long as the other side takes to go to sleep, more or less
    static void pause(uint64_t &random) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        for (volatile auto left = random >> 55; left; --left)
            continue;
    }

    Channel owner;
    Channel worker;
};

} // namespace

TEST_F(ChannelTest, carriesRecordsBothWays)
{
    uint64_t number = 0;
    ASSERT_TRUE(put(worker, 5));
    ASSERT_TRUE(get(owner, number));
    EXPECT_EQ(number, 5U);
    ASSERT_TRUE(put(owner, 6));
    EXPECT_FALSE(get(owner, number));
    ASSERT_TRUE(get(worker, number));
    EXPECT_EQ(number, 6U);
    EXPECT_EQ(owner.wakeUps() + worker.wakeUps(), 0U) << "nobody slept";
}

TEST_F(ChannelTest, noWakeUpIsLost)
{
    constexpr uint64_t count = 100000;
    std::atomic<bool> well(true);
    std::thread other([&] {
        uint64_t random = 1;
        for (uint64_t n = 0, got = 0; n < count && well; ++n) {
            if (!take(worker, got, random) || got != n || !put(worker, n + 1))
                well = false;
        }
    });
    uint64_t random = 2;
    for (uint64_t n = 0, got = 0; n < count && well; ++n) {
        if (!put(owner, n) || !take(owner, got, random) || got != n + 1)
            well = false;
    }
    other.join();
    EXPECT_TRUE(well);
    EXPECT_GT(owner.wakeUps(), count / 100) << "the other side hardly ever slept";
    EXPECT_LE(owner.wakeUps(), count);
    EXPECT_LE(worker.wakeUps(), count);
}

TEST_F(ChannelTest, aWriterThatWaitsForRoomIsWoken)
{
    constexpr uint64_t count = 20000;
    constexpr uint32_t bytes = 500000; // two fill the ring
    std::atomic<bool> well(true);
    std::thread other([&] {
        uint64_t random = 1;
        for (uint64_t n = 0, got = 0; n < count && well; ++n) {
            if (!take(worker, got, random) || got != n)
                well = false;
        }
    });
    uint64_t random = 2;
    for (uint64_t n = 0; n < count && well;) {
        pause(random);
        if (put(owner, n, bytes))
            ++n;
        else if (owner.out().waitForRoom(bytes) && !waitFor(owner))
            well = false;
    }
    other.join();
    EXPECT_TRUE(well);
}

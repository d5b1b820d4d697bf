// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of the queues, limits and measurements that all devices share. */

#include "fs/cluster/device/Device.h"

#include "test-suite/unit/support/DeviceSupport.h"
#include "tools/models/ManualClock.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// hardware that does what the test says, when the test says so
class PuppetDevice final : public Device
{
public:
    PuppetDevice(const Clock &clock, const unsigned depth): Device(clock, 1 << 20, 4096, depth) {}
    ~PuppetDevice() override {
        for (auto *request: running)
            delete request;
    }

    void wait(unsigned) override {}

    /// the oldest running request becomes ready with that result
    void complete(const Status status = Status::ok, const int errnum = 0) {
        ready.push_back({running.front(), status, errnum});
        running.pop_front();
    }
    void completeAll() {
        while (!running.empty())
            complete();
    }

    struct Ready {
        Request *request;
        Status status;
        int errnum;
    };
    std::deque<Request *> running;
    std::deque<Ready> ready;
    std::string order; ///< of starts: u or b
    unsigned room = 1000; ///< how many requests the hardware holds
    unsigned startCalls = 0;
    unsigned wakes = 0;
    bool immediate = false; ///< finish inside start()

private:
    bool start(Request *request) override {
        ++startCalls;
        if (running.size() >= room)
            return false;
        order += request->io.ioClass == IoClass::urgent ? 'u' : 'b';
        if (immediate)
            finish(request, Status::ok, 0);
        else
            running.push_back(request);
        return true;
    }
    void reap() override {
        while (!ready.empty()) {
            const auto one = ready.front();
            ready.pop_front();
            finish(one.request, one.status, one.errnum);
        }
    }
    void wake() override { ++wakes; }
};

class DeviceTest : public testing::Test
{
protected:
    /// queues a read of the given class
    void add(Device &device, const IoClass ioClass = IoClass::urgent) {
        auto io = makeIo(IoOp::read, 0, 4096, buffer.data(), [this](const Status status) { answers.push_back(status); });
        io.ioClass = ioClass;
        device.submit(std::move(io));
    }

    void addMany(Device &device, const unsigned count, const IoClass ioClass) {
        for (unsigned i = 0; i < count; ++i)
            add(device, ioClass);
    }

    /// the answer to a request that must not reach the hardware
    Status refused(PuppetDevice &device, const IoOp op, const uint64_t offset, const uint32_t size, char *memory) {
        const auto before = device.startCalls;
        answers.clear();
        device.submit(makeIo(op, offset, size, memory, [this](const Status status) { answers.push_back(status); }));
        EXPECT_TRUE(answers.empty()) << "answered from submit()";
        EXPECT_EQ(device.poll(), 1U);
        EXPECT_EQ(device.startCalls, before);
        EXPECT_EQ(answers.size(), 1U);
        return answers.empty() ? Status::aborted : answers.front();
    }

    ManualClock clock;
    TestBuffer buffer{8192};
    std::vector<Status> answers;
};

} // namespace

TEST_F(DeviceTest, reportsItsShape)
{
    PuppetDevice device(clock, 7);
    EXPECT_EQ(device.size(), 1U << 20);
    EXPECT_EQ(device.alignment(), 4096U);
    EXPECT_EQ(device.depth(), 7U);
    EXPECT_EQ(device.wakeupFd(), -1);
    EXPECT_TRUE(device.idle());
}

TEST_F(DeviceTest, answersComeFromPollOnly)
{
    PuppetDevice device(clock, 4);
    device.immediate = true;
    add(device);
    EXPECT_TRUE(answers.empty());
    EXPECT_FALSE(device.idle());
    EXPECT_EQ(device.wakes, 1U); // no hardware event would announce it
    EXPECT_EQ(device.poll(), 1U);
    EXPECT_EQ(answers, std::vector<Status>{Status::ok});
    EXPECT_TRUE(device.idle());
}

TEST_F(DeviceTest, completionsFoundByPollWakeNobody)
{
    PuppetDevice device(clock, 4);
    add(device);
    device.complete();
    EXPECT_EQ(device.poll(), 1U);
    EXPECT_EQ(device.wakes, 0U);
}

TEST_F(DeviceTest, refusesWhatIsUnalignedOrOutside)
{
    PuppetDevice device(clock, 4);
    char *const memory = buffer.data();
    for (const auto op: {IoOp::read, IoOp::write}) {
        EXPECT_EQ(refused(device, op, 512, 4096, memory), Status::ioError);
        EXPECT_EQ(refused(device, op, 0, 4095, memory), Status::ioError);
        EXPECT_EQ(refused(device, op, 0, 0, memory), Status::ioError);
        EXPECT_EQ(refused(device, op, 0, 4096, memory + 512), Status::ioError);
        EXPECT_EQ(refused(device, op, 0, 4096, nullptr), Status::ioError);
        EXPECT_EQ(refused(device, op, 1 << 20, 4096, memory), Status::ioError);
        EXPECT_EQ(refused(device, op, (1 << 20) - 4096, 8192, memory), Status::ioError);
        EXPECT_EQ(refused(device, op, UINT64_MAX - 4095, 4096, memory), Status::ioError);
        EXPECT_EQ(refused(device, op, 0, 0xfffff000U, memory), Status::ioError);
    }
    EXPECT_EQ(device.stats().of(IoOp::read).errors, 9U);
    EXPECT_EQ(device.stats().of(IoOp::write).requests, 9U);
    EXPECT_EQ(device.stats().of(IoOp::read).bytes, 0U);
    EXPECT_EQ(device.stats().lastErrno, EINVAL);
}

TEST_F(DeviceTest, acceptsTheLastBlock)
{
    PuppetDevice device(clock, 4);
    device.submit(makeIo(IoOp::read, (1 << 20) - 4096, 4096, buffer.data(), nullptr));
    EXPECT_EQ(device.inFlight(), 1U);
    device.complete();
    EXPECT_EQ(device.poll(), 1U); // a missing done() is fine
}

TEST_F(DeviceTest, flushNeedsNeitherPlaceNorBuffer)
{
    PuppetDevice device(clock, 4);
    device.submit(makeIo(IoOp::flush, 17, 3, nullptr, [this](const Status s) { answers.push_back(s); }));
    device.complete();
    device.poll();
    EXPECT_EQ(answers, std::vector<Status>{Status::ok});
    EXPECT_EQ(device.stats().of(IoOp::flush).bytes, 0U);
}

TEST_F(DeviceTest, fullQueueAnswersBusy)
{
    PuppetDevice device(clock, 1);
    addMany(device, 1 + Device::maxQueue, IoClass::urgent);
    EXPECT_EQ(device.queued(), Device::maxQueue);
    EXPECT_EQ(device.stats().maxQueued, Device::maxQueue);
    add(device);
    EXPECT_EQ(device.queued(), Device::maxQueue);
    device.poll();
    EXPECT_EQ(answers, std::vector<Status>{Status::busy});
    EXPECT_EQ(device.stats().of(IoOp::read).errors, 0U);
    EXPECT_EQ(device.stats().lastErrno, 0);
}

/// who writes bounds what is under way, and would lose it
TEST_F(DeviceTest, fullQueueTakesWritesAndReadsOfAnotherClass)
{
    PuppetDevice device(clock, 1);
    addMany(device, 1 + Device::maxQueue, IoClass::urgent);
    for (const auto op: {IoOp::write, IoOp::flush}) {
        for (const auto ioClass: {IoClass::urgent, IoClass::background}) {
            auto io = makeIo(op, 0, 4096, buffer.data(), [this](const Status s) { answers.push_back(s); });
            io.ioClass = ioClass;
            device.submit(std::move(io));
        }
    }
    addMany(device, 1, IoClass::background);
    EXPECT_EQ(device.queued(), Device::maxQueue + 5);
    device.poll();
    EXPECT_TRUE(answers.empty());
}

TEST_F(DeviceTest, urgentOvertakesBackground)
{
    PuppetDevice device(clock, 4);
    addMany(device, 10, IoClass::background);
    EXPECT_EQ(device.order, "bb"); // half of the depth
    addMany(device, 4, IoClass::urgent);
    EXPECT_EQ(device.order, "bbuu");
    device.complete(); // one background
    device.poll();
    EXPECT_EQ(device.order, "bbuuu");
    EXPECT_EQ(device.queued(), 9U);
}

TEST_F(DeviceTest, aReadThatSomebodyWaitsForIsUrgent)
{
    PuppetDevice device(clock, 4);
    addMany(device, 6, IoClass::background); // each at the same place
    EXPECT_EQ(device.order, "bb");
    device.hasten(12345);
    EXPECT_EQ(device.order, "bb") << "nothing begins there";
    device.hasten(0);
    device.hasten(0);
    EXPECT_EQ(device.order, "bbuu");
    EXPECT_EQ(device.queued(), 2U);
    while (device.inFlight())
        device.complete(), device.poll();
    EXPECT_EQ(answers.size(), 6U);
    EXPECT_EQ(device.inFlight(), 0U);
}

TEST_F(DeviceTest, backgroundIsNotStarved)
{
    PuppetDevice device(clock, 4);
    addMany(device, 20, IoClass::urgent);
    addMany(device, 3, IoClass::background);
    EXPECT_EQ(device.order, "uuuu");
    for (unsigned i = 0; i < 3; ++i) {
        device.complete();
        device.poll();
    }
    // the first free slot goes to background, which then keeps one
    EXPECT_EQ(device.order, "uuuubuu");
    device.completeAll();
    device.poll();
    EXPECT_EQ(device.order, "uuuubuuuuub");
}

TEST_F(DeviceTest, singleSlotAlternates)
{
    PuppetDevice device(clock, 1);
    addMany(device, 4, IoClass::urgent);
    addMany(device, 3, IoClass::background);
    while (!device.idle()) {
        device.completeAll();
        device.poll();
    }
    EXPECT_EQ(device.order, "ububub" "u");
}

TEST_F(DeviceTest, backgroundAloneUsesHalf)
{
    PuppetDevice device(clock, 9);
    addMany(device, 20, IoClass::background);
    EXPECT_EQ(device.inFlight(), 4U);
    device.setDepth(20);
    device.poll();
    EXPECT_EQ(device.inFlight(), 10U);
    device.setDepth(0);
    EXPECT_EQ(device.depth(), 1U);
    device.completeAll();
    device.poll();
    EXPECT_EQ(device.inFlight(), 1U);
}

TEST_F(DeviceTest, noRoomIsTriedAgainByPoll)
{
    PuppetDevice device(clock, 8);
    device.room = 2;
    addMany(device, 5, IoClass::urgent);
    EXPECT_EQ(device.inFlight(), 2U);
    EXPECT_EQ(device.queued(), 3U);
    EXPECT_EQ(device.startCalls, 3U); // not once more for each submit()
    device.complete();
    device.poll();
    EXPECT_EQ(device.inFlight(), 2U);
    EXPECT_EQ(device.queued(), 2U);
    while (!device.idle()) {
        device.completeAll();
        device.poll();
    }
    EXPECT_EQ(answers.size(), 5U);
}

TEST_F(DeviceTest, noRoomKeepsTheOrder)
{
    PuppetDevice device(clock, 8);
    device.room = 0;
    addMany(device, 2, IoClass::background);
    addMany(device, 2, IoClass::urgent);
    EXPECT_EQ(device.inFlight(), 0U);
    EXPECT_FALSE(device.idle()); // they wait
    device.room = 1000;
    device.poll();
    EXPECT_EQ(device.order, "uubb");
}

TEST_F(DeviceTest, doneMaySubmitAndPoll)
{
    PuppetDevice device(clock, 4);
    device.immediate = true;
    unsigned depth = 0;
    unsigned deepest = 0;
    unsigned left = 1000;
    std::function<void(Status)> again = [&](Status) {
        deepest = std::max(deepest, ++depth);
        if (left-- > 0)
            device.submit(makeIo(IoOp::read, 0, 4096, buffer.data(), again));
        EXPECT_EQ(device.poll(), 0U);
        --depth;
    };
    device.submit(makeIo(IoOp::read, 0, 4096, buffer.data(), again));
    unsigned polls = 0;
    while (!device.idle()) {
        EXPECT_EQ(device.poll(), 1U); // and not for ever
        ++polls;
        ASSERT_LE(device.wakes, polls + 1);
    }
    EXPECT_EQ(polls, 1001U);
    EXPECT_EQ(deepest, 1U);
    EXPECT_EQ(device.wakes, 1001U); // each answer left behind was announced
}

TEST_F(DeviceTest, refusedInsideDoneIsAnsweredLater)
{
    PuppetDevice device(clock, 4);
    device.immediate = true;
    device.submit(makeIo(IoOp::read, 0, 4096, buffer.data(), [&](Status) {
        device.submit(makeIo(IoOp::read, 1, 4096, buffer.data(), [&](const Status s) { answers.push_back(s); }));
    }));
    EXPECT_EQ(device.poll(), 1U);
    EXPECT_TRUE(answers.empty());
    EXPECT_EQ(device.poll(), 1U);
    EXPECT_EQ(answers, std::vector<Status>{Status::ioError});
}

TEST_F(DeviceTest, survivesAnExceptionInDone)
{
    PuppetDevice device(clock, 4);
    device.submit(makeIo(IoOp::read, 0, 4096, buffer.data(), [](Status) { throw std::runtime_error("test"); }));
    add(device);
    device.completeAll();
    EXPECT_THROW(device.poll(), std::runtime_error);
    EXPECT_TRUE(answers.empty());
    EXPECT_EQ(device.poll(), 1U);
    EXPECT_EQ(answers.size(), 1U);
    EXPECT_TRUE(device.idle());
}

TEST_F(DeviceTest, measures)
{
    PuppetDevice device(clock, 1);
    add(device);
    add(device); // waits; its latency begins when it starts
    clock.advance(1000);
    device.complete();
    device.poll();
    clock.advance(50);
    device.complete(Status::ioError, EIO);
    device.poll();

    const auto &stats = device.stats().of(IoOp::read);
    EXPECT_EQ(stats.requests, 2U);
    EXPECT_EQ(stats.bytes, 4096U);
    EXPECT_EQ(stats.errors, 1U);
    EXPECT_EQ(stats.busyMicros, 1050U);
    EXPECT_EQ(stats.latency.total(), 2U);
    EXPECT_EQ(stats.latency.most(), 1000U);
    EXPECT_EQ(device.stats().lastErrno, EIO);
    EXPECT_EQ(device.stats().maxQueued, 1U);
    EXPECT_EQ(device.stats().of(IoOp::write).requests, 0U);
    EXPECT_EQ(answers, (std::vector<Status>{Status::ok, Status::ioError}));
}

TEST_F(DeviceTest, measuresTheTimeInWhichItIsNotIdle)
{
    PuppetDevice device(clock, 2);
    clock.advance(500);
    EXPECT_EQ(device.activeMicros(), 0U);
    add(device);
    clock.advance(100);
    add(device); // at the same time
    clock.advance(30);
    EXPECT_EQ(device.activeMicros(), 130U);
    device.complete();
    device.poll();
    clock.advance(20);
    device.complete();
    device.poll();
    clock.advance(1000);
    EXPECT_EQ(device.activeMicros(), 150U);
    add(device);
    clock.advance(7);
    EXPECT_EQ(device.activeMicros(), 157U);
    device.complete();
    device.poll();
}

TEST_F(DeviceTest, destroyingDropsAnswers)
{
    const auto witness = std::make_shared<int>(0);
    {
        PuppetDevice device(clock, 2);
        for (unsigned i = 0; i < 6; ++i)
            device.submit(makeIo(IoOp::read, 0, 4096, buffer.data(), [witness](Status) { ++*witness; }));
        device.submit(makeIo(IoOp::read, 1, 4096, buffer.data(), [witness](Status) { ++*witness; }));
        EXPECT_EQ(witness.use_count(), 8);
    }
    EXPECT_EQ(*witness, 0);
    EXPECT_EQ(witness.use_count(), 1);
}

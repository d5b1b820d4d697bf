// SPDX-License-Identifier: GPL-2.0-or-later
/* An owner whose workers are processes of their own, which are killed and stopped at random moments. */

#include "test-suite/unit/support/EngineSupport.h"
#include "test-suite/unit/support/SocketFolder.h"

#include "fs/cluster/base/Clock.h"
#include "fs/cluster/sharing/Owner.h"
#include "fs/cluster/sharing/RemoteReader.h"
#include "fs/cluster/sharing/RemoteWriter.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr unsigned keys = 40;
constexpr unsigned workers = 3;

/// what the processes tell the test
struct Tally {
    std::atomic<uint64_t> stored;
    std::atomic<uint64_t> read;
    std::atomic<uint64_t> removed;
    std::atomic<uint64_t> wrong;
};

uint64_t
sizeOf(const uint64_t key)
{
    return 16 + mix(key) % (key % 10 ? 20000 : 400000);
}

/// a version of an object, which says which one it is
std::string
contentOf(const uint64_t key, const uint64_t version)
{
    auto bytes = bytesOf(key * 1000000 + version % 1000000, sizeOf(key));
    memcpy(&bytes[0], &key, sizeof(key));
    memcpy(&bytes[8], &version, sizeof(version));
    return bytes;
}

/// whether this is a version of the object
bool
right(const uint64_t key, const std::string &bytes)
{
    uint64_t version = 0;
    memcpy(&version, bytes.data() + 8, sizeof(version));
    return bytes == contentOf(key, version);
}

/// the process of a worker, which goes on until it is killed
class Worker
{
public:
    Worker(const std::string &path, Tally &tally, const uint64_t seed):
        tally_(tally), seed_(seed), link_(std::make_shared<Link>(path, clock_)) {}

    [[noreturn]] void run() {
        for (;;) {
            link_->poll();
            if (!link_->connected()) {
                turn();
                continue;
            }
            const auto key = random() % keys;
            const auto what = random() % 10;
            if (what < 4)
                store(key);
            else if (what < 9)
                read(key);
            else
                remove(key);
        }
    }

private:
    uint64_t random() { return mix(seed_++); }

    void turn() {
        struct pollfd event = {link_->fd(), POLLIN, 0};
        poll(&event, 1, 20);
        link_->poll();
    }

    void store(const uint64_t key) {
        const auto bytes = contentOf(key, random());
        RemoteWriter writer(link_, keyOf(key), infoOf(clock_.wallSeconds()), random() % 2 ? static_cast<int64_t>(bytes.size()) : -1);
        for (size_t at = 0; at < bytes.size(); at += 4096) {
            if (!writer.append(bytes.data() + at, std::min<size_t>(4096, bytes.size() - at)))
                return;
            while (writer.congested())
                turn();
        }
        Status status = Status::pending;
        status = writer.finish([&status](const Status s) { status = s; });
        while (status == Status::pending)
            turn();
        tally_.stored += status == Status::ok;
    }

    void read(const uint64_t key) {
        RemoteReader reader(link_, keyOf(key), sizeOf(key));
        std::string got;
        std::vector<char> buffer(4096);
        for (unsigned tries = 0; tries < 100;) {
            const auto n = reader.copy(got.size(), buffer.data(), buffer.size());
            if (!n) {
                tally_.wrong += !right(key, got);
                ++tally_.read;
                return;
            }
            if (n > 0) {
                got.append(buffer.data(), static_cast<size_t>(n));
                continue;
            }
            ++tries;
            bool came = false;
            auto answer = Status::busy;
            reader.fetch(got.size(), [&](const Status status) {
                came = true;
                answer = status;
            });
            while (!came)
                turn();
            if (answer != Status::ok && answer != Status::busy)
                return;
        }
    }

    void remove(const uint64_t key) {
        link_->remove(keyOf(key));
        ++tally_.removed;
    }

    const SystemClock clock_;
    Tally &tally_;
    uint64_t seed_;
    const std::shared_ptr<Link> link_;
};

class ProcessesTest: public testing::Test
{
protected:
    ProcessesTest():
        tally(*new (mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Tally()) {}
    ~ProcessesTest() override {
        for (auto &pid: pids)
            end(pid);
        munmap(&tally, sizeof(Tally));
    }

    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(store.start());
        std::string error;
        owner = Owner::Open(*store.engine, store.clock, folder.socket(), error);
        ASSERT_TRUE(owner) << error;
        pids.resize(workers);
        for (auto &pid: pids)
            begin(pid);
    }

    void begin(pid_t &pid) {
        const auto seed = mix(++lives) * 1000003;
        pid = fork();
        ASSERT_GE(pid, 0);
        if (pid)
            return;
        alarm(60); // however the test ends
        Worker(folder.socket(), tally, seed).run();
    }

    static void end(pid_t &pid) {
        if (pid > 0) {
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
        }
        pid = 0;
    }

    void turn() {
        store.step();
        owner->poll();
    }

    /// turns until the workers have done so much more. \returns false when they have not within many turns
    bool work(const uint64_t more) {
        const auto before = tally.stored + tally.read;
        for (unsigned turns = 0; turns < 3000000; ++turns) {
            if (tally.stored + tally.read >= before + more)
                return true;
            turn();
        }
        return false;
    }

    /// all that is there has the bytes of some version
    void checkAll() {
        for (unsigned key = 0; key < keys; ++key) {
            std::string got;
            const auto status = store.load(keyOf(key), got);
            if (status == Status::ok) {
                EXPECT_TRUE(right(key, got)) << key;
            } else {
                EXPECT_EQ(status, Status::notFound) << key;
            }
        }
    }

    Tally &tally;
    SocketFolder folder;
    TestStore store;
    std::unique_ptr<Owner> owner;
    std::vector<pid_t> pids;
    uint64_t lives = 0;
};

} // namespace

TEST_F(ProcessesTest, workersMayBeKilledAtAnyMoment)
{
    for (unsigned round = 0; round < 200; ++round) {
        ASSERT_TRUE(work(5 + mix(round) % 40)) << "round " << round << ": " << tally.stored << " stored, " << tally.read << " read";
        auto &victim = pids[mix(round) % workers];
        // a part of the moments lies within the owner's turn, others in the middle of what it waits for
        for (auto turns = mix(round + 1000) % 50; turns; --turns)
            turn();
        end(victim);
        ASSERT_NO_FATAL_FAILURE(begin(victim));
    }
    EXPECT_EQ(tally.wrong, 0U);
    EXPECT_GT(tally.stored, 100U);
    EXPECT_GT(tally.read, 100U);
    EXPECT_GT(tally.removed, 10U);
    for (auto &pid: pids)
        end(pid);
    for (unsigned i = 0; i < 100; ++i)
        turn();
    EXPECT_EQ(owner->workers(), 0U);
    checkAll();
    EXPECT_TRUE(store.pack()) << "something of a dead worker is left in staging";
    checkAll();
}

TEST_F(ProcessesTest, aStoppedWorkerHoldsUpNobody)
{
    ASSERT_TRUE(work(50));
    for (unsigned round = 0; round < 10; ++round) {
        const auto stopped = pids[round % workers];
        ASSERT_EQ(kill(stopped, SIGSTOP), 0);
        ASSERT_TRUE(work(100)) << "round " << round;
        ASSERT_EQ(kill(stopped, SIGCONT), 0);
    }
    EXPECT_EQ(tally.wrong, 0U);
}

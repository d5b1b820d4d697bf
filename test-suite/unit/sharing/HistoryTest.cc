// SPDX-License-Identifier: GPL-2.0-or-later
/* Random histories of an owner and its workers in one thread, in which both die. What a worker reads must be a version that
 * can be there: no wrong byte, and nothing that was replaced or removed before. One seed repeats one history. */

#include "test-suite/unit/support/EngineSupport.h"
#include "test-suite/unit/support/SocketFolder.h"

#include "fs/cluster/sharing/Owner.h"
#include "fs/cluster/sharing/RemoteReader.h"
#include "fs/cluster/sharing/RemoteWriter.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr unsigned keys = 12;
constexpr uint64_t none = 0; ///< the version of an object that is not there

uint64_t
sizeOf(const unsigned key)
{
    return 8 + mix(key) % (key % 4 ? 9000 : 300000);
}

std::string
contentOf(const unsigned key, const uint64_t version)
{
    auto bytes = bytesOf(key * 1000003 + version, sizeOf(key));
    memcpy(&bytes[0], &version, sizeof(version));
    return bytes;
}

/// what may be there under a key
struct Expected {
    std::set<uint64_t> now{none}; ///< a cache may always have forgotten an object
    std::set<uint64_t> sinceSync{none}; ///< what a crash may bring back
    unsigned changes = 0; ///< stores and removals that are not answered
    unsigned begun = 0; ///< stores and removals so far

    void mayBecome(const uint64_t version) {
        now.insert(version);
        sinceSync.insert(version);
    }
    void is(const uint64_t version) { now = {none, version}; }
};

class History
{
public:
    explicit History(const uint64_t seed): seed_(seed) {}

    void run(const unsigned steps) {
        ASSERT_NO_FATAL_FAILURE(store_.start(seed_));
        ASSERT_NO_FATAL_FAILURE(beginOwner());
        for (unsigned i = 0; i < 3; ++i)
            workers_.push_back(std::make_unique<Worker>(folder_.socket(), store_.clock));
        for (unsigned i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i)
            step();
        EXPECT_GT(found, steps / 100) << "hardly anything was read";
    }

    unsigned found = 0; ///< reads that found an object

private:
    struct Task {
        unsigned key = 0;
        uint64_t version = none;
        unsigned number = 0; ///< Expected::begun when it was begun
        bool alone = false; ///< no other change of the key was under way then
        std::unique_ptr<RemoteWriter> writer;
        std::unique_ptr<RemoteReader> reader;
        std::string bytes;
        std::set<uint64_t> possible; ///< of a read: whatever was possible since it began
        bool over = false;
    };
    struct Worker {
        Worker(const std::string &path, const Clock &clock): link(std::make_shared<Link>(path, clock)) {}
        std::shared_ptr<Link> link;
        std::list<Task> tasks; // before the link in the order of destruction
    };

    uint64_t random() { return mix(seed_ * 0x9e3779b97f4a7c15U + ++drawn_); }
    bool chance(const unsigned in) { return random() % in == 0; }

    void beginOwner() {
        std::string error;
        owner_ = Owner::Open(*store_.engine, store_.clock, folder_.socket(), error);
        ASSERT_TRUE(owner_) << error;
    }

    void step() {
        switch (random() % 12) {
        case 0: case 1: case 2:
            store_.step();
            break;
        case 3: case 4:
            owner_->poll();
            break;
        case 5: case 6: case 7:
            poll(*workers_[random() % workers_.size()]);
            break;
        case 8:
            beginStore(*workers_[random() % workers_.size()]);
            break;
        case 9: case 10:
            beginRead(*workers_[random() % workers_.size()]);
            break;
        case 11:
            if (chance(3))
                beginRemoval();
            else if (chance(30))
                killWorker();
            else if (chance(60))
                killOwner();
            else if (chance(20))
                sync();
            else
                store_.clock.advance(random() % 200000);
        }
    }

    void poll(Worker &worker) {
        worker.link->poll();
        worker.tasks.remove_if([](const Task &task) { return task.over; });
    }

    /* storing */

    void beginStore(Worker &worker) {
        auto &task = worker.tasks.emplace_back();
        task.key = static_cast<unsigned>(random() % keys);
        task.version = ++lastVersion_;
        task.bytes = contentOf(task.key, task.version);
        task.writer = std::make_unique<RemoteWriter>(worker.link, keyOf(task.key), infoOf(store_.clock.wallSeconds()),
            chance(2) ? static_cast<int64_t>(task.bytes.size()) : -1);
        if (!task.writer->append(task.bytes.data(), task.bytes.size())) {
            task.over = true;
            return;
        }
        auto &expected = expected_[task.key];
        task.alone = !expected.changes++;
        task.number = ++expected.begun;
        mayBecome(task.key, task.version);
        const auto done = [this, &task](const Status status) {
            task.over = true;
            auto &e = expected_[task.key];
            // of changes at the same time, either one may have been the last
            if (--e.changes == 0 && task.alone && e.begun == task.number && status == Status::ok)
                e.is(task.version);
        };
        const auto status = task.writer->finish(done);
        if (status != Status::pending)
            done(status);
    }

    void mayBecome(const unsigned key, const uint64_t version) {
        expected_[key].mayBecome(version);
        for (auto &worker: workers_) {
            for (auto &task: worker->tasks) {
                if (task.reader && task.key == key)
                    task.possible.insert(version);
            }
        }
    }

    void beginRemoval() {
        const auto key = static_cast<unsigned>(random() % keys);
        auto &expected = expected_[key];
        const auto alone = !expected.changes;
        ++expected.begun;
        workers_[random() % workers_.size()]->link->remove(keyOf(key));
        // no answer tells when it is done, but what all have said is done after some turns
        if (!chance(4))
            return;
        settle();
        if (alone && allConnected())
            expected.is(none);
    }

    bool allConnected() const {
        for (const auto &worker: workers_) {
            if (!worker->link->connected())
                return false;
        }
        return true;
    }

    void settle() {
        for (unsigned i = 0; i < 10; ++i) {
            for (auto &worker: workers_)
                poll(*worker);
            owner_->poll();
            store_.step();
        }
    }

    /* reading */

    void beginRead(Worker &worker) {
        auto &task = worker.tasks.emplace_back();
        task.key = static_cast<unsigned>(random() % keys);
        task.possible = expected_[task.key].now;
        task.reader = std::make_unique<RemoteReader>(worker.link, keyOf(task.key), sizeOf(task.key));
        read(task);
    }

    void read(Task &task) {
        char buffer[4096];
        for (;;) {
            const auto n = task.reader->copy(task.bytes.size(), buffer, sizeof(buffer));
            if (n > 0) {
                task.bytes.append(buffer, static_cast<size_t>(n));
                continue;
            }
            if (n == 0)
                return check(task);
            task.reader->fetch(task.bytes.size(), [this, &task](const Status status) {
                if (status == Status::ok || status == Status::busy)
                    read(task);
                else
                    task.over = true;
            });
            return;
        }
    }

    void check(Task &task) {
        task.over = true;
        ++found;
        uint64_t version = none;
        memcpy(&version, task.bytes.data(), sizeof(version));
        ASSERT_TRUE(task.bytes == contentOf(task.key, version)) << "wrong bytes of " << task.key << ", seed " << seed_;
        ASSERT_TRUE(task.possible.count(version)) << task.key << " has version " << version << ", seed " << seed_;
    }

    /* ends */

    void forgetChanges(Worker &worker) {
        for (auto &task: worker.tasks) {
            if (task.writer && task.number && !task.over)
                --expected_[task.key].changes;
        }
    }

    /// what it has said may be done or not, and it says nothing more
    void killWorker() {
        auto &victim = workers_[random() % workers_.size()];
        forgetChanges(*victim);
        for (auto &expected: expected_)
            ++expected.second.begun; // what was begun before is not known to be the last
        victim->tasks.clear();
        victim = std::make_unique<Worker>(folder_.socket(), store_.clock);
    }

    void killOwner() {
        owner_.reset();
        store_.crash();
        for (auto &worker: workers_)
            poll(*worker);
        for (auto &expected: expected_)
            expected.second.now = expected.second.sinceSync;
        for (auto &worker: workers_) {
            for (auto &task: worker->tasks) {
                if (task.reader)
                    task.possible = expected_[task.key].now;
            }
        }
        ASSERT_NO_FATAL_FAILURE(store_.reopen());
        ASSERT_NO_FATAL_FAILURE(beginOwner());
    }

    /// everything until now survives a crash, and nothing that was before it comes back
    void sync() {
        settle();
        auto done = std::make_shared<bool>(false);
        store_.engine->run(Chore::sync, 0, [done](Status) { *done = true; });
        ASSERT_TRUE(store_.until([done] { return *done; }));
        for (auto &expected: expected_) {
            if (expected.second.changes == 0 && allConnected())
                expected.second.sinceSync = expected.second.now;
        }
    }

    const uint64_t seed_;
    uint64_t drawn_ = 0;
    SocketFolder folder_;
    TestStore store_{64 * MB};
    std::unique_ptr<Owner> owner_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::map<unsigned, Expected> expected_;
    uint64_t lastVersion_ = 0;
};

} // namespace

TEST(SharingHistory, readsOnlyWhatMayBeThere)
{
    unsigned found = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        History history(seed);
        ASSERT_NO_FATAL_FAILURE(history.run(4000)) << "seed " << seed;
        found += history.found;
    }
    EXPECT_GT(found, 10000U);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* A worker that is killed after each of the instructions by which it connects, stores, and removes. */

#include "test-suite/unit/support/EngineSupport.h"
#include "test-suite/unit/support/SocketFolder.h"

#include "fs/cluster/base/Clock.h"
#include "fs/cluster/sharing/Owner.h"
#include "fs/cluster/sharing/RemoteStore.h"

#include <gtest/gtest.h>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr unsigned removed = 1; ///< key of what the worker removes
constexpr unsigned kept = 2; ///< of what nobody touches
constexpr unsigned stored = 3; ///< of what the worker stores
constexpr size_t storedBytes = 700;

enum class Deed { remove, store, connect };

/// the process of the worker: stops itself before the deed, and ends after it
[[noreturn]] void
work(const std::string &path, const Deed deed)
{
    alarm(60); // however the test ends
    const SystemClock clock;
    RemoteStore store(path, clock);
    const auto content = bytesOf(stored, storedBytes);
    const auto info = infoOf(clock.wallSeconds());
    while (deed != Deed::connect && (!store.connected() || !store.link().control()->open))
        store.poll();
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    switch (deed) {
    case Deed::remove:
        store.remove(keyOf(removed));
        break;
    case Deed::store:
        if (const auto writer = store.create(keyOf(stored), info, storedBytes)) {
            writer->append(content.data(), 300);
            writer->append(content.data() + 300, storedBytes - 300);
            writer->finish([](Status) {});
        }
        break;
    case Deed::connect:
        for (unsigned n = 0; n < 10000 && !store.connected(); ++n) {
            store.poll();
            if (n == 0)
                raise(SIGSTOP); // the owner has its turn
        }
        break;
    }
    _exit(0); // without destructors, as one that is killed
}

class StepsTest: public testing::Test
{
protected:
    void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
        GTEST_SKIP() << "the sanitizer makes too many instructions of each";
#endif
        ASSERT_NO_FATAL_FAILURE(store.start());
        std::string error;
        owner = Owner::Open(*store.engine, store.clock, folder.socket(), error);
        ASSERT_TRUE(owner) << error;
        other = std::make_unique<RemoteStore>(folder.socket(), store.clock);
        store.clock.advance(Owner::openMicros);
        ASSERT_TRUE(until([this] { return other->connected() && other->link().control()->open; }));
        ASSERT_EQ(store.store(keyOf(kept), bytesOf(kept, 500)), Status::ok);
    }

    void step() {
        store.step();
        owner->poll();
        other->poll();
    }
    bool until(const std::function<bool()> &condition) {
        for (unsigned i = 0; i < 200000 && !condition(); ++i)
            step();
        return condition();
    }
    bool finds(const unsigned key) const {
        ObjectInfo info;
        return other->find(keyOf(key), info);
    }
    std::string loaded(const unsigned key) {
        std::string got;
        return store.load(keyOf(key), got) == Status::ok ? got : "none";
    }

    /// A worker begins a deed, is killed after so many instructions, and the owner sees it.
    /// \returns false when it came to its end before
    bool killedAfter(const unsigned instructions, const Deed deed) {
        const auto child = fork();
        if (!child)
            work(folder.socket(), deed);
        int status = 0;
        while (waitpid(child, &status, WUNTRACED | WNOHANG) == 0)
            step();
        auto ended = !WIFSTOPPED(status);
        for (unsigned n = 0; n < instructions && !ended; ++n) {
            ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
            waitpid(child, &status, 0);
            ended = !WIFSTOPPED(status);
            if (!ended && WSTOPSIG(status) == SIGSTOP)
                step(); // the worker waits for that
        }
        hidden = hidden || (!finds(removed) && store.engine->has(keyOf(removed)));
        if (!ended) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
        }
        EXPECT_TRUE(until([this] { return owner->workers() == 1; })) << "after " << instructions << " instructions";
        return !ended;
    }

    SocketFolder folder;
    TestStore store{128 * MB};
    std::unique_ptr<Owner> owner;
    std::unique_ptr<RemoteStore> other; ///< another worker, in this process
    bool hidden = false; ///< the other worker did not find what the owner still had
};

} // namespace

TEST_F(StepsTest, aRemovalHoldsOrWasNeverWanted)
{
    unsigned gone = 0;
    unsigned stayed = 0;
    unsigned instructions = 0;
    do {
        ASSERT_EQ(store.store(keyOf(removed), bytesOf(removed, 1000)), Status::ok);
        const auto killed = killedAfter(instructions, Deed::remove);
        ASSERT_EQ(finds(removed), store.engine->has(keyOf(removed))) << "hidden for ever, after " << instructions << " instructions";
        ASSERT_TRUE(finds(kept)) << "after " << instructions << " instructions";
        (finds(removed) ? stayed : gone)++;
        if (!killed)
            break;
        instructions += 23;
    } while (instructions < 100000);
    EXPECT_GT(gone, 1U) << "the last one had its message through";
    EXPECT_GT(stayed, 1U);
    EXPECT_TRUE(hidden) << "a removal holds for others before the owner has heard of it";
}

TEST_F(StepsTest, anObjectIsWholeOrNotThere)
{
    unsigned whole = 0;
    unsigned absent = 0;
    unsigned instructions = 0;
    do {
        const auto killed = killedAfter(instructions, Deed::store);
        const auto got = loaded(stored);
        if (got == "none")
            ++absent;
        else
            ASSERT_EQ(got, bytesOf(stored, storedBytes)) << "after " << instructions << " instructions";
        whole += got != "none";
        ASSERT_EQ(finds(stored), got != "none");
        ASSERT_EQ(loaded(kept), bytesOf(kept, 500));
        store.engine->remove(keyOf(stored));
        if (!killed)
            break;
        instructions += 101;
    } while (instructions < 200000);
    EXPECT_GT(whole, 0U);
    EXPECT_GT(absent, 5U);
    EXPECT_TRUE(store.pack()) << "something of a dead worker is left in staging";
}

TEST_F(StepsTest, aWorkerMayDieWhileItConnects)
{
    unsigned instructions = 0;
    while (killedAfter(instructions, Deed::connect) && instructions < 200000) {
        ASSERT_TRUE(finds(kept)) << "after " << instructions << " instructions";
        instructions += 499;
    }
    EXPECT_GT(instructions, 2000U);
    RemoteStore another(folder.socket(), store.clock);
    ASSERT_TRUE(until([&] {
        another.poll();
        return another.connected();
    }));
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* A process that reads an object out of the engine's memory, held up after each of its instructions while the engine goes on. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/engine/EngineView.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>
#include <utility>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr size_t objectBytes = 2500;

/// what the reader has got
struct Got {
    bool any;
    char bytes[objectBytes];
};

class InterleavingTest: public testing::Test
{
protected:
    InterleavingTest(): got(*new (mmap(nullptr, sizeof(Got), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Got()) {}
    ~InterleavingTest() override { munmap(&got, sizeof(Got)); }

    void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
        GTEST_SKIP() << "the sanitizer makes too many instructions of each";
#endif
        ASSERT_NO_FATAL_FAILURE(store.start());
        SharedTables tables;
        EngineView::Descriptors descriptors;
        std::string error;
        ASSERT_TRUE(store.engine->share(tables, error)) << error;
        for (size_t i = 0; i < descriptors.size(); ++i)
            descriptors[i] = Descriptor(dup(tables.memories[i].fd));
        ASSERT_TRUE(view.map(std::move(descriptors), tables, error)) << error;
    }

    [[noreturn]] void read() {
        alarm(60); // however the test ends
        ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        raise(SIGSTOP);
        EngineView::Copy copy;
        got.any = view.read(keyOf(1), objectBytes, copy);
        if (got.any)
            memcpy(got.bytes, copy.data(), objectBytes);
        _exit(0);
    }

    /// A process reads the object, is held up after so many instructions, and goes on when the engine has done something.
    /// \returns false when it had ended before
    bool heldUpAfter(const unsigned instructions, const std::function<void()> &meanwhile) {
        got.any = false;
        const auto child = fork();
        if (!child)
            read();
        int status = 0;
        waitpid(child, &status, WUNTRACED);
        auto ended = !WIFSTOPPED(status);
        for (unsigned n = 0; n < instructions && !ended; ++n) {
            ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
            waitpid(child, &status, 0);
            ended = !WIFSTOPPED(status);
        }
        meanwhile();
        if (!ended) {
            ptrace(PTRACE_CONT, child, nullptr, nullptr);
            waitpid(child, &status, 0);
        }
        EXPECT_TRUE(WIFEXITED(status));
        return !ended;
    }

    /// Lets the object be read while the engine does something, held up after ever more instructions.
    /// \param step how many more each time
    /// \param before puts the object in its place
    void tryAll(const unsigned step, const std::function<void()> &before, const std::function<void()> &meanwhile) {
        unsigned whole = 0;
        unsigned none = 0;
        for (unsigned instructions = 0; instructions < 100000; instructions += step) {
            before();
            const auto heldUp = heldUpAfter(instructions, meanwhile);
            const std::string bytes(got.bytes, objectBytes);
            ASSERT_TRUE(!got.any || bytes == older || bytes == newer) << "after " << instructions << " instructions";
            (got.any ? whole : none)++;
            if (heldUp)
                continue;
            ASSERT_TRUE(got.any && bytes == older) << "it was read before all that";
            break;
        }
        EXPECT_GT(whole, 1U);
        EXPECT_GT(none, 10U) << "the engine changed what was being read";
    }

    void put(const uint64_t key, const std::string &bytes) { ASSERT_EQ(store.store(keyOf(key), bytes), Status::ok); }
    /// other objects take what was free: memory of staging first, then, packed, of the read cache
    void fillUp(const bool packed) {
        for (unsigned n = 0; n < 4; ++n) {
            ++others;
            put(others, bytesOf(others, objectBytes));
        }
        if (packed) {
            ASSERT_TRUE(store.pack());
        }
        for (unsigned n = 0; n < 4; ++n)
            store.engine->remove(keyOf(others - n));
    }

    Got &got;
    TestStore store{32 * MB};
    EngineView view;
    const std::string older = bytesOf(1, objectBytes);
    const std::string newer = bytesOf(2, objectBytes);
    uint64_t others = 100;
};

} // namespace

TEST_F(InterleavingTest, aStagedObjectIsRemoved)
{
    tryAll(61, [this] { put(1, older); }, [this] {
        store.engine->remove(keyOf(1));
        fillUp(false);
    });
}

TEST_F(InterleavingTest, aStagedObjectIsReplaced)
{
    tryAll(61, [this] { put(1, older); }, [this] {
        put(1, newer);
        fillUp(false);
    });
}

TEST_F(InterleavingTest, aStagedObjectIsPacked)
{
    tryAll(61, [this] { put(1, older); }, [this] { fillUp(true); });
}

TEST_F(InterleavingTest, aPackedObjectIsRemoved)
{
    tryAll(149, [this] {
        put(1, older);
        ASSERT_TRUE(store.pack());
    }, [this] {
        store.engine->remove(keyOf(1));
        fillUp(true);
    });
}

TEST_F(InterleavingTest, aPackedObjectIsReplaced)
{
    tryAll(149, [this] {
        put(1, older);
        ASSERT_TRUE(store.pack());
    }, [this] {
        put(1, newer);
        ASSERT_TRUE(store.pack());
        fillUp(true);
    });
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Any number of threads, with calls that wait and calls that do not. */

#include "test-suite/library/LibrarySupport.h"

#include <poll.h>

#include <atomic>
#include <map>
#include <thread>

namespace ClusterFs::Library::Testing {
namespace {

class Threads : public LibraryTest
{
protected:
    /// a name that several threads use, with bytes that say which one has written them
    static std::string bytesFor(const unsigned object, const unsigned writer) {
        return std::to_string(object) + " " + std::to_string(writer) + " " + bytesOf(object * 100 + writer, 100 + object * 701);
    }

    /// whether the bytes are those that some thread has written for that object, whole
    static bool areWhole(const unsigned object, const std::string_view bytes, const unsigned threads) {
        for (unsigned writer = 0; writer < threads; ++writer) {
            if (bytes == bytesFor(object, writer))
                return true;
        }
        return false;
    }
};

TEST_F(Threads, seeWholeObjectsOnly) {
    constexpr unsigned count = 8;
    constexpr unsigned objects = 40;
    ASSERT_NO_FATAL_FAILURE(start(2));
    std::atomic<unsigned> hits{0};
    std::vector<std::thread> threads;
    for (unsigned me = 0; me < count; ++me) {
        threads.emplace_back([&, me] {
            for (unsigned i = 0; i < 300; ++i) {
                const unsigned object = (i * 7 + me * 13) % objects;
                const auto name = "object " + std::to_string(object);
                switch ((i + me) % 5) {
                case 0:
                    store->write(name, bytesFor(object, me));
                    break;
                case 1:
                    if (me == 0 && i % 50 == 0)
                        store->remove(name);
                    else if (me == 1 && i % 100 == 0)
                        store->sync();
                    [[fallthrough]];
                default:
                    if (const auto found = store->read(name)) {
                        ++hits;
                        ASSERT_TRUE(areWhole(object, found->view(), count)) << name;
                    }
                }
            }
        });
    }
    for (auto &thread: threads)
        thread.join();
    EXPECT_GT(hits, 500U);
    ASSERT_NO_FATAL_FAILURE(reopen());
    for (unsigned object = 0; object < objects; ++object) {
        const auto bytes = get("object " + std::to_string(object));
        EXPECT_TRUE(!bytes || areWhole(object, *bytes, count)) << object;
    }
}

TEST_F(Threads, shareAnObject) {
    ASSERT_NO_FATAL_FAILURE(start());
    const auto bytes = bytesOf(1, 2000000);
    store->write("name", bytes);
    ASSERT_NO_FATAL_FAILURE(reopen());
    const auto object = *store->read("name");
    std::vector<std::thread> threads;
    for (unsigned me = 0; me < 4; ++me) {
        threads.emplace_back([&, me] {
            const auto mine = object;
            std::string part(50000, '\0');
            for (size_t at = me * 1000; at + part.size() < bytes.size(); at += 300000) {
                ASSERT_EQ(mine.read(at, part.data(), part.size()), part.size());
                ASSERT_EQ(part, std::string_view(bytes).substr(at, part.size()));
                const auto view = mine.view(at);
                ASSERT_EQ(view, std::string_view(bytes).substr(at, view.size()));
            }
        });
    }
    for (auto &thread: threads)
        thread.join();
}

/// threads that are in calls when the store is closed would be a mistake, but those with handles are not
TEST_F(Threads, readTheirHandlesWhileTheStoreIsClosed) {
    ASSERT_NO_FATAL_FAILURE(start());
    store->write("name", bytesOf(1, 2000000));
    const auto object = *store->read("name");
    std::atomic<bool> reading{false};
    std::thread reader([&] {
        std::string part(100000, '\0');
        int code = 0;
        while (code == 0) {
            code = codeOf([&] {
                object.read(500000, part.data(), part.size());
                ASSERT_EQ(part, bytesOf(1, 2000000).substr(500000, 100000));
            });
            reading = true;
        }
        EXPECT_EQ(code, CLUSTERFS_CLOSED);
    });
    while (!reading)
        std::this_thread::yield();
    store->close();
    reader.join();
}

class Queues : public LibraryTest {};

TEST_F(Queues, answerEachRequestOnce) {
    ASSERT_NO_FATAL_FAILURE(start(2));
    constexpr unsigned count = 100;
    clusterfs::Queue queue(*store, 4 * count);
    std::vector<std::string> bytes;
    for (unsigned n = 0; n < count; ++n)
        bytes.push_back(bytesOf(n, n * 3001));
    for (unsigned n = 0; n < count; ++n)
        ASSERT_TRUE(queue.write(n, "object " + std::to_string(n), bytes[n]));
    ASSERT_TRUE(queue.sync(count));
    std::map<uint64_t, unsigned> answers;
    while (const auto answer = queue.wait()) {
        ++answers[answer->tag];
        EXPECT_EQ(answer->result, 0) << answer->tag;
        EXPECT_EQ(answer->operation, answer->tag == count ? CLUSTERFS_OP_SYNC : CLUSTERFS_OP_WRITE);
        EXPECT_FALSE(answer->object);
    }
    EXPECT_EQ(answers.size(), count + 1);
    for (unsigned n = 0; n < count; ++n)
        ASSERT_TRUE(queue.read(n, "object " + std::to_string(n)));
    ASSERT_TRUE(queue.read(count, "nothing"));
    for (unsigned n = 0; n <= count; ++n) {
        const auto answer = queue.wait();
        ASSERT_TRUE(answer);
        ++answers[answer->tag];
        EXPECT_EQ(answer->result, answer->tag == count ? -CLUSTERFS_NOT_FOUND : 0);
        ASSERT_EQ(answer->object.has_value(), answer->tag < count);
        if (answer->object) {
            EXPECT_EQ(answer->object->str(), bytes[answer->tag]);
        }
    }
    for (const auto &[tag, times]: answers)
        EXPECT_EQ(times, 2U) << tag;
    ASSERT_TRUE(queue.remove(1, "object 1"));
    ASSERT_TRUE(queue.remove(2, "nothing"));
    for (unsigned n = 0; n < 2; ++n) {
        const auto answer = queue.wait();
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->result, answer->tag == 1 ? 0 : -CLUSTERFS_NOT_FOUND);
    }
    EXPECT_FALSE(store->exists("object 1"));
}

TEST_F(Queues, haveALimit) {
    ASSERT_NO_FATAL_FAILURE(start());
    clusterfs::Queue queue(*store, 3);
    for (unsigned n = 0; n < 3; ++n)
        ASSERT_TRUE(queue.read(n, "nothing"));
    EXPECT_FALSE(queue.read(3, "nothing")) << "answers that nobody has fetched count, too";
    EXPECT_FALSE(queue.write(3, "name", "bytes"));
    EXPECT_FALSE(queue.remove(3, "nothing"));
    EXPECT_FALSE(queue.sync(3));
    ASSERT_TRUE(queue.wait());
    EXPECT_TRUE(queue.read(3, "nothing"));
    EXPECT_FALSE(store->exists("name"));
}

TEST_F(Queues, announceAnswersByTheirDescriptor) {
    ASSERT_NO_FATAL_FAILURE(start());
    clusterfs::Queue queue(*store, 10);
    const auto readable = [&](const int milliseconds) {
        struct pollfd event = {queue.descriptor(), POLLIN, 0};
        return ::poll(&event, 1, milliseconds) == 1;
    };
    EXPECT_FALSE(readable(0));
    for (unsigned n = 0; n < 2; ++n)
        ASSERT_TRUE(queue.read(n, "nothing"));
    EXPECT_TRUE(readable(60000));
    ASSERT_TRUE(queue.wait());
    EXPECT_TRUE(readable(60000)) << "one is left, or will come";
    ASSERT_TRUE(queue.wait());
    EXPECT_FALSE(readable(0));
    EXPECT_FALSE(queue.wait(0));
}

TEST_F(Queues, endWithAnswersThatNobodyFetches) {
    ASSERT_NO_FATAL_FAILURE(start());
    store->write("large", bytesOf(1, 1000000));
    const auto bytes = bytesOf(2, 3000000);
    {
        clusterfs::Queue queue(*store, 10);
        ASSERT_TRUE(queue.read(1, "large"));
        ASSERT_TRUE(queue.write(2, "late", bytes));
    }
    EXPECT_EQ(get("late"), bytes) << "what was begun is ended";
}

/// the store's own limit, behind those of queues
TEST_F(Queues, severalShareTheLimitOfTheStore) {
    ASSERT_NO_FATAL_FAILURE(start());
    clusterfs::Queue queue(*store, 65536);
    unsigned taken = 0;
    while (taken < 65536 && queue.sync(taken))
        ++taken;
    EXPECT_GE(taken, 1000U);
    EXPECT_LT(taken, 65536U) << "faster than the disk";
    unsigned answered = 0;
    while (const auto answer = queue.wait()) {
        EXPECT_EQ(answer->result, 0);
        ++answered;
    }
    EXPECT_EQ(answered, taken);
}

} // namespace
} // namespace ClusterFs::Library::Testing

// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls of CFS. */

#include "test-suite/library/LibrarySupport.h"

#include "clusterfs/cfs.h"

#include <sys/wait.h>

#include <algorithm>
#include <thread>

namespace ClusterFs::Library::Testing {
namespace {

class Cfs : public LibraryTest
{
protected:
    void TearDown() override {
        (void)clusterfs_cfs_end();
        LibraryTest::TearDown();
    }
    void begin(const unsigned devices = 1) {
        ASSERT_NO_FATAL_FAILURE(start(devices));
        ASSERT_EQ(clusterfs_cfs_begin(store->get()), 0);
    }
};

/// creates objects without waiting for them, and then reads them
void
createAndRead(const unsigned thread, const unsigned count, unsigned &wrong)
{
    std::vector<std::string> bytes, urls;
    for (unsigned n = 0; n < count; ++n) {
        bytes.push_back(bytesOf(thread * 1000 + n, n * 37 % 5000));
        urls.push_back("http://" + std::to_string(thread) + "/" + std::to_string(n));
        wrong += clusterfs_cfs_create(urls[n].c_str(), bytes[n].data(), static_cast<int>(bytes[n].size())) != 0;
    }
    wrong += clusterfs_cfs_sync() != 0;
    std::vector<std::string> copies;
    for (unsigned n = 0; n < count; ++n) {
        copies.emplace_back(static_cast<size_t>(std::max(1, clusterfs_cfs_length(urls[n].c_str()))), '\0');
        wrong += clusterfs_cfs_read(urls[n].c_str(), copies.back().data()) != 0;
    }
    wrong += clusterfs_cfs_sync() != 0;
    for (unsigned n = 0; n < count; ++n) {
        copies[n].resize(bytes[n].size());
        wrong += copies[n] != bytes[n];
    }
}

TEST_F(Cfs, moreRequestsThanMayBeUnderWay) {
    ASSERT_NO_FATAL_FAILURE(begin());
    unsigned wrong = 0;
    createAndRead(0, 700, wrong);
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(store->statistic("objects"), 700);
}

TEST_F(Cfs, threadsWaitForTheirOwnRequests) {
    ASSERT_NO_FATAL_FAILURE(begin(2));
    std::vector<unsigned> wrong(8);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < wrong.size(); ++t)
        threads.emplace_back([t, &wrong] { createAndRead(t, 300, wrong[t]); });
    for (auto &thread: threads)
        thread.join();
    EXPECT_EQ(std::count(wrong.begin(), wrong.end(), 0U), 8);
    EXPECT_EQ(clusterfs_cfs_end(), 0);
}

TEST_F(Cfs, syncTellsTheFirstErrorOnce) {
    ASSERT_NO_FATAL_FAILURE(begin());
    char room[10];
    EXPECT_EQ(clusterfs_cfs_read("none", room), 0);
    EXPECT_EQ(clusterfs_cfs_create("one", "bytes", 5), 0);
    EXPECT_EQ(clusterfs_cfs_sync(), -CLUSTERFS_NOT_FOUND);
    EXPECT_EQ(clusterfs_cfs_sync(), 0);
    EXPECT_EQ(clusterfs_cfs_length("one"), 5);
    EXPECT_EQ(clusterfs_cfs_length("none"), -CLUSTERFS_NOT_FOUND);
    EXPECT_EQ(clusterfs_cfs_remove("one"), 0);
    EXPECT_EQ(clusterfs_cfs_remove("one"), -CLUSTERFS_NOT_FOUND);
    EXPECT_EQ(clusterfs_cfs_read("none", room), 0);
    EXPECT_EQ(clusterfs_cfs_end(), -CLUSTERFS_NOT_FOUND) << "what nobody has asked for";
}

TEST_F(Cfs, itIsTheStoreThatOthersUse) {
    ASSERT_NO_FATAL_FAILURE(begin());
    EXPECT_EQ(clusterfs_cfs_begin(store->get()), -CLUSTERFS_BUSY);
    store->write("theirs", "bytes");
    char room[5];
    EXPECT_EQ(clusterfs_cfs_read("theirs", room), 0);
    EXPECT_EQ(clusterfs_cfs_create("ours", "other", 5), 0);
    EXPECT_EQ(clusterfs_cfs_sync(), 0);
    EXPECT_EQ(std::string(room, 5), "bytes");
    EXPECT_EQ(get("ours"), "other");
    // another store takes its place
    EXPECT_EQ(clusterfs_cfs_end(), 0);
    EXPECT_EQ(clusterfs_cfs_sync(), -CLUSTERFS_CLOSED);
    reopen();
    ASSERT_EQ(clusterfs_cfs_begin(store->get()), 0);
    EXPECT_EQ(clusterfs_cfs_length("ours"), 5);
    EXPECT_EQ(clusterfs_cfs_read("ours", room), 0);
    EXPECT_EQ(clusterfs_cfs_sync(), 0);
    EXPECT_EQ(std::string(room, 5), "other");
}

TEST_F(Cfs, aThreadThatEndsLosesNothing) {
    ASSERT_NO_FATAL_FAILURE(begin());
    const auto bytes = bytesOf(1, 3000);
    std::thread([&] { EXPECT_EQ(clusterfs_cfs_create("url", bytes.data(), 3000), 0); }).join();
    EXPECT_EQ(get("url"), bytes);
}

TEST_F(Cfs, wrongArgumentsAreRefused) {
    char room[1];
    EXPECT_EQ(clusterfs_cfs_begin(nullptr), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_cfs_create("url", "", 0), -CLUSTERFS_CLOSED);
    EXPECT_EQ(clusterfs_cfs_read("url", room), -CLUSTERFS_CLOSED);
    EXPECT_EQ(clusterfs_cfs_remove("url"), -CLUSTERFS_CLOSED);
    EXPECT_EQ(clusterfs_cfs_length("url"), -CLUSTERFS_CLOSED);
    EXPECT_EQ(clusterfs_cfs_end(), 0);
    ASSERT_NO_FATAL_FAILURE(begin());
    EXPECT_EQ(clusterfs_cfs_create(nullptr, "", 0), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_cfs_create("url", nullptr, 1), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_cfs_create("url", "", -1), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_cfs_read(nullptr, room), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_cfs_read("url", nullptr), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_cfs_remove(nullptr), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_cfs_length(nullptr), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_cfs_create("nothing", nullptr, 0), 0);
    EXPECT_EQ(clusterfs_cfs_sync(), 0);
    EXPECT_EQ(clusterfs_cfs_length("nothing"), 0);
    const auto child = fork();
    if (child == 0)
        _exit(clusterfs_cfs_create("url", "", 0) == -CLUSTERFS_FORKED && clusterfs_cfs_length("url") == -CLUSTERFS_FORKED ? 0 : 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

} // namespace
} // namespace ClusterFs::Library::Testing

// SPDX-License-Identifier: GPL-2.0-or-later
/* The class of Damelo. */

#include "test-suite/library/LibrarySupport.h"

#include "clusterfs/damelo.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <thread>

namespace ClusterFs::Library::Testing {
namespace {

using clusterfs::damelo::Damelo;
using clusterfs::damelo::Status;

class DameloTest : public LibraryTest
{
protected:
    void SetUp() override {
        LibraryTest::SetUp();
        device = path("raw");
        const int fd = ::open(device.c_str(), O_CREAT | O_WRONLY, 0600);
        ASSERT_GE(fd, 0);
        ASSERT_EQ(ftruncate(fd, 64 * MB), 0);
        close(fd);
    }

    std::string device;
};

/// reads an object, and gives it back
std::string
contentOf(Damelo &damelo, const char *const name, const int group)
{
    char *data = nullptr;
    int size = 0;
    if (damelo.read(name, group, data, size) != 0)
        return "none";
    const std::string content(data, static_cast<size_t>(size));
    EXPECT_EQ(damelo.release(name, group), 0);
    return content;
}

/// one object through all calls, as a proxy would
TEST_F(DameloTest, anObjectsLife) {
    Status status = 1;
    Damelo damelo(device.c_str(), 16, 32, status);
    ASSERT_EQ(status, 0);
    EXPECT_EQ(damelo.love(3), 0);
    const auto bytes = bytesOf(1, 100);
    EXPECT_EQ(damelo.create("a.gif", 3, bytes.data(), 100), 0);
    int group = 0;
    EXPECT_EQ(damelo.lookup("a.gif", group), 0);
    EXPECT_EQ(group, 3);
    char *data = nullptr;
    int size = 0;
    EXPECT_EQ(damelo.read("a.gif", group, data, size), 0);
    EXPECT_EQ(std::string(data, static_cast<size_t>(size)), bytes);
    EXPECT_EQ(damelo.hate(group), 0);
    EXPECT_EQ(damelo.remove("a.gif", group), 0);
    EXPECT_EQ(std::string(data, static_cast<size_t>(size)), bytes) << "who reads it may go on";
    EXPECT_EQ(damelo.release("a.gif", group), 0);
    EXPECT_EQ(damelo.lookup("a.gif", group), -CLUSTERFS_NOT_FOUND);
    EXPECT_EQ(damelo.read("a.gif", group, data, size), -CLUSTERFS_NOT_FOUND);
    EXPECT_EQ(damelo.release("a.gif", group), -CLUSTERFS_NOT_FOUND);
    EXPECT_EQ(damelo.remove("a.gif", group), -CLUSTERFS_NOT_FOUND);
}

/// a release does not say whose read it ends
TEST_F(DameloTest, bytesStayUntilTheLastReaderIsDone) {
    Status status = 1;
    Damelo damelo(device.c_str(), 16, 32, status);
    ASSERT_EQ(status, 0);
    const auto old = bytesOf(1, 50000), fresh = bytesOf(2, 60000);
    ASSERT_EQ(damelo.create("a.gif", 3, old.data(), 50000), 0);
    char *first = nullptr, *second = nullptr;
    int size = 0;
    ASSERT_EQ(damelo.read("a.gif", 3, first, size), 0);
    ASSERT_EQ(damelo.create("a.gif", 3, fresh.data(), 60000), 0);
    ASSERT_EQ(damelo.read("a.gif", 3, second, size), 0);
    ASSERT_EQ(damelo.release("a.gif", 3), 0);
    EXPECT_TRUE(std::string(first, 50000) == old);
    EXPECT_TRUE(std::string(second, 60000) == fresh);
    EXPECT_EQ(damelo.release("a.gif", 3), 0);
    EXPECT_EQ(damelo.release("a.gif", 3), -CLUSTERFS_NOT_FOUND);
}

TEST_F(DameloTest, theNextOneFindsObjectsAndGroups) {
    Status status = 1;
    const auto large = bytesOf(2, 700000);
    {
        Damelo damelo(device.c_str(), 4, 32, status);
        ASSERT_EQ(status, 0);
        EXPECT_EQ(damelo.setCheckpoint(2, 0), 0) << "what comes into it need not survive a power cut";
        EXPECT_EQ(damelo.setCheckpoint(3, 5), 0);
        for (int n = 0; n < 40; ++n) {
            const auto bytes = bytesOf(static_cast<uint64_t>(n), 3000);
            EXPECT_EQ(damelo.create(std::to_string(n).c_str(), 1 + n % 4, bytes.data(), 3000), 0);
        }
        EXPECT_EQ(damelo.create("large", 4, large.data(), static_cast<int>(large.size())), 0);
    }
    Damelo damelo(device.c_str(), 4, 32, status);
    ASSERT_EQ(status, 0);
    for (int n = 0; n < 40; ++n) {
        int group = 0;
        const auto name = std::to_string(n);
        EXPECT_EQ(damelo.lookup(name.c_str(), group), 0) << n;
        EXPECT_EQ(group, 1 + n % 4);
        EXPECT_EQ(contentOf(damelo, name.c_str(), group), bytesOf(static_cast<uint64_t>(n), 3000)) << n;
    }
    EXPECT_EQ(contentOf(damelo, "large", 4), large);
    EXPECT_NE(damelo.store(), nullptr);
}

TEST_F(DameloTest, manyThreadsReadAtATime) {
    Status status = 1;
    Damelo damelo(device.c_str(), 2, 32, status);
    ASSERT_EQ(status, 0);
    for (int n = 0; n < 50; ++n)
        EXPECT_EQ(damelo.create(std::to_string(n).c_str(), 1, bytesOf(static_cast<uint64_t>(n), 2000).data(), 2000), 0);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t) {
        threads.emplace_back([&damelo, t] {
            for (unsigned n = 0; n < 200; ++n) {
                const auto object = (n * 7 + t) % 50;
                EXPECT_EQ(contentOf(damelo, std::to_string(object).c_str(), 1), bytesOf(object, 2000));
            }
        });
    }
    for (auto &thread: threads)
        thread.join();
}

TEST_F(DameloTest, whatCannotBeIsRefused) {
    Status status = 0;
    {
        std::ofstream(path("letter")) << "not a store";
        std::filesystem::resize_file(path("letter"), 64 * MB);
        Damelo damelo(path("letter").c_str(), 4, 32, status);
        EXPECT_EQ(status, -CLUSTERFS_FOREIGN);
        int group = 0;
        char *data = nullptr;
        int size = 0;
        EXPECT_EQ(damelo.create("a", 1, "b", 1), -CLUSTERFS_CLOSED);
        EXPECT_EQ(damelo.lookup("a", group), -CLUSTERFS_CLOSED);
        EXPECT_EQ(damelo.read("a", 1, data, size), -CLUSTERFS_CLOSED);
        EXPECT_EQ(damelo.remove("a", 1), -CLUSTERFS_CLOSED);
        EXPECT_EQ(damelo.love(1), -CLUSTERFS_CLOSED);
        EXPECT_EQ(damelo.setCheckpoint(1, 1), -CLUSTERFS_CLOSED);
        EXPECT_EQ(damelo.store(), nullptr);
    }
    Damelo none(device.c_str(), 0, 32, status);
    EXPECT_EQ(status, -CLUSTERFS_ARGUMENT);
    Damelo small(device.c_str(), 4, 15, status);
    EXPECT_EQ(status, -CLUSTERFS_ARGUMENT);
    Damelo damelo(device.c_str(), 4, 32, status);
    ASSERT_EQ(status, 0);
    EXPECT_EQ(damelo.create("a", 0, "b", 1), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(damelo.create("a", 5, "b", 1), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(damelo.create(nullptr, 1, "b", 1), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(damelo.create("a", 1, "b", -1), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(damelo.love(5), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(damelo.setCheckpoint(1, -1), -CLUSTERFS_ARGUMENT);
    testing::internal::CaptureStderr();
    Damelo::perror("damelo", -CLUSTERFS_NOT_FOUND);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "damelo: not found\n");
}

} // namespace
} // namespace ClusterFs::Library::Testing

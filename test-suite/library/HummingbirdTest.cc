// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls of Hummingbird, and the daemons. */

#include "test-suite/library/LibrarySupport.h"

#include "clusterfs/hummingbird.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace ClusterFs::Library::Testing {
namespace {

class Hummingbird : public LibraryTest
{
protected:
    void TearDown() override {
        EXPECT_EQ(clusterfs_hummingbird_end(), 0);
        LibraryTest::TearDown();
    }
    void begin(const clusterfs_hummingbird_thresholds *const thresholds = nullptr, const unsigned devices = 1) {
        ASSERT_NO_FATAL_FAILURE(start(devices));
        ASSERT_EQ(clusterfs_hummingbird_begin(store->get(), thresholds), 0);
    }
};

/// a copy that belongs to the store when it is written
void *
handedOver(const std::string &bytes)
{
    auto *const copy = static_cast<char *>(malloc(bytes.size() + 1));
    std::copy(bytes.begin(), bytes.end(), copy);
    return copy;
}

int
writeFile(const std::string &name, const std::string &bytes)
{
    return clusterfs_hummingbird_write_file(name.c_str(), handedOver(bytes), bytes.size());
}

/// what a read lends, which is given back
std::string
contentOf(const std::string &name)
{
    void *buf = nullptr;
    const int size = clusterfs_hummingbird_read_file(name.c_str(), &buf);
    if (size < 0)
        return "error " + std::to_string(size);
    std::string content(static_cast<const char *>(buf), static_cast<size_t>(size));
    EXPECT_EQ(clusterfs_hummingbird_done_read_file(name.c_str(), buf), 0);
    return content;
}

/// (a comparison of strings would print all of their bytes)
bool
has(const std::string &name, const std::string &bytes)
{
    return contentOf(name) == bytes;
}

TEST_F(Hummingbird, filesOfAllSizes) {
    ASSERT_NO_FATAL_FAILURE(begin(nullptr, 2));
    const size_t sizes[] = {0, 1, 1986, 65536, 262000, 262144, 900000};
    for (const auto size: sizes)
        EXPECT_EQ(writeFile("file" + std::to_string(size), bytesOf(size, size)), static_cast<int>(size));
    for (int turn = 0; turn < 2; ++turn) {
        for (const auto size: sizes)
            EXPECT_TRUE(has("file" + std::to_string(size), bytesOf(size, size))) << size;
        EXPECT_EQ(clusterfs_hummingbird_pack_files_daemon(), 0);
    }
}

TEST_F(Hummingbird, aFileThatIsReadCannotBeDeleted) {
    ASSERT_NO_FATAL_FAILURE(begin());
    const auto bytes = bytesOf(1, 5000);
    ASSERT_EQ(writeFile("a", bytes), 5000);
    ASSERT_EQ(writeFile("b", bytes), 5000);
    void *first = nullptr, *second = nullptr;
    ASSERT_EQ(clusterfs_hummingbird_read_file("a", &first), 5000);
    ASSERT_EQ(clusterfs_hummingbird_read_file("a", &second), 5000);
    EXPECT_EQ(clusterfs_hummingbird_delete_file("a"), -CLUSTERFS_BUSY);
    EXPECT_EQ(clusterfs_hummingbird_end(), -CLUSTERFS_BUSY);
    EXPECT_EQ(clusterfs_hummingbird_delete_file("b"), 0);
    EXPECT_EQ(clusterfs_hummingbird_delete_file("b"), -CLUSTERFS_NOT_FOUND);
    EXPECT_EQ(clusterfs_hummingbird_done_read_file("b", first), -CLUSTERFS_ARGUMENT) << "it was lent for another file";
    EXPECT_EQ(clusterfs_hummingbird_done_read_file("a", first), 0);
    EXPECT_EQ(clusterfs_hummingbird_done_read_file("a", first), -CLUSTERFS_ARGUMENT) << "twice";
    EXPECT_EQ(clusterfs_hummingbird_delete_file("a"), -CLUSTERFS_BUSY) << "the second one still reads";
    EXPECT_EQ(writeFile("a", bytesOf(2, 10)), 10) << "a new version may come";
    EXPECT_EQ(memcmp(second, bytes.data(), bytes.size()), 0);
    EXPECT_EQ(clusterfs_hummingbird_done_read_file("a", second), 0);
    EXPECT_TRUE(has("a", bytesOf(2, 10)));
    EXPECT_EQ(clusterfs_hummingbird_delete_file("a"), 0);
}

/// by two hints, as the paper has it, they come with one read
TEST_F(Hummingbird, collocatedFilesAreReadTogether) {
    ASSERT_NO_FATAL_FAILURE(begin());
    const auto number = [](const char *const what, const int n) { return std::string(what) + std::to_string(n); };
    for (int n = 0; n < 60; ++n)
        ASSERT_EQ(writeFile(number("other", n), bytesOf(n, 4000)), 4000);
    for (const auto *const what: {"page", "picture", "style"}) { // far from each other
        for (int n = 0; n < 10; ++n)
            ASSERT_EQ(writeFile(number(what, n), bytesOf(n + 100, 3000)), 3000);
        for (int n = 0; n < 60; ++n)
            ASSERT_EQ(writeFile(number(what, n) + "other", bytesOf(n, 4000)), 4000);
    }
    for (int n = 0; n < 10; ++n) {
        EXPECT_EQ(clusterfs_hummingbird_collocate_files(number("page", n).c_str(), number("picture", n).c_str()), 0);
        EXPECT_EQ(clusterfs_hummingbird_collocate_files(number("page", n).c_str(), number("style", n).c_str()), 0);
    }
    EXPECT_EQ(clusterfs_hummingbird_collocate_files("page1", "unknown"), -CLUSTERFS_NOT_FOUND);
    EXPECT_EQ(clusterfs_hummingbird_collocate_files("unknown", "page1"), -CLUSTERFS_NOT_FOUND);
    ASSERT_EQ(clusterfs_hummingbird_pack_files_daemon(), 0);
    EXPECT_EQ(store->statistic("objects packed in groups"), 20) << "each has two beside the page";
    ASSERT_EQ(clusterfs_hummingbird_free_main_memory_data_daemon(), 0);
    EXPECT_EQ(store->statistic("read cache used"), 0);
    const auto before = store->statistic("disk reads");
    for (const auto *const what: {"page", "picture", "style"})
        EXPECT_TRUE(has(number(what, 7), bytesOf(107, 3000)));
    EXPECT_EQ(store->statistic("disk reads"), before + 1);
}

TEST_F(Hummingbird, filesThatAreNotToStayInMemoryLeaveIt) {
    ASSERT_NO_FATAL_FAILURE(begin());
    for (const auto *const name: {"small", "large"}) {
        const size_t size = *name == 's' ? 5000 : 700000;
        ASSERT_EQ(clusterfs_hummingbird_write_nomem_file(name, handedOver(bytesOf(1, size)), size), static_cast<int>(size));
    }
    ASSERT_EQ(clusterfs_hummingbird_pack_files_daemon(), 0);
    ASSERT_TRUE(has("small", bytesOf(1, 5000)));
    ASSERT_TRUE(has("large", bytesOf(1, 700000)));
    uint64_t group = 0;
    EXPECT_EQ(clusterfs_group(store->get(), "small", 5, &group), CLUSTERFS_NOT_FOUND * -1) << "it is no group that a caller can name";
}

TEST_F(Hummingbird, packingStopsAtTheThreshold) {
    clusterfs_hummingbird_thresholds thresholds{};
    thresholds.struct_size = sizeof(thresholds);
    thresholds.files = 500 * 1024;
    ASSERT_NO_FATAL_FAILURE(begin(&thresholds));
    for (int n = 0; n < 100; ++n)
        ASSERT_EQ(writeFile("file" + std::to_string(n), bytesOf(n, 10000)), 10000);
    ASSERT_GT(store->statistic("staging used"), 1000 * 1000);
    ASSERT_EQ(clusterfs_hummingbird_pack_files_daemon(), 0);
    EXPECT_LE(store->statistic("staging used"), 500 * 1024);
    EXPECT_GT(store->statistic("staging used"), 300 * 1024);
    ASSERT_EQ(clusterfs_hummingbird_pack_files_daemon(), 0);
    EXPECT_GT(store->statistic("staging used"), 300 * 1024) << "there is nothing more to do";
}

/// those that were used last come into one cluster, which their walk shows
TEST_F(Hummingbird, packingFromTheHeadPutsTheHottestTogether) {
    clusterfs_hummingbird_thresholds thresholds{};
    thresholds.struct_size = sizeof(thresholds);
    thresholds.files = 950 * 1024;
    ASSERT_NO_FATAL_FAILURE(begin(&thresholds));
    for (int n = 0; n < 100; ++n)
        ASSERT_EQ(writeFile("file" + std::to_string(n), bytesOf(n, 10000)), 10000);
    ASSERT_TRUE(has("file50", bytesOf(50, 10000)));
    ASSERT_EQ(clusterfs_hummingbird_pack_files_from_head_daemon(), 0);
    std::vector<std::string> packed;
    auto walk = store->walkHot();
    while (const auto entry = walk.next())
        packed.push_back(entry->name);
    ASSERT_GE(packed.size(), 4U);
    EXPECT_LT(packed.size(), 20U);
    EXPECT_NE(std::find(packed.begin(), packed.end(), "file50"), packed.end()) << "it was read last";
    EXPECT_NE(std::find(packed.begin(), packed.end(), "file99"), packed.end());
    EXPECT_EQ(std::find(packed.begin(), packed.end(), "file0"), packed.end());
}

TEST_F(Hummingbird, roomIsMadeOnTheDisk) {
    clusterfs_hummingbird_thresholds thresholds{};
    thresholds.struct_size = sizeof(thresholds);
    thresholds.disk = 12 * MB;
    ASSERT_NO_FATAL_FAILURE(begin(&thresholds));
    for (int n = 0; n < 800; ++n)
        ASSERT_EQ(writeFile("file" + std::to_string(n), bytesOf(n, 50000)), 50000);
    ASSERT_EQ(clusterfs_hummingbird_pack_files_daemon(), 0);
    ASSERT_LT(store->statistic("clusters free") * 65536, 12 * MB);
    ASSERT_EQ(clusterfs_hummingbird_free_disk_space_daemon(), 0);
    EXPECT_GE(store->statistic("clusters free") * 65536, 12 * MB);
    EXPECT_GT(store->statistic("objects"), 190) << "no more clusters than that are made free, each with an object";
    EXPECT_TRUE(has("file799", bytesOf(799, 50000))) << "the newest stays";
    EXPECT_EQ(clusterfs_run(store->get(), CLUSTERFS_FREE_DISK, 1ULL << 40), -CLUSTERFS_NO_ROOM) << "more than there is";
    EXPECT_EQ(clusterfs_run(store->get(), CLUSTERFS_FREE_DISK, 24 * MB), 0) << "nearly all";
    EXPECT_GE(store->statistic("clusters free") * 65536, 24 * MB);
}

TEST_F(Hummingbird, memoryThatIsInUseStays) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ASSERT_EQ(writeFile("film", bytesOf(1, 900000)), 900000);
    ASSERT_EQ(clusterfs_hummingbird_pack_files_daemon(), 0);
    ASSERT_TRUE(has("film", bytesOf(1, 900000)));
    EXPECT_GT(store->statistic("read cache used"), 0);
    EXPECT_EQ(clusterfs_run(store->get(), CLUSTERFS_FREE_MEMORY, 100 * MB), 0);
    EXPECT_GT(store->statistic("read cache used"), 0) << "it is below that";
    EXPECT_EQ(clusterfs_hummingbird_free_main_memory_data_daemon(), 0);
    EXPECT_EQ(store->statistic("read cache used"), 0);
}

TEST_F(Hummingbird, aCheckpointIsWritten) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ASSERT_EQ(writeFile("a", bytesOf(1, 1000)), 1000);
    for (int n = 1; n < 4; ++n) {
        ASSERT_EQ(clusterfs_hummingbird_sync_hot_clusters_daemon(), 0);
        EXPECT_EQ(store->statistic("checkpoints"), n);
    }
}

TEST_F(Hummingbird, daemonsRunWhileOthersWork) {
    clusterfs_hummingbird_thresholds thresholds{};
    thresholds.struct_size = sizeof(thresholds);
    thresholds.disk = 4 * MB;
    ASSERT_NO_FATAL_FAILURE(begin(&thresholds, 2));
    std::vector<unsigned> wrong(4);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < wrong.size(); ++t) {
        threads.emplace_back([t, &wrong] {
            for (unsigned n = 0; n < 300; ++n) {
                const auto name = std::to_string(t) + "/" + std::to_string(n);
                wrong[t] += writeFile(name, bytesOf(n, 3000)) != 3000;
                wrong[t] += contentOf(name) != bytesOf(n, 3000);
            }
        });
    }
    for (int n = 0; n < 20; ++n) {
        EXPECT_EQ(clusterfs_hummingbird_pack_files_daemon(), 0);
        EXPECT_EQ(clusterfs_hummingbird_pack_files_from_head_daemon(), 0);
        EXPECT_EQ(clusterfs_hummingbird_free_disk_space_daemon(), 0);
        const int freed = clusterfs_hummingbird_free_main_memory_data_daemon();
        EXPECT_TRUE(freed == 0 || freed == -CLUSTERFS_BUSY) << freed;
        EXPECT_EQ(clusterfs_hummingbird_sync_hot_clusters_daemon(), 0);
    }
    for (auto &thread: threads)
        thread.join();
    EXPECT_EQ(wrong, std::vector<unsigned>(4));
}

TEST_F(Hummingbird, wrongArguments) {
    ASSERT_NO_FATAL_FAILURE(start());
    char byte = 0;
    void *buf = nullptr;
    EXPECT_EQ(clusterfs_hummingbird_begin(nullptr, nullptr), -CLUSTERFS_ARGUMENT);
    clusterfs_hummingbird_thresholds thresholds{};
    EXPECT_EQ(clusterfs_hummingbird_begin(store->get(), &thresholds), -CLUSTERFS_ARGUMENT) << "no size";
    EXPECT_EQ(clusterfs_hummingbird_write_file("a", &byte, 1), -CLUSTERFS_CLOSED);
    EXPECT_EQ(clusterfs_hummingbird_read_file("a", &buf), -CLUSTERFS_CLOSED);
    EXPECT_EQ(clusterfs_hummingbird_delete_file("a"), -CLUSTERFS_CLOSED);
    EXPECT_EQ(clusterfs_hummingbird_collocate_files("a", "b"), -CLUSTERFS_CLOSED);
    EXPECT_EQ(clusterfs_hummingbird_pack_files_daemon(), -CLUSTERFS_CLOSED);
    ASSERT_EQ(clusterfs_hummingbird_begin(store->get(), nullptr), 0);
    EXPECT_EQ(clusterfs_hummingbird_begin(store->get(), nullptr), -CLUSTERFS_BUSY);
    EXPECT_EQ(clusterfs_hummingbird_write_file(nullptr, &byte, 1), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_hummingbird_write_file("a", nullptr, 1), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_hummingbird_write_file("a", &byte, size_t(1) << 31), -CLUSTERFS_TOO_LARGE);
    EXPECT_EQ(clusterfs_hummingbird_read_file(nullptr, &buf), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_hummingbird_read_file("a", nullptr), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_hummingbird_read_file("a", &buf), -CLUSTERFS_NOT_FOUND);
    EXPECT_EQ(clusterfs_hummingbird_done_read_file("a", &byte), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_hummingbird_delete_file(nullptr), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_hummingbird_collocate_files(nullptr, "a"), -CLUSTERFS_ARGUMENT);
    for (const int chore: {-1, 0, CLUSTERFS_CHECKPOINT + 1})
        EXPECT_EQ(clusterfs_run(store->get(), chore, 0), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_run(store->get(), CLUSTERFS_CHECKPOINT, 1), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_run(nullptr, CLUSTERFS_PACK, 0), -CLUSTERFS_ARGUMENT);
}

} // namespace
} // namespace ClusterFs::Library::Testing

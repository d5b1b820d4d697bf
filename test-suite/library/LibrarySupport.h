// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tests of the library share: a folder with files as devices, bytes, a store. */

#ifndef CLUSTERFS_TEST_SUITE_LIBRARY_SUPPORT_H
#define CLUSTERFS_TEST_SUITE_LIBRARY_SUPPORT_H

#include "clusterfs/clusterfs.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace ClusterFs::Library::Testing {

constexpr uint64_t MB = 1 << 20;

/// bytes that differ from seed to seed and from place to place
inline std::string
bytesOf(const uint64_t seed, const size_t size)
{
    std::string bytes(size, '\0');
    uint64_t x = seed * 0x9e3779b97f4a7c15ULL + 1;
    for (size_t at = 0; at < size; ++at) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        bytes[at] = static_cast<char>(x >> 32);
    }
    return bytes;
}

/// the options of a store that is small and packs soon
inline clusterfs::Options
smallOptions()
{
    clusterfs::Options options;
    options.set("cluster-size", "64").set("object-size", "4").set("staging", "4").set("read-cache", "2").set("locality", "1");
    return options;
}

/// a test with a folder, in which files can be devices
class LibraryTest : public ::testing::Test
{
protected:
    void SetUp() override {
        // in the folder of the build, because a file system in memory may have no O_DIRECT
        char name[] = "library-test-XXXXXX";
        ASSERT_TRUE(mkdtemp(name)) << "the current folder can't be written";
        folder_ = std::filesystem::absolute(name);
    }
    void TearDown() override {
        store.reset();
        std::filesystem::remove_all(folder_);
    }

    std::string path(const std::string &name) const { return (folder_ / name).string(); }

    /// makes files that are devices, and opens them as one store
    void start(const unsigned devices = 1, const uint64_t bytes = 32 * MB, const clusterfs::Options &options = smallOptions()) {
        for (unsigned n = 0; n < devices; ++n) {
            paths.push_back(path("device" + std::to_string(n)));
            ASSERT_FALSE(clusterfs::Store::format(paths.back(), bytes, options));
        }
        open(options);
    }

    void open(const clusterfs::Options &options = smallOptions()) { store = std::make_unique<clusterfs::Store>(paths, options); }

    void reopen(const clusterfs::Options &options = smallOptions()) {
        store->close();
        store.reset();
        open(options);
    }

    /// \returns the object's bytes, or nothing
    std::optional<std::string> get(const std::string &name) {
        const auto object = store->read(name);
        return object ? std::optional<std::string>(object->str()) : std::nullopt;
    }

    std::vector<std::string> paths; ///< of the store's devices
    std::unique_ptr<clusterfs::Store> store;

private:
    std::filesystem::path folder_;
};

/// \returns the code of what a function throws, 0 when it throws nothing
template <class Function>
int
codeOf(Function f)
{
    try {
        f();
    } catch (const clusterfs::Error &e) {
        return e.code();
    }
    return 0;
}

} // namespace ClusterFs::Library::Testing

#endif

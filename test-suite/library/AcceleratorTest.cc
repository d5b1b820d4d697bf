// SPDX-License-Identifier: GPL-2.0-or-later
/* A store in front of a folder: copies, changes of files, links, limits, damage. */

#include "test-suite/library/LibrarySupport.h"

#include "clusterfs/accelerator.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

namespace ClusterFs::Library::Testing {
namespace {

constexpr size_t whole = 256 * 1024; ///< the largest file that is read at once

class Accelerating : public LibraryTest
{
protected:
    void SetUp() override {
        LibraryTest::SetUp();
        std::filesystem::create_directory(path("files"));
        settings.settled = 0;
    }
    void TearDown() override {
        close();
        LibraryTest::TearDown();
    }

    void accelerate() {
        ASSERT_NO_FATAL_FAILURE(start());
        again();
    }
    void again() {
        close();
        ASSERT_EQ(clusterfs_accelerator_new(store->get(), path("files").c_str(), &settings, &accelerator), 0);
    }
    void close() {
        clusterfs_accelerator_free(accelerator);
        accelerator = nullptr;
    }

    std::string file(const std::string &name) const { return path("files/" + name); }
    void put(const std::string &name, const std::string &bytes) const {
        std::ofstream(file(name), std::ios::binary | std::ios::trunc) << bytes;
    }

    clusterfs_file *opened(const std::string &name, const uint64_t client = 1) {
        clusterfs_file *f = nullptr;
        EXPECT_EQ(clusterfs_file_open(accelerator, name.c_str(), client, &f), 0) << name << ": " << strerror(errno);
        return f;
    }
    /// reads an open file to its end, in pieces of an odd size
    static std::string bytesIn(clusterfs_file *const f) {
        std::string bytes;
        std::vector<char> piece(100003);
        int64_t got;
        while ((got = clusterfs_file_read(f, bytes.size(), piece.data(), piece.size())) > 0)
            bytes.append(piece.data(), static_cast<size_t>(got));
        EXPECT_EQ(got, 0) << strerror(errno);
        return bytes;
    }
    /// \param stored receives whether the store had it
    std::string contents(const std::string &name, bool &stored) {
        auto *const f = opened(name);
        stored = clusterfs_file_stored(f) == 1;
        auto bytes = f ? bytesIn(f) : std::string();
        clusterfs_file_close(f);
        return bytes;
    }
    std::string fromStore(const std::string &name) {
        bool stored = false;
        auto bytes = contents(name, stored);
        EXPECT_TRUE(stored) << name;
        return bytes;
    }
    std::string fromFolder(const std::string &name) {
        bool stored = false;
        auto bytes = contents(name, stored);
        EXPECT_FALSE(stored) << name;
        return bytes;
    }
    /// waits until so many files were copied, or could not be
    void wait(const uint64_t copies) {
        for (unsigned tries = 0; tries < 6000; ++tries) {
            const auto c = counts();
            if (c.copied + c.failed >= copies)
                return;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        FAIL() << "not copied within a minute";
    }
    clusterfs_accelerator_counts counts() const {
        clusterfs_accelerator_counts c;
        EXPECT_EQ(clusterfs_accelerator_count(accelerator, &c, sizeof(c)), 0);
        return c;
    }
    /// what opening answers, with errno
    int refused(const std::string &name) {
        clusterfs_file *f = nullptr;
        errno = 0;
        const int result = clusterfs_file_open(accelerator, name.c_str(), 0, &f);
        EXPECT_EQ(f, nullptr);
        return result == -CLUSTERFS_FILE ? errno : result;
    }

    /// opens a file of 3 MB that the store has, and damages what the device has of its last third
    void openDamaged(clusterfs_file *&f) {
        put("file", bytesOf(1, 3 * MB));
        EXPECT_EQ(fromFolder("file"), bytesOf(1, 3 * MB));
        ASSERT_NO_FATAL_FAILURE(wait(1));
        close();
        reopen(); // so that nothing of it is in memory
        ASSERT_NO_FATAL_FAILURE(again());
        f = opened("file");
        ASSERT_EQ(clusterfs_file_stored(f), 1);
        std::ifstream from(paths[0], std::ios::binary);
        const std::string all((std::istreambuf_iterator<char>(from)), std::istreambuf_iterator<char>());
        const auto at = all.find(bytesOf(1, 3 * MB).substr(2 * MB, 64));
        ASSERT_NE(at, std::string::npos);
        std::fstream device(paths[0], std::ios::binary | std::ios::in | std::ios::out);
        device.seekp(static_cast<std::streamoff>(at));
        device << std::string(65536, 'x');
        device.close();
        ASSERT_TRUE(device);
    }

    clusterfs_accelerator_settings settings = CLUSTERFS_ACCELERATOR;
    clusterfs_accelerator *accelerator = nullptr;
};

TEST_F(Accelerating, theFirstReadCopiesAndTheNextOnesComeFromTheStore) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    for (const size_t size: {size_t(0), size_t(1), size_t(5000), whole}) {
        const auto name = "file" + std::to_string(size);
        put(name, bytesOf(size, size));
        EXPECT_EQ(fromFolder(name), bytesOf(size, size));
        EXPECT_EQ(fromStore(name), bytesOf(size, size));
    }
    const auto c = counts();
    EXPECT_EQ(c.opened, 8U);
    EXPECT_EQ(c.stored, 4U);
    EXPECT_EQ(c.copied, 4U);
    EXPECT_EQ(c.bytes_stored, 5001 + whole);
    EXPECT_EQ(c.bytes_folder, 5001 + whole);
    EXPECT_EQ(c.changed + c.young + c.large + c.failed + c.lost, 0U);
}

TEST_F(Accelerating, largeFilesAreCopiedMeanwhile) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    put("large", bytesOf(1, whole + 1));
    put("larger", bytesOf(2, 5 * MB + 77));
    EXPECT_EQ(fromFolder("large"), bytesOf(1, whole + 1));
    EXPECT_EQ(fromFolder("larger"), bytesOf(2, 5 * MB + 77));
    ASSERT_NO_FATAL_FAILURE(wait(2));
    EXPECT_EQ(fromStore("large"), bytesOf(1, whole + 1));
    EXPECT_EQ(fromStore("larger"), bytesOf(2, 5 * MB + 77));
    EXPECT_EQ(counts().copied, 2U);
}

TEST_F(Accelerating, copiesSurviveTheStoresEnd) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    put("file", bytesOf(1, 7000));
    EXPECT_EQ(fromFolder("file"), bytesOf(1, 7000));
    close();
    reopen();
    ASSERT_NO_FATAL_FAILURE(again());
    EXPECT_EQ(fromStore("file"), bytesOf(1, 7000));
}

TEST_F(Accelerating, whatWasChangedIsCopiedAnew) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    for (const size_t size: {size_t(1000), whole + 1000}) {
        const auto name = "file" + std::to_string(size);
        const auto before = counts();
        put(name, bytesOf(1, size));
        EXPECT_EQ(fromFolder(name), bytesOf(1, size));
        ASSERT_NO_FATAL_FAILURE(wait(before.copied + 1));
        EXPECT_EQ(fromStore(name), bytesOf(1, size));
        // the same size, and even the same time of the last change
        struct stat was;
        ASSERT_EQ(stat(file(name).c_str(), &was), 0);
        put(name, bytesOf(2, size));
        const timespec times[] = {was.st_atim, was.st_mtim};
        ASSERT_EQ(utimensat(AT_FDCWD, file(name).c_str(), times, 0), 0);
        EXPECT_EQ(fromFolder(name), bytesOf(2, size));
        EXPECT_EQ(counts().changed, before.changed + 1);
        ASSERT_NO_FATAL_FAILURE(wait(before.copied + 2));
        EXPECT_EQ(fromStore(name), bytesOf(2, size));
    }
}

TEST_F(Accelerating, whatWasReplacedIsAnotherFile) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    put("file", "first one");
    EXPECT_EQ(fromFolder("file"), "first one");
    put("other", "other one");
    struct stat was;
    ASSERT_EQ(stat(file("file").c_str(), &was), 0);
    const timespec times[] = {was.st_atim, was.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, file("other").c_str(), times, 0), 0);
    std::filesystem::rename(file("other"), file("file"));
    EXPECT_EQ(fromFolder("file"), "other one");
    EXPECT_EQ(fromStore("file"), "other one");
}

/// with time to spare: the tests never wait for a trust to end, but for the last one
TEST_F(Accelerating, whatIsTrustedIsNotLookedAtAgain) {
    settings.trusted = 3600;
    ASSERT_NO_FATAL_FAILURE(accelerate());
    put("file", "first");
    put("other", "first");
    EXPECT_EQ(fromFolder("file"), "first");
    EXPECT_EQ(fromFolder("other"), "first");
    put("file", "a second one");
    std::filesystem::remove(file("other"));
    EXPECT_EQ(fromStore("file"), "first");
    EXPECT_EQ(fromStore("other"), "first");
    // what the store has lost is looked at
    store->remove("file");
    store->remove("other");
    EXPECT_EQ(fromFolder("file"), "a second one");
    EXPECT_EQ(fromStore("file"), "a second one");
    EXPECT_EQ(refused("other"), ENOENT);
    // another accelerator has its own trust
    put("file", "third");
    settings.trusted = 1;
    ASSERT_NO_FATAL_FAILURE(again());
    EXPECT_EQ(fromFolder("file"), "third");
    put("file", "fourth");
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    EXPECT_EQ(fromFolder("file"), "fourth");
}

TEST_F(Accelerating, fewPathsAreRememberedIfNoMoreMayBe) {
    settings.trusted = 3600;
    settings.paths = 20;
    ASSERT_NO_FATAL_FAILURE(accelerate());
    const auto looksAgain = [&](const std::string &name, const std::string &bytes) {
        put(name, bytes);
        bool stored = false;
        return contents(name, stored) == bytes && !stored;
    };
    put("often", "bytes");
    EXPECT_EQ(fromFolder("often"), "bytes");
    for (unsigned n = 0; n < 100; ++n) {
        put("file" + std::to_string(n), "bytes");
        EXPECT_EQ(fromFolder("file" + std::to_string(n)), "bytes");
        EXPECT_EQ(fromStore("often"), "bytes");
    }
    EXPECT_FALSE(looksAgain("often", "other"));
    EXPECT_FALSE(looksAgain("file99", "other"));
    EXPECT_TRUE(looksAgain("file5", "other")) << "forgotten long ago";
    settings.paths = 0;
    ASSERT_NO_FATAL_FAILURE(again());
    EXPECT_EQ(fromFolder("often"), "other");
    EXPECT_TRUE(looksAgain("often", "a third one"));
}

TEST_F(Accelerating, statusIsThatOfThePath) {
    for (const uint64_t trusted: {0, 3600}) {
        settings.trusted = trusted;
        if (trusted)
            ASSERT_NO_FATAL_FAILURE(again());
        else
            ASSERT_NO_FATAL_FAILURE(accelerate());
        std::filesystem::remove_all(file("folder"));
        std::filesystem::create_directory(file("folder"));
        put("folder/file", "bytes");
        std::filesystem::create_symlink("file", file("folder/link"));
        struct stat status;
        EXPECT_EQ(clusterfs_accelerator_status(accelerator, "folder/file", &status), 0);
        EXPECT_TRUE(S_ISREG(status.st_mode) && status.st_size == 5);
        EXPECT_EQ(clusterfs_accelerator_status(accelerator, "folder/link", &status), 0);
        EXPECT_TRUE(S_ISLNK(status.st_mode));
        bool stored = false;
        EXPECT_EQ(contents("folder/link", stored), "bytes") << "though its status is that of a link";
        EXPECT_EQ(clusterfs_accelerator_status(accelerator, "folder/link", &status), 0);
        EXPECT_TRUE(S_ISLNK(status.st_mode));
        EXPECT_EQ(clusterfs_accelerator_status(accelerator, ".", &status), 0);
        EXPECT_TRUE(S_ISDIR(status.st_mode));
        EXPECT_EQ(clusterfs_accelerator_status(accelerator, "none", &status), -CLUSTERFS_FILE);
        EXPECT_EQ(errno, ENOENT);
        EXPECT_EQ(clusterfs_accelerator_status(accelerator, "../files", &status), -CLUSTERFS_FILE);
        EXPECT_EQ(clusterfs_accelerator_status(accelerator, nullptr, &status), -CLUSTERFS_ARGUMENT);
        EXPECT_EQ(clusterfs_accelerator_status(accelerator, "file", nullptr), -CLUSTERFS_ARGUMENT);
        EXPECT_EQ(clusterfs_accelerator_status(nullptr, "file", &status), -CLUSTERFS_ARGUMENT);
    }
}

TEST_F(Accelerating, whatWasDeletedIsNotThere) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    put("file", "bytes");
    EXPECT_EQ(fromFolder("file"), "bytes");
    std::filesystem::remove(file("file"));
    EXPECT_EQ(refused("file"), ENOENT);
}

TEST_F(Accelerating, aFileThatIsOpenStaysAsItWas) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    put("small", bytesOf(1, 3000));
    put("large", bytesOf(2, 2 * MB));
    EXPECT_EQ(fromFolder("small"), bytesOf(1, 3000));
    EXPECT_EQ(fromFolder("large"), bytesOf(2, 2 * MB));
    ASSERT_NO_FATAL_FAILURE(wait(2));
    auto *const small = opened("small");
    auto *const large = opened("large");
    put("small", "other");
    std::filesystem::remove(file("large"));
    store->remove("small");
    store->remove("large");
    EXPECT_EQ(bytesIn(small), bytesOf(1, 3000));
    EXPECT_EQ(bytesIn(large), bytesOf(2, 2 * MB));
    EXPECT_EQ(clusterfs_file_status(large)->st_size, static_cast<off_t>(2 * MB));
    clusterfs_file_close(small);
    clusterfs_file_close(large);
}

TEST_F(Accelerating, filesThatWereChangedJustNowAreNotCopied) {
    settings.settled = 3600;
    ASSERT_NO_FATAL_FAILURE(accelerate());
    put("file", "bytes");
    EXPECT_EQ(fromFolder("file"), "bytes");
    EXPECT_EQ(fromFolder("file"), "bytes");
    EXPECT_EQ(counts().young, 2U);
    EXPECT_FALSE(store->exists("file"));
    // a time in the future is no reason to trust it
    const timespec times[] = {{4000000000, 0}, {4000000000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, file("file").c_str(), times, 0), 0);
    settings.settled = 1;
    ASSERT_NO_FATAL_FAILURE(again());
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    EXPECT_EQ(fromFolder("file"), "bytes");
    EXPECT_EQ(counts().young, 1U);
    const timespec past[] = {{1000000000, 0}, {1000000000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, file("file").c_str(), past, 0), 0);
    EXPECT_EQ(fromFolder("file"), "bytes");
    EXPECT_EQ(counts().young, 2U) << "the change of the times is one";
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    EXPECT_EQ(fromFolder("file"), "bytes");
    EXPECT_EQ(fromStore("file"), "bytes");
}

TEST_F(Accelerating, filesThatAreTooLargeAreNotCopied) {
    settings.largest = 1000;
    ASSERT_NO_FATAL_FAILURE(accelerate());
    put("fits", bytesOf(1, 1000));
    put("large", bytesOf(2, 1001));
    EXPECT_EQ(fromFolder("fits"), bytesOf(1, 1000));
    EXPECT_EQ(fromStore("fits"), bytesOf(1, 1000));
    EXPECT_EQ(fromFolder("large"), bytesOf(2, 1001));
    EXPECT_EQ(fromFolder("large"), bytesOf(2, 1001));
    EXPECT_EQ(counts().large, 2U);
}

TEST_F(Accelerating, aFileThatGrowsWhileItIsCopiedIsNotStored) {
    ASSERT_NO_FATAL_FAILURE(start(1, 64 * MB));
    ASSERT_NO_FATAL_FAILURE(again());
    std::atomic<bool> stop{false};
    put("file", bytesOf(1, 24 * MB)); // copied in more than a tick of the clock that files have
    std::thread changes([&] {
        std::ofstream f(file("file"), std::ios::binary | std::ios::in | std::ios::out);
        for (unsigned n = 0; !stop; ++n) {
            f.seekp(n % 1000);
            f << static_cast<char>(n);
            f.flush();
        }
    });
    auto *const f = opened("file");
    clusterfs_file_close(f);
    wait(1);
    stop = true;
    changes.join();
    EXPECT_EQ(counts().copied, 0U);
    EXPECT_EQ(counts().failed, 1U);
    EXPECT_FALSE(store->exists("file"));
}

TEST_F(Accelerating, onlyWhatIsInTheFolderIsOpened) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    std::ofstream(path("secret")) << "secret";
    std::filesystem::create_directory(file("folder"));
    put("folder/file", "bytes");
    std::filesystem::create_symlink("../secret", file("out"));
    std::filesystem::create_symlink(path("secret"), file("away"));
    std::filesystem::create_symlink("folder/file", file("in"));
    ASSERT_EQ(mkfifo(file("fifo").c_str(), 0600), 0);
    EXPECT_EQ(fromFolder("folder/../folder/file"), "bytes");
    EXPECT_EQ(fromFolder("in"), "bytes");
    EXPECT_EQ(fromStore("in"), "bytes");
    EXPECT_EQ(refused("../secret"), EXDEV);
    EXPECT_EQ(refused("folder/../../secret"), EXDEV);
    EXPECT_EQ(refused(path("secret")), EXDEV);
    EXPECT_EQ(refused("out"), EXDEV);
    EXPECT_EQ(refused("away"), EXDEV);
    EXPECT_EQ(refused("folder"), EISDIR);
    EXPECT_EQ(refused("fifo"), EINVAL);
    EXPECT_EQ(refused("none"), ENOENT);
    EXPECT_EQ(refused(""), ENOENT);
    EXPECT_EQ(refused("folder/file/more"), ENOTDIR);
    settings.flags = CLUSTERFS_ACCELERATOR_NO_LINKS;
    ASSERT_NO_FATAL_FAILURE(again());
    EXPECT_EQ(refused("in"), ELOOP);
    EXPECT_EQ(fromFolder("folder/file"), "bytes");
}

TEST_F(Accelerating, whatTheStoreLosesComesFromTheFolder) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    clusterfs_file *f = nullptr;
    ASSERT_NO_FATAL_FAILURE(openDamaged(f));
    EXPECT_EQ(bytesIn(f), bytesOf(1, 3 * MB));
    EXPECT_EQ(counts().lost, 1U);
    clusterfs_file_close(f);
}

TEST_F(Accelerating, whatBothHaveLostIsAnError) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    clusterfs_file *f = nullptr;
    ASSERT_NO_FATAL_FAILURE(openDamaged(f));
    put("file", "another");
    std::string bytes(3 * MB, '\0');
    EXPECT_EQ(clusterfs_file_read(f, 0, bytes.data(), bytes.size()), -CLUSTERFS_FILE);
    EXPECT_EQ(errno, ESTALE);
    std::filesystem::remove(file("file"));
    EXPECT_EQ(clusterfs_file_read(f, 0, bytes.data(), bytes.size()), -CLUSTERFS_FILE);
    EXPECT_EQ(errno, ENOENT);
    clusterfs_file_close(f);
}

TEST_F(Accelerating, threadsGetWhatTheFilesHad) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    for (uint64_t n = 0; n < 20; ++n)
        put("file" + std::to_string(n), bytesOf(n, n % 3 ? 1000 * n : whole + n));
    std::atomic<unsigned> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([this, t, &wrong] {
            for (uint64_t i = 0; i < 100; ++i) {
                const auto n = (i * 7 + t) % 20;
                clusterfs_file *f = nullptr;
                if (clusterfs_file_open(accelerator, ("file" + std::to_string(n)).c_str(), t + 1, &f) != 0 ||
                        bytesIn(f) != bytesOf(n, n % 3 ? 1000 * n : whole + n))
                    ++wrong;
                clusterfs_file_close(f);
            }
        });
    }
    for (auto &thread: threads)
        thread.join();
    EXPECT_EQ(wrong, 0U);
    EXPECT_GT(counts().stored, 0U);
}

/// two folders, whose files are opened in turns
TEST_F(Accelerating, filesOfAFolderArePackedTogether) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    for (const auto *const folder: {"one", "two"})
        std::filesystem::create_directory(file(folder));
    for (unsigned n = 0; n < 5; ++n) {
        for (const auto *const folder: {"one/file", "two/file"}) {
            const auto name = folder + std::to_string(n);
            put(name, bytesOf(n, 3000));
            clusterfs_file_close(opened(name, n % 2));
        }
    }
    store->sync();
    EXPECT_EQ(store->statistic("groups known"), 2);
    EXPECT_EQ(store->statistic("members by referer"), 10);
    EXPECT_EQ(store->statistic("objects packed in groups"), 8) << "each one behind another one of its folder";
}

TEST_F(Accelerating, itCanBeFreedWhileItCopies) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    for (unsigned n = 0; n < 4; ++n) {
        put("file" + std::to_string(n), bytesOf(n, 4 * MB));
        clusterfs_file_close(opened("file" + std::to_string(n)));
    }
    ASSERT_NO_FATAL_FAILURE(again());
    for (unsigned n = 0; n < 4; ++n) {
        bool stored = false;
        EXPECT_EQ(contents("file" + std::to_string(n), stored), bytesOf(n, 4 * MB));
    }
}

TEST_F(Accelerating, wrongArgumentsAreRefused) {
    ASSERT_NO_FATAL_FAILURE(start());
    clusterfs_accelerator *a = nullptr;
    auto *const s = store->get();
    EXPECT_EQ(clusterfs_accelerator_new(nullptr, path("files").c_str(), nullptr, &a), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_accelerator_new(s, nullptr, nullptr, &a), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_accelerator_new(s, path("files").c_str(), nullptr, nullptr), -CLUSTERFS_ARGUMENT);
    settings.flags = 2;
    EXPECT_EQ(clusterfs_accelerator_new(s, path("files").c_str(), &settings, &a), -CLUSTERFS_ARGUMENT);
    settings = CLUSTERFS_ACCELERATOR;
    settings.struct_size = 8;
    EXPECT_EQ(clusterfs_accelerator_new(s, path("files").c_str(), &settings, &a), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_accelerator_new(s, path("none").c_str(), nullptr, &a), -CLUSTERFS_FILE);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(clusterfs_accelerator_new(s, paths[0].c_str(), nullptr, &a), -CLUSTERFS_FILE);
    EXPECT_EQ(errno, ENOTDIR);
    EXPECT_EQ(a, nullptr);
    ASSERT_EQ(clusterfs_accelerator_new(s, path("files").c_str(), nullptr, &a), 0);
    clusterfs_file *f = nullptr;
    put("file", "bytes");
    EXPECT_EQ(clusterfs_file_open(nullptr, "file", 0, &f), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_file_open(a, nullptr, 0, &f), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_file_open(a, "file", 0, nullptr), -CLUSTERFS_ARGUMENT);
    ASSERT_EQ(clusterfs_file_open(a, "file", 0, &f), 0);
    EXPECT_EQ(clusterfs_file_read(f, 0, nullptr, 1), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_file_read(f, 0, nullptr, 0), 0);
    EXPECT_EQ(clusterfs_file_read(nullptr, 0, nullptr, 0), -CLUSTERFS_ARGUMENT);
    char byte = 0;
    EXPECT_EQ(clusterfs_file_read(f, UINT64_MAX, &byte, 1), 0);
    EXPECT_EQ(clusterfs_file_status(nullptr), nullptr);
    clusterfs_accelerator_counts c;
    EXPECT_EQ(clusterfs_accelerator_count(a, &c, sizeof(c) - 1), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_accelerator_count(a, nullptr, sizeof(c)), -CLUSTERFS_ARGUMENT);
    clusterfs_file_close(f);
    clusterfs_file_close(nullptr);
    clusterfs_accelerator_free(a);
    clusterfs_accelerator_free(nullptr);
}

TEST_F(Accelerating, aChildHasNone) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    put("file", "bytes");
    auto *const f = opened("file");
    const auto child = fork();
    if (child == 0) {
        clusterfs_file *other = nullptr;
        char byte = 0;
        const bool good = clusterfs_file_open(accelerator, "file", 0, &other) == -CLUSTERFS_FORKED &&
                          clusterfs_file_read(f, 0, &byte, 1) == -CLUSTERFS_FORKED;
        clusterfs_file_close(f);
        clusterfs_accelerator_free(accelerator);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(bytesIn(f), "bytes");
    clusterfs_file_close(f);
}

} // namespace
} // namespace ClusterFs::Library::Testing

// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes that are killed: what the next one finds is right, or not there. */

#include "test-suite/library/LibrarySupport.h"

#include <sys/wait.h>

#include <csignal>

namespace ClusterFs::Library::Testing {
namespace {

class Crash : public LibraryTest
{
protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(LibraryTest::SetUp());
        for (unsigned n = 0; n < 2; ++n) {
            paths.push_back(path("device" + std::to_string(n)));
            ASSERT_FALSE(clusterfs::Store::format(paths.back(), 16 * MB, smallOptions()));
        }
    }

    static std::string nameOf(const unsigned object) { return "object " + std::to_string(object); }
    static std::string bytesFor(const unsigned object, const unsigned version) {
        return std::to_string(version) + ":" + bytesOf(object + version * 1000, object % 37 == 0 ? 200000 : object * 53);
    }

    /// whether a version changes an object; the first one changes all of them
    static bool changes(const unsigned version, const unsigned object, const unsigned first) {
        return version == first || object % 3 == version % 3;
    }
    static bool removes(const unsigned version, const unsigned object, const unsigned first) {
        return version != first && object % 9 == version % 9;
    }

    /// A child makes version after version, and says through a pipe which one is synced; it is killed after so many.
    /// \returns the last version that was synced
    unsigned killWriter(const unsigned first, const unsigned versions) {
        int ends[2];
        if (pipe(ends) != 0)
            return 0;
        const auto child = fork();
        if (child == 0) {
            clusterfs::Store own(paths, smallOptions());
            for (unsigned version = first;; ++version) {
                for (unsigned object = 0; object < objects; ++object) {
                    if (removes(version, object, first))
                        own.remove(nameOf(object));
                    else if (changes(version, object, first))
                        own.write(nameOf(object), bytesFor(object, version));
                }
                own.sync();
                if (write(ends[1], &version, sizeof(version)) != sizeof(version))
                    _exit(1);
            }
        }
        close(ends[1]);
        unsigned synced = 0;
        for (unsigned n = 0; n < versions; ++n) {
            if (read(ends[0], &synced, sizeof(synced)) != sizeof(synced))
                ADD_FAILURE() << "the child has ended";
        }
        kill(child, SIGKILL); // somewhere in the next version
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status));
        // what was said before the end counts, too
        while (read(ends[0], &synced, sizeof(synced)) == sizeof(synced)) {}
        close(ends[0]);
        return synced;
    }

    static constexpr unsigned objects = 60;
};

TEST_F(Crash, keepsWhatWasSyncedAndServesNothingElse) {
    unsigned first = 1;
    for (unsigned round = 0; round < 4; ++round) {
        const auto synced = killWriter(first, 2 + round);
        ASSERT_GE(synced, first);
        open();
        unsigned kept = 0;
        for (unsigned object = 0; object < objects; ++object) {
            auto last = synced;
            while (!changes(last, object, first))
                --last;
            const auto bytes = get(nameOf(object));
            const bool wanted = !removes(last, object, first);
            kept += bytes.has_value();
            // the kill came somewhere in the version after it, whose changes are there or not. Of a change that is not, the
            // object before it may be gone all the same: it was replaced.
            const bool open = changes(synced + 1, object, first);
            if (open && (!bytes || *bytes == bytesFor(object, synced + 1)))
                continue;
            ASSERT_EQ(bytes.has_value(), wanted) << object << " after version " << synced;
            if (bytes) {
                EXPECT_EQ(*bytes, bytesFor(object, last)) << object << " after version " << synced;
            }
        }
        EXPECT_GE(kept, objects / 2);
        first = synced + 2;
        store->close();
        store.reset();
    }
}

/// what is found is whole, although nobody asked for a sync
TEST_F(Crash, withoutASyncObjectsAreWholeOrAbsent) {
    const auto child = fork();
    if (child == 0) {
        clusterfs::Store own(paths, smallOptions());
        for (unsigned version = 1; version < 20; ++version) {
            for (unsigned object = 0; object < objects; ++object)
                own.write(nameOf(object) + " of " + std::to_string(version), bytesOf(object + version * 1000, 10000));
        }
        kill(getpid(), SIGKILL);
    }
    ASSERT_GT(child, 0);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    open();
    unsigned found = 0;
    for (unsigned version = 1; version < 20; ++version) {
        for (unsigned object = 0; object < objects; ++object) {
            const auto bytes = get(nameOf(object) + " of " + std::to_string(version));
            found += bytes.has_value();
            EXPECT_TRUE(!bytes || *bytes == bytesOf(object + version * 1000, 10000)) << object << " of " << version;
        }
    }
    EXPECT_GT(found, objects) << "half of staging is packed, and there are more";
}

} // namespace
} // namespace ClusterFs::Library::Testing

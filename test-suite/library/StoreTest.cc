// SPDX-License-Identifier: GPL-2.0-or-later
/* A store as a whole: formatting, opening, several devices, the end, fork(), wrong arguments, names that collide. */

#include "test-suite/library/LibrarySupport.h"

#include "lib/Options.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstring>

namespace ClusterFs::Library::Testing {
namespace {

class Opening : public LibraryTest {};

void
fill(const std::string &path, const std::string &text, const uint64_t bytes)
{
    std::ofstream(path) << text;
    std::filesystem::resize_file(path, bytes);
}

TEST_F(Opening, foreignDataAreRefusedAndStay) {
    fill(path("foreign"), "somebody's data", 16 * MB);
    EXPECT_EQ(codeOf([&] { clusterfs::Store::format(path("foreign")); }), CLUSTERFS_FOREIGN);
    EXPECT_EQ(codeOf([&] { clusterfs::Store({path("foreign")}); }), CLUSTERFS_FOREIGN);
    std::string text(15, ' ');
    std::ifstream(path("foreign")).read(text.data(), 15);
    EXPECT_EQ(text, "somebody's data");
    EXPECT_FALSE(clusterfs::Store::format(path("foreign"), 0, {}, CLUSTERFS_FORMAT_FORCE));
    EXPECT_EQ(clusterfs::Store({path("foreign")}).statistic("objects"), 0);
}

TEST_F(Opening, aStoreStaysUnlessForced) {
    ASSERT_NO_FATAL_FAILURE(start());
    store->write("name", "bytes");
    EXPECT_EQ(codeOf([&] { clusterfs::Store::format(paths[0], 0, {}, CLUSTERFS_FORMAT_FORCE); }), CLUSTERFS_DEVICE) << "in use";
    store->close();
    EXPECT_TRUE(clusterfs::Store::format(paths[0]));
    open();
    EXPECT_EQ(get("name"), "bytes");
    store->close();
    EXPECT_FALSE(clusterfs::Store::format(paths[0], 0, smallOptions(), CLUSTERFS_FORMAT_FORCE));
    open();
    EXPECT_FALSE(store->exists("name"));
}

TEST_F(Opening, aSizeNeedNotBeWholeBlocks) {
    EXPECT_FALSE(clusterfs::Store::format(path("odd"), 8 * MB + 4095, smallOptions()));
    EXPECT_EQ(std::filesystem::file_size(path("odd")), 8 * MB);
    EXPECT_EQ(clusterfs::Store({path("odd")}).statistic("objects"), 0);
}

TEST_F(Opening, theReasonNamesTheFile) {
    char reason[200] = "";
    EXPECT_EQ(clusterfs_format(path("none").c_str(), nullptr, 0, 0, reason, sizeof(reason)), -CLUSTERFS_DEVICE);
    EXPECT_NE(std::string(reason).find(path("none") + ": does not exist; give a size"), std::string::npos) << reason;
    const std::string none = path("none");
    const char *const one[] = {none.c_str()};
    clusterfs_store *opened = nullptr;
    EXPECT_EQ(clusterfs_open(one, 1, nullptr, &opened, reason, sizeof(reason)), -CLUSTERFS_DEVICE);
    EXPECT_NE(std::string(reason).find(path("none")), std::string::npos) << reason;
    EXPECT_EQ(opened, nullptr);
    char little[8] = "";
    EXPECT_EQ(clusterfs_format(path("none").c_str(), nullptr, 1000, 0, little, sizeof(little)), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(std::string(little), path("none").substr(0, 7));
    EXPECT_FALSE(std::filesystem::exists(none));
}

TEST_F(Opening, oneStoreAtATimeHasADevice) {
    ASSERT_NO_FATAL_FAILURE(start());
    EXPECT_EQ(codeOf([&] { clusterfs::Store{paths}; }), CLUSTERFS_DEVICE);
    const std::vector<std::string> twice = {path("other"), path("other")};
    clusterfs::Store::format(twice[0], 8 * MB, smallOptions());
    EXPECT_EQ(codeOf([&] { clusterfs::Store{twice}; }), CLUSTERFS_DEVICE);
}

TEST_F(Opening, severalDevicesShareTheObjects) {
    ASSERT_NO_FATAL_FAILURE(start(2));
    ASSERT_EQ(store->devices(), 2U);
    for (unsigned n = 0; n < 400; ++n)
        store->write("object " + std::to_string(n), bytesOf(n, 3000));
    EXPECT_GT(store->statistic("objects", 0), 120);
    EXPECT_GT(store->statistic("objects", 1), 120);
    EXPECT_EQ(store->statistic("objects", 0) + store->statistic("objects", 1), 400);
    store->close();
    std::reverse(paths.begin(), paths.end());
    open();
    for (unsigned n = 0; n < 400; ++n)
        ASSERT_EQ(get("object " + std::to_string(n)), bytesOf(n, 3000)) << n << ": the order of devices has no effect";
    EXPECT_TRUE(store->remove("object 7"));
    EXPECT_FALSE(store->exists("object 7"));
    store->sync();
}

TEST_F(Opening, aCleanStopKeepsAll) {
    ASSERT_NO_FATAL_FAILURE(start());
    for (unsigned n = 0; n < 300; ++n)
        store->write("object " + std::to_string(n), bytesOf(n, 100 * n));
    ASSERT_NO_FATAL_FAILURE(reopen());
    EXPECT_EQ(store->statistic("objects"), 300);
    EXPECT_EQ(store->messages(), "");
    for (unsigned n = 0; n < 300; ++n)
        ASSERT_EQ(get("object " + std::to_string(n)), bytesOf(n, 100 * n)) << n;
}

/// what nobody has read yet is told once more, by messages()
TEST_F(Opening, messagesSayWhatTheEngineSaid) {
    ASSERT_NO_FATAL_FAILURE(start());
    store->close();
    auto other = smallOptions();
    other.set("cluster-size", "128");
    open(other);
    EXPECT_NE(store->messages().find("formatted with cluster-size=64"), std::string::npos) << store->messages();
}

TEST_F(Opening, handlesOutliveTheirStore) {
    ASSERT_NO_FATAL_FAILURE(start());
    store->write("small", "bytes");
    store->write("large", bytesOf(1, 1000000));
    auto small = store->read("small");
    auto large = store->read("large");
    auto writer = std::make_unique<clusterfs::Writer>(store->create("new"));
    auto walk = std::make_unique<clusterfs::Walk>(store->walk());
    store->close();
    EXPECT_EQ(small->str(), "bytes") << "it is in memory";
    EXPECT_EQ(large->size(), 1000000U);
    EXPECT_EQ(codeOf([&] { large->str(); }), CLUSTERFS_CLOSED);
    EXPECT_EQ(codeOf([&] { large->view(); }), CLUSTERFS_CLOSED);
    EXPECT_EQ(codeOf([&] { writer->append("bytes"); }), CLUSTERFS_CLOSED);
    EXPECT_EQ(codeOf([&] { writer->commit(); }), CLUSTERFS_CLOSED);
    EXPECT_EQ(codeOf([&] { walk->next(); }), CLUSTERFS_CLOSED);
    small.reset();
    large.reset();
    walk.reset();
    open();
    EXPECT_FALSE(store->exists("new"));
    EXPECT_EQ(get("large"), bytesOf(1, 1000000));
}

TEST_F(Opening, aChildOfForkIsTold) {
    ASSERT_NO_FATAL_FAILURE(start());
    store->write("name", bytesOf(1, 1000));
    store->write("large", bytesOf(1, 1000000));
    auto *const s = store->get();
    clusterfs_object *object = nullptr;
    clusterfs_writer *writer = nullptr;
    clusterfs_queue *queue = nullptr;
    ASSERT_EQ(clusterfs_read(s, "large", 5, &object), 0);
    ASSERT_EQ(clusterfs_create(s, "new", 3, nullptr, &writer), 0);
    ASSERT_EQ(clusterfs_queue_new(s, 1, &queue), 0);
    const auto child = fork();
    if (child == 0) {
        char byte = 0;
        clusterfs_request request = {};
        request.struct_size = sizeof(request);
        request.operation = CLUSTERFS_OP_SYNC;
        clusterfs_answer answer = {};
        const bool told = clusterfs_write(s, "name", 4, "other", 5, nullptr) == -CLUSTERFS_FORKED &&
                          clusterfs_read_into(s, "name", 4, &byte, 1) == -CLUSTERFS_FORKED &&
                          clusterfs_remove(s, "name", 4) == -CLUSTERFS_FORKED && clusterfs_sync(s) == -CLUSTERFS_FORKED &&
                          clusterfs_read_bytes(object, 0, &byte, 1) == -CLUSTERFS_FORKED &&
                          clusterfs_append(writer, "a", 1) == -CLUSTERFS_FORKED && clusterfs_commit(writer) == -CLUSTERFS_FORKED &&
                          clusterfs_submit(queue, &request) == -CLUSTERFS_FORKED &&
                          clusterfs_wait(queue, &answer, 1, -1) == -CLUSTERFS_FORKED &&
                          clusterfs_report(s, 0, &byte, 1) == -CLUSTERFS_FORKED && clusterfs_close(s) == -CLUSTERFS_FORKED;
        clusterfs_release(object);
        clusterfs_abort(writer);
        clusterfs_queue_free(queue);
        _exit(told ? 0 : 1);
    }
    ASSERT_GT(child, 0);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(clusterfs_append(writer, "a", 1), 0);
    EXPECT_EQ(clusterfs_commit(writer), 0);
    clusterfs_release(object);
    clusterfs_queue_free(queue);
    EXPECT_EQ(get("name"), bytesOf(1, 1000)) << "the parent goes on";
    EXPECT_EQ(get("new"), "a");
}

TEST_F(Opening, optionsAreThoseOfCacheDir) {
    clusterfs_options *options = nullptr;
    ASSERT_EQ(clusterfs_options_new(&options), 0);
    char reason[200] = "";
    EXPECT_EQ(clusterfs_options_set(options, "staging", "1", reason, sizeof(reason)), -CLUSTERFS_ARGUMENT);
    EXPECT_NE(std::string(reason).find("staging"), std::string::npos) << reason;
    EXPECT_EQ(clusterfs_options_set(options, "stagin", "64", reason, sizeof(reason)), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_options_set(options, "staging", "64", reason, sizeof(reason)), 0);
    EXPECT_EQ(clusterfs_options_set(options, "cluster-size", "100", nullptr, 0), 0);
    // what concerns several options, or the whole, is said where they are used
    EXPECT_EQ(clusterfs_format(path("new").c_str(), options, 8 * MB, 0, reason, sizeof(reason)), -CLUSTERFS_ARGUMENT);
    EXPECT_NE(std::string(reason).find("power of two"), std::string::npos) << reason;
    clusterfs_options_free(options);
    clusterfs_options_free(nullptr);
}

TEST_F(Opening, admissionIsTold) {
    auto options = smallOptions();
    options.set("admit", "2");
    ASSERT_NO_FATAL_FAILURE(start(1, 32 * MB, options));
    EXPECT_EQ(codeOf([&] { store->write("name", "bytes"); }), CLUSTERFS_NOT_ADMITTED);
    EXPECT_FALSE(store->exists("name"));
    store->write("name", "bytes");
    EXPECT_EQ(get("name"), "bytes");
}

class Arguments : public LibraryTest {};

TEST_F(Arguments, thatAreWrongAreRefused) {
    ASSERT_NO_FATAL_FAILURE(start());
    auto *const s = store->get();
    const auto wrong = -CLUSTERFS_ARGUMENT;
    clusterfs_object *object = nullptr;
    clusterfs_writer *writer = nullptr;
    clusterfs_queue *queue = nullptr;
    clusterfs_walk *walk = nullptr;
    clusterfs_answer answer = {};
    clusterfs_name name = {};
    const void *data = nullptr;
    size_t size = 0;
    double value = 0;
    char byte = 0;
    const char *const nothing[] = {nullptr};
    EXPECT_EQ(clusterfs_options_new(nullptr), wrong);
    EXPECT_EQ(clusterfs_options_set(nullptr, "a", "b", nullptr, 0), wrong);
    EXPECT_EQ(clusterfs_format(nullptr, nullptr, 0, 0, nullptr, 0), wrong);
    EXPECT_EQ(clusterfs_format("/nowhere", nullptr, 0, 2, nullptr, 0), wrong);
    clusterfs_store *other = nullptr;
    EXPECT_EQ(clusterfs_open(nullptr, 1, nullptr, &other, nullptr, 0), wrong);
    EXPECT_EQ(clusterfs_open(nothing, 1, nullptr, &other, nullptr, 0), wrong);
    EXPECT_EQ(clusterfs_open(nothing, 0, nullptr, &other, nullptr, 0), wrong);
    EXPECT_EQ(clusterfs_open(nothing, 65, nullptr, &other, nullptr, 0), wrong);
    EXPECT_EQ(clusterfs_close(nullptr), 0);
    EXPECT_EQ(clusterfs_devices(nullptr), 0U);
    EXPECT_EQ(clusterfs_write(nullptr, "a", 1, "b", 1, nullptr), wrong);
    EXPECT_EQ(clusterfs_write(s, nullptr, 1, "b", 1, nullptr), wrong);
    EXPECT_EQ(clusterfs_write(s, "a", 1, nullptr, 1, nullptr), wrong);
    EXPECT_EQ(clusterfs_write(s, "a", size_t(1) << 33, "b", 1, nullptr), -CLUSTERFS_TOO_LARGE);
    clusterfs_attributes attributes = CLUSTERFS_ATTRIBUTES;
    attributes.flags = 2;
    EXPECT_EQ(clusterfs_write(s, "a", 1, "b", 1, &attributes), wrong) << "a flag that this version does not know";
    attributes = CLUSTERFS_ATTRIBUTES;
    attributes.struct_size = 8;
    EXPECT_EQ(clusterfs_write(s, "a", 1, "b", 1, &attributes), wrong);
    attributes = CLUSTERFS_ATTRIBUTES;
    attributes.expected_size = -2;
    EXPECT_EQ(clusterfs_create(s, "a", 1, &attributes, &writer), wrong);
    EXPECT_EQ(clusterfs_create(s, "a", 1, nullptr, nullptr), wrong);
    EXPECT_EQ(clusterfs_append(nullptr, "a", 1), wrong);
    EXPECT_EQ(clusterfs_commit(nullptr), wrong);
    clusterfs_abort(nullptr);
    EXPECT_EQ(clusterfs_read(s, "a", 1, nullptr), wrong);
    EXPECT_EQ(clusterfs_read(nullptr, "a", 1, &object), wrong);
    EXPECT_EQ(clusterfs_size(nullptr), 0U);
    EXPECT_EQ(clusterfs_read_bytes(nullptr, 0, &byte, 1), wrong);
    EXPECT_EQ(clusterfs_view(nullptr, 0, &data, &size), wrong);
    EXPECT_EQ(clusterfs_retain(nullptr), nullptr);
    clusterfs_release(nullptr);
    EXPECT_EQ(clusterfs_read_into(s, "a", 1, nullptr, 1), wrong);
    EXPECT_EQ(clusterfs_remove(nullptr, "a", 1), wrong);
    EXPECT_EQ(clusterfs_exists(nullptr, "a", 1), wrong);
    EXPECT_EQ(clusterfs_length(s, nullptr, 1), wrong);
    EXPECT_EQ(clusterfs_sync(nullptr), wrong);
    EXPECT_EQ(clusterfs_walk_new(s, nullptr), wrong);
    ASSERT_EQ(clusterfs_walk_new(s, &walk), 0);
    EXPECT_EQ(clusterfs_walk_next(walk, nullptr, nullptr), wrong);
    EXPECT_EQ(clusterfs_walk_next(nullptr, &name, nullptr), wrong);
    clusterfs_walk_free(walk);
    clusterfs_walk_free(nullptr);
    EXPECT_EQ(clusterfs_collocate(s, "a", 1, nullptr, 1), wrong);
    name.size = 1;
    EXPECT_EQ(clusterfs_collocate(s, "a", 1, &name, 1), wrong);
    EXPECT_EQ(clusterfs_collocate(s, "a", 1, nullptr, 0), 0);
    EXPECT_EQ(clusterfs_assign(s, 0, "a", 1), wrong);
    EXPECT_EQ(clusterfs_love(s, 0), wrong);
    EXPECT_EQ(clusterfs_hate(nullptr, 1), wrong);
    EXPECT_EQ(clusterfs_queue_new(s, 0, &queue), wrong);
    EXPECT_EQ(clusterfs_queue_new(s, 65537, &queue), wrong);
    ASSERT_EQ(clusterfs_queue_new(s, 65536, &queue), 0);
    EXPECT_EQ(clusterfs_submit(queue, nullptr), wrong);
    clusterfs_request request = {};
    EXPECT_EQ(clusterfs_submit(queue, &request), wrong) << "no size";
    request.struct_size = sizeof(request);
    EXPECT_EQ(clusterfs_submit(queue, &request), wrong) << "no operation";
    EXPECT_EQ(clusterfs_wait(queue, &answer, 0, 0), wrong);
    EXPECT_EQ(clusterfs_wait(queue, &answer, 1, -2), wrong);
    EXPECT_EQ(clusterfs_wait(queue, &answer, 1, -1), 0) << "nothing is under way";
    clusterfs_queue_free(queue);
    clusterfs_queue_free(nullptr);
    EXPECT_EQ(clusterfs_queue_fd(nullptr), wrong);
    EXPECT_EQ(clusterfs_report(s, 1, &byte, 1), wrong);
    EXPECT_EQ(clusterfs_report(s, 0, nullptr, 1), wrong);
    EXPECT_EQ(clusterfs_messages(nullptr, 0, &byte, 1), wrong);
    EXPECT_EQ(clusterfs_statistic(s, 0, nullptr, &value), wrong);
    EXPECT_EQ(clusterfs_statistic(s, 1, "objects", &value), wrong);
    EXPECT_EQ(store->statistic("objects"), 0) << "nothing was stored";
}

/// programs that were compiled with a later header
TEST_F(Arguments, ofLaterVersionsAreTakenWhereTheyMeanNothing) {
    ASSERT_NO_FATAL_FAILURE(start());
    struct {
        clusterfs_attributes known = CLUSTERFS_ATTRIBUTES;
        uint64_t later = 0;
    } attributes;
    attributes.known.struct_size = sizeof(attributes);
    EXPECT_EQ(clusterfs_write(store->get(), "a", 1, "b", 1, &attributes.known), 0);
    attributes.later = 1;
    EXPECT_EQ(clusterfs_write(store->get(), "a", 1, "c", 1, &attributes.known), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(get("a"), "b");
    struct {
        clusterfs_request known = {};
        uint64_t later = 0;
    } request;
    request.known.struct_size = sizeof(request);
    request.known.operation = CLUSTERFS_OP_SYNC;
    clusterfs_queue *queue = nullptr;
    ASSERT_EQ(clusterfs_queue_new(store->get(), 2, &queue), 0);
    EXPECT_EQ(clusterfs_submit(queue, &request.known), 0);
    request.later = 1;
    EXPECT_EQ(clusterfs_submit(queue, &request.known), -CLUSTERFS_ARGUMENT);
    clusterfs_queue_free(queue);
}

TEST_F(Arguments, eachErrorHasATextOfItsOwn) {
    std::vector<std::string> texts;
    for (int code = 0; code <= CLUSTERFS_NO_LOCALITY; ++code) {
        EXPECT_STREQ(clusterfs_strerror(code), clusterfs_strerror(-code));
        EXPECT_EQ(std::count(texts.begin(), texts.end(), clusterfs_strerror(code)), 0) << code;
        texts.emplace_back(clusterfs_strerror(code));
    }
    EXPECT_STREQ(clusterfs_strerror(CLUSTERFS_NO_LOCALITY + 1), "an unknown error");
    EXPECT_STREQ(clusterfs_strerror(-2147483647 - 1), "an unknown error");
}

/// names whose keys are equal when they begin with the same byte
class Collisions : public LibraryTest
{
protected:
    static Key keyOfFirstByte(const void *const name, const size_t size) {
        Key key;
        key.bytes.fill(size ? *static_cast<const unsigned char *>(name) : 0);
        return key;
    }

    clusterfs::Options colliding() {
        auto options = smallOptions();
        const_cast<clusterfs_options *>(options.get())->makeKey = &keyOfFirstByte;
        return options;
    }
};

TEST_F(Collisions, areMissesAndNeverAnothersBytes) {
    const auto options = colliding();
    ASSERT_NO_FATAL_FAILURE(start(1, 32 * MB, options));
    const size_t sizes[] = {0, 100, 100000, 1000000};
    for (const bool again: {false, true}) {
        char initial = 'a';
        for (const auto size: sizes) {
            const std::string mine = std::string(1, initial) + " mine";
            const std::string yours = std::string(1, initial++) + " your";
            const std::string longer = mine + ", and more";
            if (!again)
                store->write(mine, bytesOf(size, size));
            EXPECT_EQ(get(mine), bytesOf(size, size));
            for (const auto &other: {yours, longer}) {
                EXPECT_FALSE(store->read(other)) << other << " of " << size;
                char byte = 'x';
                EXPECT_EQ(clusterfs_read_into(store->get(), other.data(), other.size(), &byte, 1), -CLUSTERFS_NOT_FOUND);
                EXPECT_EQ(byte, 'x');
            }
        }
        store->close();
        open(options);
    }
    store->write("a your", "yours");
    EXPECT_EQ(get("a your"), "yours");
    EXPECT_FALSE(store->read("a mine")) << "the newer name has the key";
}

} // namespace
} // namespace ClusterFs::Library::Testing

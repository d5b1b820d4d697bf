// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects go in, and come back as they were: sizes, names, streams, views, removes, walks. */

#include "test-suite/library/LibrarySupport.h"

#include <chrono>
#include <map>
#include <set>
#include <thread>

namespace ClusterFs::Library::Testing {
namespace {

class Objects : public LibraryTest {};

TEST_F(Objects, ofAllSizesComeBackAsTheyWere) {
    ASSERT_NO_FATAL_FAILURE(start());
    const size_t sizes[] = {0, 1, 7, 4096, 65535, 65536, 65537, 200000, 262144, 262145, 1000000, 5000000};
    for (const bool again: {false, true}) {
        for (const auto size: sizes) {
            const auto name = "object of " + std::to_string(size);
            if (!again)
                store->write(name, bytesOf(size, size));
            EXPECT_EQ(get(name), bytesOf(size, size)) << size << (again ? " again" : "");
            EXPECT_EQ(store->length(name), size);
            EXPECT_TRUE(store->exists(name));
        }
        if (!again) {
            ASSERT_NO_FATAL_FAILURE(reopen());
        }
    }
}

TEST_F(Objects, whatIsNotThereIsNotFound) {
    ASSERT_NO_FATAL_FAILURE(start());
    EXPECT_FALSE(store->read("nothing"));
    EXPECT_FALSE(store->length("nothing"));
    EXPECT_FALSE(store->exists("nothing"));
    EXPECT_FALSE(store->remove("nothing"));
}

TEST_F(Objects, namesMayBeAnyBytesOfAnyLength) {
    ASSERT_NO_FATAL_FAILURE(start());
    const std::string names[] = {"", std::string(1, '\0'), std::string("a\0b", 3), "a", "ab", bytesOf(1, 300), bytesOf(2, 100000)};
    unsigned n = 0;
    for (const auto &name: names)
        store->write(name, bytesOf(++n, 1000));
    ASSERT_NO_FATAL_FAILURE(reopen());
    n = 0;
    for (const auto &name: names)
        EXPECT_EQ(get(name), bytesOf(++n, 1000)) << n;
}

TEST_F(Objects, theNewerOneCounts) {
    ASSERT_NO_FATAL_FAILURE(start());
    store->write("name", "first");
    const auto held = store->read("name");
    store->write("name", "second, and longer");
    EXPECT_EQ(get("name"), "second, and longer");
    ASSERT_TRUE(held);
    EXPECT_EQ(held->str(), "first");
    ASSERT_NO_FATAL_FAILURE(reopen());
    EXPECT_EQ(get("name"), "second, and longer");
}

TEST_F(Objects, removedOnesAreGoneAndHandlesGoOn) {
    ASSERT_NO_FATAL_FAILURE(start());
    store->write("small", bytesOf(1, 1000));
    store->write("large", bytesOf(2, 3000000));
    const auto small = store->read("small");
    const auto large = store->read("large");
    ASSERT_TRUE(small && large);
    EXPECT_TRUE(store->remove("small"));
    EXPECT_TRUE(store->remove("large"));
    EXPECT_FALSE(store->read("small"));
    EXPECT_FALSE(store->read("large"));
    EXPECT_EQ(small->str(), bytesOf(1, 1000));
    EXPECT_EQ(large->str(), bytesOf(2, 3000000));
    ASSERT_NO_FATAL_FAILURE(store->sync());
    EXPECT_FALSE(store->exists("small"));
}

TEST_F(Objects, aReleasedHandleGivesItsSpaceBack) {
    ASSERT_NO_FATAL_FAILURE(start());
    store->write("large", bytesOf(1, 5000000));
    ASSERT_NO_FATAL_FAILURE(store->sync());
    auto large = store->read("large");
    ASSERT_TRUE(large);
    EXPECT_TRUE(store->remove("large"));
    const auto before = store->statistic("clusters free");
    EXPECT_EQ(large->str(), bytesOf(1, 5000000));
    EXPECT_EQ(store->statistic("clusters free"), before) << "its bytes are still wanted";
    large.reset();
    EXPECT_GT(store->statistic("clusters free"), before + 5000000 / 65536 - 5);
}

TEST_F(Objects, streamsAppearWhenTheyAreComplete) {
    ASSERT_NO_FATAL_FAILURE(start());
    const auto bytes = bytesOf(5, 3000000);
    for (const int64_t expected: {int64_t(-1), static_cast<int64_t>(bytes.size())}) {
        const auto name = "stream " + std::to_string(expected);
        auto writer = store->create(name, expected);
        for (size_t at = 0; at < bytes.size(); at += 10007) {
            writer.append(std::string_view(bytes).substr(at, 10007));
            ASSERT_FALSE(store->exists(name));
        }
        writer.commit();
        EXPECT_EQ(get(name), bytes);
    }
    auto dropped = std::make_unique<clusterfs::Writer>(store->create("dropped"));
    dropped->append("bytes");
    dropped.reset();
    EXPECT_FALSE(store->read("dropped"));
}

TEST_F(Objects, viewsAreTheBytes) {
    ASSERT_NO_FATAL_FAILURE(start());
    store->write("small", bytesOf(1, 5000));
    store->write("large", bytesOf(2, 1000000));
    store->write("empty", "");
    const auto small = *store->read("small");
    EXPECT_EQ(small.view(), bytesOf(1, 5000)) << "one piece";
    EXPECT_EQ(small.view(4000), bytesOf(1, 5000).substr(4000));
    EXPECT_TRUE(small.view(5000).empty());
    const auto large = *store->read("large");
    std::string all;
    for (auto piece = large.view(); !piece.empty(); piece = large.view(all.size()))
        all += piece;
    EXPECT_EQ(all, bytesOf(2, 1000000));
    EXPECT_EQ(large.view(600000).data(), large.view(600000).data()) << "the same memory";
    EXPECT_EQ(large.view(600000).substr(0, 1000), bytesOf(2, 1000000).substr(600000, 1000));
    EXPECT_TRUE(store->read("empty")->view().empty());
}

TEST_F(Objects, aViewStaysWhileSomebodyHoldsTheObject) {
    ASSERT_NO_FATAL_FAILURE(start());
    store->write("name", bytesOf(1, 5000));
    auto first = store->read("name");
    const auto second = *first;
    const auto view = first->view();
    first.reset();
    EXPECT_EQ(view, bytesOf(1, 5000));
    EXPECT_EQ(second.view().data(), view.data());
}

TEST_F(Objects, bytesAreReadFromAnyOffset) {
    ASSERT_NO_FATAL_FAILURE(start());
    for (const size_t size: {5000, 1000000}) {
        store->write("name", bytesOf(3, size));
        const auto object = *store->read("name");
        std::string part(1000, '\0');
        for (const size_t offset: {size_t(0), size_t(1), size / 2, size - 1000}) {
            EXPECT_EQ(object.read(offset, part.data(), part.size()), part.size());
            EXPECT_EQ(part, bytesOf(3, size).substr(offset, 1000)) << offset;
        }
        EXPECT_EQ(object.read(size - 10, part.data(), part.size()), 10U);
        EXPECT_EQ(object.read(size, part.data(), part.size()), 0U);
        EXPECT_EQ(object.read(~uint64_t(0), part.data(), part.size()), 0U);
    }
}

TEST_F(Objects, readIntoTellsTheWholeSize) {
    ASSERT_NO_FATAL_FAILURE(start());
    for (const size_t size: {size_t(0), size_t(100), size_t(700000)}) {
        store->write("name", bytesOf(4, size));
        for (const size_t room: {size_t(0), size_t(50), size_t(800000)}) {
            std::string to(room, 'x');
            EXPECT_EQ(clusterfs_read_into(store->get(), "name", 4, to.data(), room), static_cast<int64_t>(size));
            const auto copied = std::min(size, room);
            EXPECT_EQ(to.substr(0, copied), bytesOf(4, size).substr(0, copied));
            EXPECT_EQ(to.substr(copied), std::string(room - copied, 'x'));
        }
    }
    EXPECT_EQ(clusterfs_read_into(store->get(), "other", 5, nullptr, 0), -CLUSTERFS_NOT_FOUND);
}

TEST_F(Objects, aWalkFindsAllOfThem) {
    for (const unsigned devices: {1U, 3U}) {
        paths.clear();
        for (unsigned n = 0; n < devices; ++n)
            std::filesystem::remove(path("device" + std::to_string(n)));
        ASSERT_NO_FATAL_FAILURE(start(devices));
        std::map<std::string, uint64_t> wanted;
        for (unsigned n = 0; n < 200; ++n) {
            const auto name = "object " + std::to_string(n);
            store->write(name, bytesOf(n, n * 97));
            wanted[name] = n * 97;
        }
        store->write("large", bytesOf(1, 700000));
        wanted["large"] = 700000;
        store->write(bytesOf(9, 70000), "of a long name");
        wanted[bytesOf(9, 70000)] = 14;
        for (const bool again: {false, true}) {
            std::map<std::string, uint64_t> found;
            auto walk = store->walk();
            while (const auto entry = walk.next())
                EXPECT_TRUE(found.emplace(entry->name, entry->size).second) << entry->name;
            EXPECT_EQ(found, wanted);
            if (!again) {
                ASSERT_NO_FATAL_FAILURE(reopen());
            }
        }
        store.reset();
    }
}

TEST_F(Objects, aStoreWithoutAListSaysSo) {
    auto options = smallOptions();
    options.set("list", "off");
    ASSERT_NO_FATAL_FAILURE(start(1, 32 * MB, options));
    EXPECT_EQ(codeOf([&] { store->walk(); }), CLUSTERFS_NOT_LISTED);
}

TEST_F(Objects, moreThanFitReplaceOldOnes) {
    ASSERT_NO_FATAL_FAILURE(start(1, 8 * MB));
    for (unsigned n = 0; n < 600; ++n)
        store->write("object " + std::to_string(n), bytesOf(n, 40000));
    EXPECT_TRUE(get("object 599") == bytesOf(599, 40000)) << "the newest";
    unsigned found = 0;
    for (unsigned n = 0; n < 600; ++n) {
        const auto bytes = get("object " + std::to_string(n));
        found += bytes.has_value();
        EXPECT_TRUE(!bytes || *bytes == bytesOf(n, 40000)) << n;
    }
    EXPECT_GT(found, 50U);
    EXPECT_LT(found, 250U);
}

TEST_F(Objects, largerOnesThanTheDeviceTakesAreRefused) {
    ASSERT_NO_FATAL_FAILURE(start(1, 8 * MB));
    EXPECT_EQ(codeOf([&] { store->write("name", std::string(9 * MB, 'a')); }), CLUSTERFS_TOO_LARGE);
    EXPECT_EQ(codeOf([&] { store->create("name", int64_t(1) << 62); }), CLUSTERFS_TOO_LARGE);
    EXPECT_FALSE(store->exists("name"));
}

TEST_F(Objects, membersOfAGroupLieSideBySide) {
    ASSERT_NO_FATAL_FAILURE(start());
    const auto packed = [this] { return store->statistic("objects packed in groups"); };
    std::vector<std::string> members;
    for (unsigned n = 0; n < 5; ++n)
        members.push_back("member " + std::to_string(n));
    store->collocate("leader", members);
    store->write("leader", bytesOf(1, 2000));
    for (const auto &member: members) {
        store->write(member, bytesOf(2, 2000));
        store->write("stranger of " + member, bytesOf(3, 2000));
    }
    store->sync();
    const auto first = packed();
    EXPECT_EQ(first, 5) << "each one behind another one of its group";
    for (unsigned n = 0; n < 4; ++n) {
        store->write("numbered " + std::to_string(n), bytesOf(4, 2000), 7);
        store->write("other " + std::to_string(n), bytesOf(5, 2000));
    }
    store->write("late", bytesOf(6, 2000));
    store->assign(7, "late");
    store->love(7);
    store->hate(7);
    store->sync();
    EXPECT_EQ(packed(), first + 4);
}

/// on two devices, over a stop
TEST_F(Objects, groupsAreLookedUpListedAndDissolved) {
    ASSERT_NO_FATAL_FAILURE(start(2));
    std::set<std::string> names;
    for (unsigned n = 0; n < 700; ++n) {
        const auto name = "member " + std::to_string(n);
        store->write(name, bytesOf(n, 300), 7);
        names.insert(name);
    }
    store->write("other", "bytes", 8);
    store->assign(7, "not stored");
    EXPECT_EQ(store->group("member 3"), 7U);
    EXPECT_EQ(store->group("not stored"), 7U);
    EXPECT_FALSE(store->group("nobody"));
    ASSERT_NO_FATAL_FAILURE(reopen());
    EXPECT_FALSE(store->group("not stored"));
    EXPECT_EQ(store->group("other"), 8U);
    const auto membersOf = [this](const uint64_t group) {
        std::set<std::string> found;
        auto walk = store->walk(group);
        while (const auto entry = walk.next())
            EXPECT_TRUE(found.insert(entry->name).second) << entry->name;
        return found;
    };
    EXPECT_EQ(membersOf(7), names);
    EXPECT_TRUE(store->unassign("member 3"));
    EXPECT_FALSE(store->unassign("member 3"));
    store->assign(8, "member 4");
    names.erase("member 3");
    names.erase("member 4");
    EXPECT_EQ(membersOf(7), names);
    EXPECT_EQ(membersOf(8), (std::set<std::string>{"member 4", "other"}));
    EXPECT_TRUE(store->dissolve(7));
    EXPECT_FALSE(store->dissolve(7));
    EXPECT_TRUE(membersOf(7).empty());
    EXPECT_EQ(get("member 5"), bytesOf(5, 300)) << "its objects stay";
}

/// clusters that were filled one after the other, of which one was used again
TEST_F(Objects, walksGoInTheOrderOfUse) {
    ASSERT_NO_FATAL_FAILURE(start());
    for (unsigned n = 0; n < 60; ++n) {
        store->write(std::to_string(n), bytesOf(n, 10000));
        if (n % 5 == 4)
            store->sync();
    }
    EXPECT_EQ(get("7"), bytesOf(7, 10000));
    const auto namesOf = [](clusterfs::Walk walk) {
        std::vector<std::string> names;
        while (const auto entry = walk.next())
            names.push_back(entry->name);
        return names;
    };
    auto ripe = namesOf(store->walkRipe());
    auto hot = namesOf(store->walkHot());
    ASSERT_EQ(ripe.size(), 60U);
    ASSERT_EQ(hot.size(), 60U);
    const auto five = [](const std::vector<std::string> &names, const size_t from) {
        return std::set<std::string>(names.begin() + static_cast<ptrdiff_t>(from), names.begin() + static_cast<ptrdiff_t>(from) + 5);
    };
    EXPECT_EQ(five(ripe, 0), (std::set<std::string>{"0", "1", "2", "3", "4"}));
    EXPECT_EQ(five(ripe, 5), (std::set<std::string>{"10", "11", "12", "13", "14"}));
    EXPECT_EQ(five(hot, 0), (std::set<std::string>{"5", "6", "7", "8", "9"})) << "used last";
    EXPECT_EQ(five(hot, 5), (std::set<std::string>{"55", "56", "57", "58", "59"}));
    EXPECT_EQ(std::set<std::string>(ripe.begin(), ripe.end()).size(), 60U);
}

/// others stay, what only passes by goes: also after a stop
TEST_F(Objects, someAreNotKeptInMemory) {
    ASSERT_NO_FATAL_FAILURE(start());
    clusterfs_attributes attributes = CLUSTERFS_ATTRIBUTES;
    attributes.flags = CLUSTERFS_NO_CACHE;
    const auto writePassing = [&](const std::string &name, const std::string &bytes) {
        return clusterfs_write(store->get(), name.data(), name.size(), bytes.data(), bytes.size(), &attributes);
    };
    for (unsigned n = 0; n < 20; ++n) {
        EXPECT_EQ(writePassing("passing " + std::to_string(n), bytesOf(n, 20000)), 0);
        store->write("kept " + std::to_string(n), bytesOf(100 + n, 20000));
    }
    const auto fromDisk = [this](const std::string &kind, const unsigned seed) {
        const auto before = store->statistic("hits from disk");
        for (unsigned n = 0; n < 20; ++n)
            EXPECT_EQ(get(kind + std::to_string(n)), bytesOf(seed + n, 20000));
        return store->statistic("hits from disk") - before;
    };
    // the read cache takes 200 of them, with the memory of staging
    const auto fill = [&](const unsigned from) {
        for (unsigned n = from; n < from + 300; ++n) {
            store->write("filler " + std::to_string(n), bytesOf(n, 20000));
            if (n % 20 == 0) {
                store->sync();
                (void)fromDisk("kept ", 100);
            }
        }
        store->sync();
    };
    fill(1000);
    EXPECT_LT(fromDisk("kept ", 100), 5);
    EXPECT_GE(fromDisk("passing ", 0), 6) << "a cluster has three of them";
    EXPECT_FALSE(store->group("passing 3")) << "that they are a group is nobody's business";
    ASSERT_NO_FATAL_FAILURE(reopen());
    (void)fromDisk("passing ", 0);
    (void)fromDisk("kept ", 100);
    fill(2000);
    EXPECT_LT(fromDisk("kept ", 100), 5);
    EXPECT_GE(fromDisk("passing ", 0), 6) << "a cluster has three of them";
    attributes.group = 7;
    EXPECT_EQ(writePassing("both", "bytes"), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(codeOf([&] { store->love(UINT64_MAX); }), CLUSTERFS_ARGUMENT);
}

TEST_F(Objects, anOrderForAGroupOutlivesTheStore) {
    auto options = smallOptions();
    options.set("persist", "1");
    ASSERT_NO_FATAL_FAILURE(start(1, 64 * MB, options));
    store->persist(7, CLUSTERFS_NEVER);
    store->hate(8);
    store->unmark(8);
    store->write("member", "bytes", 7);
    ASSERT_NO_FATAL_FAILURE(reopen(options));
    store->write("another", "bytes", 7);
    store->write("third", "bytes");
    for (unsigned tries = 0; store->statistic("staged objects") > 1 && tries < 500; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_LE(store->statistic("staged objects"), 1);
    store->persist(7, 0);
}

/// more members than there is memory for
TEST_F(Objects, aFullGroupIsTold) {
    ASSERT_NO_FATAL_FAILURE(start());
    unsigned n = 0;
    int result = 0;
    clusterfs_attributes attributes = CLUSTERFS_ATTRIBUTES;
    attributes.group = 7;
    for (; n < 30000 && result == 0; ++n) {
        const auto name = std::to_string(n);
        result = clusterfs_write(store->get(), name.data(), name.size(), "b", 1, &attributes);
    }
    EXPECT_EQ(result, 1) << n;
    EXPECT_EQ(codeOf([&] { store->assign(7, "one more"); }), CLUSTERFS_BUSY);
    EXPECT_FALSE(store->group("one more"));
    EXPECT_TRUE(store->exists(std::to_string(n - 1)));
}

TEST_F(Objects, withoutLocalityThereAreNoGroups) {
    auto options = smallOptions();
    options.set("locality", "0");
    ASSERT_NO_FATAL_FAILURE(start(1, 64 * MB, options));
    EXPECT_EQ(codeOf([&] { store->assign(7, "name"); }), CLUSTERFS_NO_LOCALITY);
    EXPECT_EQ(codeOf([&] { store->love(7); }), CLUSTERFS_NO_LOCALITY);
    EXPECT_EQ(codeOf([&] { store->persist(7, 5); }), CLUSTERFS_NO_LOCALITY);
    store->write("name", "bytes", 7);
    EXPECT_FALSE(store->group("name"));
    EXPECT_EQ(get("name"), "bytes");
}

/// a page's objects are stored among others, and are packed side by side on each device
void
requestsTeachGroups(clusterfs::Store &store)
{
    const auto sum = [&store](const char *const name) {
        double all = 0;
        for (size_t device = 0; device < store.devices(); ++device)
            all += store.statistic(name, device);
        return all;
    };
    const auto known = sum("members by referer");
    for (unsigned n = 0; n < 8; ++n) {
        const auto name = "member " + std::to_string(n);
        EXPECT_TRUE(store.note(1, name, "page"));
        store.write(name, bytesOf(n, 2000));
        store.write("stranger of " + name, bytesOf(n, 2000));
    }
    EXPECT_EQ(sum("members by referer"), known + 8);
    store.sync();
    EXPECT_GE(sum("objects packed in groups"), static_cast<double>(7 + 1 - store.devices()));
}

TEST_F(Objects, requestsTeachWhatIsReadTogether) {
    ASSERT_NO_FATAL_FAILURE(start());
    requestsTeachGroups(*store);
    // without a page, those that several clients want in the same order
    for (uint64_t client = 2; client < 5; ++client) {
        for (unsigned n = 0; n < 4; ++n)
            EXPECT_TRUE(store->note(client, "follower " + std::to_string(n)));
    }
    EXPECT_GE(store->statistic("groups known"), 2);
    EXPECT_EQ(clusterfs_note(store->get(), 0, "name", 4, nullptr, 0), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_note(store->get(), 1, nullptr, 4, nullptr, 0), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_note(store->get(), 1, "name", 4, nullptr, 4), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_note(nullptr, 1, "name", 4, nullptr, 0), -CLUSTERFS_ARGUMENT);
}

TEST_F(Objects, requestsOfHttpTeachMore) {
    ASSERT_NO_FATAL_FAILURE(start());
    clusterfs_http page = {};
    page.url = "http://site.test/page.html";
    page.fetch_dest = "document";
    clusterfs_http sheet = {};
    sheet.url = "http://site.test/style.css";
    sheet.referer = page.url;
    sheet.fetch_dest = "style";
    clusterfs_http font = {};
    font.url = "http://site.test/font.woff2";
    font.referer = sheet.url;
    font.fetch_dest = "font";
    for (uint64_t client = 1; client < 3; ++client) {
        EXPECT_TRUE(store->note(client, "the page", page));
        EXPECT_TRUE(store->note(client, "the sheet", sheet));
        EXPECT_TRUE(store->note(client, "the font", font));
    }
    // what a style sheet embeds is wanted with the page; clusterfs_note() can't know that, and would make a group of the sheet
    EXPECT_EQ(store->statistic("groups known"), 1);
    EXPECT_EQ(store->statistic("members by referer"), 2);
    clusterfs_http nonsense = {};
    nonsense.url = "no URL";
    nonsense.accept = "\xff\xfe";
    EXPECT_TRUE(store->note(3, "what", nonsense));
    EXPECT_TRUE(store->note(3, "what", clusterfs_http{}));

    clusterfs_http without = page;
    without.struct_size = 0;
    EXPECT_EQ(clusterfs_note_http(store->get(), 1, "name", 4, &without), -CLUSTERFS_ARGUMENT);
    page.struct_size = sizeof(page);
    EXPECT_EQ(clusterfs_note_http(store->get(), 1, "name", 4, &page), 0);
    EXPECT_EQ(clusterfs_note_http(store->get(), 0, "name", 4, &page), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_note_http(store->get(), 1, nullptr, 4, &page), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_note_http(store->get(), 1, "name", 4, nullptr), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_note_http(nullptr, 1, "name", 4, &page), -CLUSTERFS_ARGUMENT);
}

TEST_F(Objects, requestsTeachEachDevice) {
    ASSERT_NO_FATAL_FAILURE(start(2));
    requestsTeachGroups(*store);
}

TEST_F(Objects, figuresAndTextAreThoseOfTheEngine) {
    ASSERT_NO_FATAL_FAILURE(start());
    store->write("name", bytesOf(1, 1000));
    EXPECT_EQ(store->statistic("objects"), 1);
    EXPECT_NE(store->report().find("\nobjects: "), std::string::npos) << store->report();
    EXPECT_EQ(codeOf([&] { store->statistic("no such name"); }), CLUSTERFS_NOT_FOUND);
    EXPECT_EQ(codeOf([&] { store->statistic("state"); }), CLUSTERFS_NOT_FOUND) << "a text is no number";
    char part[10] = "";
    const auto whole = static_cast<int64_t>(store->report().size());
    EXPECT_NEAR(static_cast<double>(clusterfs_report(store->get(), 0, part, sizeof(part))), static_cast<double>(whole), 200);
    EXPECT_EQ(std::string(part), store->report().substr(0, 9));
}

} // namespace
} // namespace ClusterFs::Library::Testing

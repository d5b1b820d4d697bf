// SPDX-License-Identifier: GPL-2.0-or-later
/* Windows that other processes copy from, while they come and go, and when the table has nonsense. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/cache/SharedWindows.h"
#include "fs/cluster/cache/WindowStore.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

ClusterRange
rangeOf(const uint32_t cluster, const uint32_t start, const uint32_t size, const uint64_t sequence = 1)
{
    return {ClusterNo(cluster), Sequence(sequence), start, size};
}

/// a table of its own, over bytes of which each says where it is
struct Alone {
    static constexpr size_t bytes = 4 * MB;

    Alone(): pages(bytesOf(3, bytes)) {}

    bool sees(const ClusterRange &range, const uint64_t at) {
        std::string got(range.size, '\0');
        if (!view.copy(range, &got[0]))
            return false;
        EXPECT_EQ(got, pages.substr(at, range.size));
        return true;
    }

    std::string pages;
    SharedWindows windows{bytes};
    SharedWindowsView view{reinterpret_cast<const SharedWindowRow *>(windows.memory().data()),
                           windows.memory().size() / sizeof(SharedWindowRow), pages.data(), pages.size()};
};

/// a window store whose windows others see
struct Shared {
    explicit Shared(const uint64_t limit = 2 * MB): windows(cost, use, limit) {
        std::string error;
        EXPECT_TRUE(windows.share(windows.limit(), error)) << error;
        view = std::make_unique<SharedWindowsView>(reinterpret_cast<const SharedWindowRow *>(windows.shown()->memory().data()),
            windows.shown()->memory().size() / sizeof(SharedWindowRow), windows.pages()->data(), windows.pages()->size());
    }

    WindowPointer read(const ClusterRange &range) {
        auto window = windows.expect(range, Window::Extra());
        const auto content = bytesOf(range.cluster.value(), range.end());
        memcpy(window->buffer->data(), content.data() + range.start, range.size);
        EXPECT_FALSE(sees(range)) << "it has not arrived";
        windows.arrived(window, true);
        return window;
    }
    bool sees(const ClusterRange &range) const {
        std::string got(range.size, '\0');
        if (!view->copy(range, &got[0]))
            return false;
        EXPECT_EQ(got, bytesOf(range.cluster.value(), range.end()).substr(range.start));
        return true;
    }

    CostMeter cost;
    UseMeter use;
    WindowStore windows;
    std::unique_ptr<SharedWindowsView> view;
};

} // namespace

TEST(SharedWindows, showWhatIsEntered)
{
    Alone a;
    EXPECT_FALSE(a.sees(rangeOf(1, 0, 10), 0));
    a.windows.enter(rangeOf(1, 10000, 50000), 8192);
    EXPECT_TRUE(a.sees(rangeOf(1, 10000, 50000), 8192));
    EXPECT_TRUE(a.sees(rangeOf(1, 40000, 20000), 38192)) << "each part that it touches has it";
    EXPECT_TRUE(a.sees(rangeOf(1, 59999, 1), 58191));
    EXPECT_FALSE(a.sees(rangeOf(1, 9999, 10), 0));
    EXPECT_FALSE(a.sees(rangeOf(1, 59999, 2), 0));
    EXPECT_FALSE(a.sees(rangeOf(2, 10000, 10), 0));
    EXPECT_FALSE(a.sees(rangeOf(1, 10000, 10, 2), 0)) << "of newer contents";
    a.windows.withdraw(rangeOf(1, 10000, 50000), 8192);
    EXPECT_FALSE(a.sees(rangeOf(1, 10000, 50000), 8192));
    EXPECT_FALSE(a.sees(rangeOf(1, 40000, 1), 0));
}

/// windows of one place: each is taken back alone
TEST(SharedWindows, mayLieOverEachOther)
{
    Alone a;
    a.windows.enter(rangeOf(1, 0, 4096), 0);
    a.windows.enter(rangeOf(1, 0, 16384), 65536);
    a.windows.withdraw(rangeOf(1, 0, 4096), 0);
    EXPECT_TRUE(a.sees(rangeOf(1, 100, 10), 65636));
    a.windows.withdraw(rangeOf(1, 0, 16384), 65536);
    EXPECT_FALSE(a.sees(rangeOf(1, 100, 10), 0));
}

TEST(SharedWindows, aFullRowTakesNoMore)
{
    Alone a;
    for (uint32_t n = 0; n < SharedWindowRow::entriesAtMost + 1; ++n)
        a.windows.enter(rangeOf(1, n * 1000, 1000), n * 4096);
    EXPECT_TRUE(a.sees(rangeOf(1, 6000, 1000), 6 * 4096));
    EXPECT_FALSE(a.sees(rangeOf(1, 7000, 1000), 0)) << "it is not shown, and so asked for";
    a.windows.withdraw(rangeOf(1, 7000, 1000), 7 * 4096);
    a.windows.withdraw(rangeOf(1, 0, 1000), 0);
    a.windows.enter(rangeOf(1, 8000, 1000), 8 * 4096);
    EXPECT_TRUE(a.sees(rangeOf(1, 8000, 1000), 8 * 4096));
    EXPECT_TRUE(a.sees(rangeOf(1, 6000, 1000), 6 * 4096));
}

TEST(SharedWindows, nothingIsTakenFromARowThatChanges)
{
    Alone a;
    a.windows.enter(rangeOf(1, 0, 1000), 0);
    const auto rows = const_cast<SharedWindowRow *>(reinterpret_cast<const SharedWindowRow *>(a.windows.memory().data()));
    auto &row = rows[SharedWindows::RowOf(ClusterNo(1), 0, a.windows.memory().size() / sizeof(SharedWindowRow))];
    ++row.counter;
    EXPECT_FALSE(a.sees(rangeOf(1, 0, 1000), 0));
    ++row.counter;
    EXPECT_TRUE(a.sees(rangeOf(1, 0, 1000), 0));
}

TEST(SharedWindows, nothingIsNoWindow)
{
    Alone a;
    a.windows.enter(rangeOf(1, 0, 0), 0);
    a.windows.withdraw(rangeOf(1, 0, 0), 0);
    EXPECT_FALSE(a.sees(rangeOf(1, 0, 1), 0));
}

/// few of the windows that a cache has find their row full
TEST(SharedWindows, haveRoomForTheSmallest)
{
    Alone a;
    std::minstd_rand random(1);
    unsigned shown = 0;
    constexpr unsigned count = Alone::bytes / 4096;
    std::vector<ClusterRange> ranges;
    for (unsigned n = 0; n < count; ++n) {
        ranges.push_back(rangeOf(static_cast<uint32_t>(random() % 10000), static_cast<uint32_t>(random() % 1000000), 4096));
        a.windows.enter(ranges.back(), n * 4096);
    }
    for (unsigned n = 0; n < count; ++n)
        shown += a.sees(ranges[n], n * 4096);
    EXPECT_GT(shown, count * 98 / 100);
}

/// whatever the table has, a copy stays within the pages
TEST(SharedWindows, nonsenseIsSurvived)
{
    for (unsigned seed = 1; seed < 300; ++seed) {
        std::minstd_rand random(seed);
        std::vector<SharedWindowRow> rows(4);
        for (size_t n = 0; n < rows.size() * sizeof(rows[0]); ++n)
            reinterpret_cast<char *>(rows.data())[n] = static_cast<char>(seed % 2 ? random() : random() % 4 ? 0 : random() % 60);
        const std::vector<char> pages(100000);
        const SharedWindowsView view(rows.data(), rows.size(), pages.data(), pages.size());
        std::vector<char> to(5000);
        for (unsigned n = 0; n < 200; ++n)
            (void)view.copy(rangeOf(n % 8, static_cast<uint32_t>(random() % 100), 1 + static_cast<uint32_t>(random() % 5000), n % 3), to.data());
    }
}

TEST(SharedWindowStore, showsWindowsWhileTheyAreInMemory)
{
    Shared s;
    s.read(rangeOf(1, 4096, 40960));
    EXPECT_TRUE(s.sees(rangeOf(1, 4096, 40960)));
    EXPECT_TRUE(s.sees(rangeOf(1, 20000, 3000)));
    s.windows.forget(ClusterNo(1));
    EXPECT_FALSE(s.sees(rangeOf(1, 20000, 3000)));
}

/// larger than the addresses that there are: it is the owner's alone
TEST(SharedWindowStore, aWindowInMemoryOfItsOwnIsNotShown)
{
    Shared s;
    const auto range = rangeOf(1, 0, 100 * MB);
    const auto window = s.windows.expect(range, Window::Extra());
    ASSERT_EQ(window->buffer->sharedAt(), -1);
    s.windows.arrived(window, true);
    EXPECT_TRUE(s.windows.peek(range));
    char byte;
    EXPECT_FALSE(s.view->copy(rangeOf(1, 0, 1), &byte));
}

TEST(SharedWindowStore, whatDoesNotArriveIsNotShown)
{
    Shared s;
    const auto window = s.windows.expect(rangeOf(1, 0, 8192), Window::Extra());
    s.windows.arrived(window, false);
    EXPECT_FALSE(s.sees(rangeOf(1, 0, 100)));
}

/// what leaves memory is no longer shown; what stays of it is
TEST(SharedWindowStore, showsThePiecesThatStay)
{
    Shared s;
    {
        const auto window = s.read(rangeOf(1, 0, 65536));
        window->use(8000, 500);
        window->use(40000, 800);
    }
    for (uint32_t n = 2; n < 100; ++n)
        s.read(rangeOf(n, 0, 65536));
    ASSERT_TRUE(s.windows.makeRoom(MB));
    ASSERT_TRUE(s.windows.peek(rangeOf(1, 8000, 500))) << "a smaller window has them";
    EXPECT_TRUE(s.sees(rangeOf(1, 8000, 500)));
    EXPECT_TRUE(s.sees(rangeOf(1, 40000, 800)));
    EXPECT_FALSE(s.sees(rangeOf(1, 20000, 500)));
    for (uint32_t n = 2; n < 100; ++n)
        EXPECT_EQ(s.sees(rangeOf(n, 0, 65536)), bool(s.windows.peek(rangeOf(n, 0, 65536)))) << n;
}

/// of a cluster that was just written, each run is a window
TEST(SharedWindowStore, showsWhatWasWritten)
{
    Shared s;
    const auto buffer = std::make_shared<Buffer>(65536);
    memcpy(buffer->data(), bytesOf(1, 65536).data(), 65536);
    const auto whole = s.windows.insert(ClusterNo(1), Sequence(1), buffer, 65536);
    s.windows.written(*whole);
    ASSERT_TRUE(s.windows.split(whole, {4096, 20000}));
    s.windows.drop(whole);
    EXPECT_TRUE(s.sees(rangeOf(1, 5000, 10000)));
    EXPECT_FALSE(s.sees(rangeOf(1, 30000, 10)));
}

/// random windows come and go: whatever is seen is right, and most of what is there is seen
TEST(SharedWindowStore, showsNothingElse)
{
    Shared s;
    std::minstd_rand random(3);
    unsigned seen = 0;
    unsigned there = 0;
    for (unsigned n = 0; n < 5000; ++n) {
        const auto cluster = static_cast<uint32_t>(random() % 40);
        const auto start = static_cast<uint32_t>(random() % 16) * 4096;
        const auto size = 4096 + static_cast<uint32_t>(random() % 10) * 4096;
        if (!s.windows.peek(rangeOf(cluster, start, size))) {
            ASSERT_TRUE(s.windows.makeRoom(size));
            const auto window = s.read(rangeOf(cluster, start, size));
            window->use(start + 100, 1000);
        }
        const auto wanted = rangeOf(static_cast<uint32_t>(random() % 40), static_cast<uint32_t>(random() % 60000), 1000);
        const auto has = bool(s.windows.peek(wanted));
        there += has;
        const auto sees = s.sees(wanted);
        seen += sees;
        EXPECT_TRUE(has || !sees);
        if (n % 50 == 0)
            s.windows.forget(ClusterNo(cluster));
    }
    EXPECT_GT(there, 500U);
    EXPECT_GT(seen, there * 9 / 10);
}

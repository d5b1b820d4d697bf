// SPDX-License-Identifier: GPL-2.0-or-later
/* The cells of the picture of a device. */

#include "fs/cluster/squid/MapCells.h"

#include "test-suite/unit/support/PartsSupport.h"

#include <algorithm>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

std::vector<MapCell>
cellsOf(const Catalog &catalog)
{
    MapCells cells(catalog);
    for (unsigned i = 0; cells.work() && i < 1000000; ++i)
        EXPECT_LE(cells.cells().size(), catalog.clusters().count());
    EXPECT_FALSE(cells.work());
    return cells.cells();
}

} // namespace

TEST(MapCells, countsWhatIsInEachCluster) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    p.catalog.giveToLog(0_c);
    p.makeBad(1);
    const uint32_t step = Catalog::ExtentBytes(500);
    for (uint32_t n = 0; n < 6; ++n) // one alone, a group of three, a group of two
        p.placed(n + 1, 2, 4096 + n * step, 500, noCluster, n == 2 || n == 3 || n == 5);
    p.stage(20, bytesOf(20, 100), p.chain({4, 5}, 60000, 120100, 100));
    p.placed(7, 3, 4096, 700);
    p.entryOf(3).written = 1234;

    const auto cells = cellsOf(p.catalog);
    ASSERT_EQ(cells.size(), p.catalog.clusters().count()) << "so few clusters have a cell each";
    EXPECT_EQ(cells[0].log, 1U);
    EXPECT_EQ(cells[1].bad, 1U);
    EXPECT_EQ(cells[2].packed, 1U);
    EXPECT_EQ(cells[2].objects, 6U);
    EXPECT_EQ(cells[2].groups, 2U);
    EXPECT_EQ(cells[2].grouped, 5U);
    EXPECT_EQ(cells[2].liveBytes, 6 * step);
    EXPECT_EQ(cells[3].latest, 1234U);
    EXPECT_EQ(cells[3].grouped, 0U);
    EXPECT_EQ(cells[4].large + cells[5].large, 2U);
    EXPECT_EQ(cells[6].inUse(), 0U);
    for (size_t n = 0; n < cells.size(); ++n) {
        EXPECT_EQ(cells[n].first, ClusterNo(static_cast<uint32_t>(n)));
        EXPECT_EQ(cells[n].last, cells[n].first);
    }
    EXPECT_EQ(cells[2].written, 0.0) << "it was written first";
    EXPECT_EQ(cells[3].written, 1.0) << "it was written last";
}

TEST(MapCells, ranksEndAtTheMostHoweverManyAreEqual) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    for (uint32_t n = 0; n < 6; ++n) {
        p.placed(n + 1, n + 2, 4096, 500);
        p.entryOf(n + 2).heat = n < 2 ? 10 : n < 3 ? 20 : 30;
    }
    const auto cells = cellsOf(p.catalog);
    const double wanted[] = {0, 0, 2.0 / 3, 1, 1, 1};
    for (size_t n = 0; n < std::size(wanted); ++n)
        EXPECT_DOUBLE_EQ(cells[n + 2].used, wanted[n]) << n;
    EXPECT_EQ(cells[4].written, 0.4) << "of which no two are equal";
}

TEST(MapCells, badClustersHaveNoRank) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    p.placed(1, 2, 4096, 500);
    p.entryOf(2).written = 50;
    p.makeBad(3);
    p.entryOf(3).written = 77;
    const auto cells = cellsOf(p.catalog);
    EXPECT_EQ(cells[2].latest, 50U);
    EXPECT_EQ(cells[3].bad, 1U);
    EXPECT_EQ(cells[3].latest, 0U);
    EXPECT_EQ(cells[3].written + cells[3].used, 0.0);
}

TEST(MapCells, joinsNeighboursWhereThereAreMany) {
    auto config = smallConfig();
    config.clusterKb = 16;
    PartsDevice d(64 * MB, config, true);
    Parts p(d);
    p.allFree();
    const auto count = p.catalog.clusters().count();
    const auto most = MapCells::maxColumns * MapCells::maxColumns;
    ASSERT_GT(count, most);
    p.placed(1, count - 1, 4096, 500);
    const auto cells = cellsOf(p.catalog);
    ASSERT_LE(cells.size(), most);
    uint32_t next = 0;
    for (const auto &cell: cells) {
        EXPECT_EQ(cell.first.value(), next);
        next = cell.last.value() + 1;
    }
    EXPECT_EQ(next, count);
    EXPECT_EQ(cells.back().objects, 1U);
    EXPECT_EQ(cells.back().used, 1.0) << "it is the only one";
}

TEST(MapCells, takesTheOtherObjectsOfAClusterForAlike) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    constexpr uint32_t objects = 1300;
    const uint32_t step = Catalog::ExtentBytes(1);
    for (uint32_t n = 0; n < objects; ++n) // pairs
        p.placed(n + 1, 2, 4096 + n * step, 1, noCluster, n % 2);
    const auto cells = cellsOf(p.catalog);
    EXPECT_EQ(cells[2].objects, objects);
    EXPECT_NEAR(static_cast<double>(cells[2].groups), objects / 2, 8);
    EXPECT_NEAR(static_cast<double>(cells[2].grouped), objects, 8);
}

TEST(MapCells, addsUpWhatIsNeededByAge) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    constexpr uint32_t now = 1700000000;
    const uint32_t ages[] = {0, 60, 61, 86400, 40000000};
    for (uint32_t n = 0; n < std::size(ages); ++n) {
        p.placed(n + 1, n + 2, 4096, 500 + n);
        p.entryOf(n + 2).written = now - ages[n];
    }
    p.stage(20, bytesOf(20, 100), p.chain({8, 9}, 60000, 120100, 100));
    p.entryOf(8).written = p.entryOf(9).written = now - 1000;
    MapCells cells(p.catalog);
    while (cells.work())
        ;
    const auto &found = cells.ages();
    const auto needed = [&](const uint32_t cluster) { return uint64_t(p.entryOf(cluster).liveBytes); };
    EXPECT_EQ(found[0].upTo, 60U);
    EXPECT_EQ(found[0].clusters, 2U);
    EXPECT_EQ(found[0].bytes, needed(2) + needed(3));
    EXPECT_EQ(found[1].upTo, 600U);
    EXPECT_EQ(found[1].bytes, needed(4));
    EXPECT_EQ(found[2].upTo, 3600U);
    EXPECT_EQ(found[2].clusters, 2U) << "parts of a large object";
    EXPECT_EQ(found[2].bytes, uint64_t(p.entryOf(8).end) + p.entryOf(9).end);
    EXPECT_EQ(found[4].bytes, needed(5));
    EXPECT_EQ(found.back().upTo, MapAge::unbounded);
    EXPECT_EQ(found.back().bytes, needed(6));
    EXPECT_EQ(found[0].text(), "60 2 " + std::to_string(found[0].bytes));
    EXPECT_EQ(found.back().text(), "- 1 " + std::to_string(found.back().bytes));
    uint64_t bytes = 0, all = 0;
    for (const auto &age: found)
        all += age.bytes;
    for (const auto &cell: cells.cells())
        bytes += cell.liveBytes;
    EXPECT_EQ(all, bytes);
}

TEST(MapCells, groupsAreThoseThatLieSideBySide) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    const uint32_t step = Catalog::ExtentBytes(500);
    for (uint32_t n = 0; n < 6; ++n) // the first of a cluster follows nothing, whatever it says
        p.placed(n + 1, 2, 4096 + n * step, 500, noCluster, n == 0 || n == 2 || n == 3 || n == 5);
    unsigned looks = 0;
    EXPECT_EQ(groupsIn(p.catalog, 2_c, 100, looks), (std::vector<unsigned>{1, 3, 2}));
    EXPECT_EQ(looks, 6U);
    EXPECT_TRUE(groupsIn(p.catalog, 3_c, 100, looks).empty());
    (void)groupsIn(p.catalog, 2_c, 4, looks);
    EXPECT_EQ(looks, 4U);
}

TEST(MapCells, anEmptyDeviceHasCells) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    for (const auto &cell: cellsOf(p.catalog)) {
        EXPECT_EQ(cell.inUse(), 0U);
        EXPECT_EQ(cell.written, 0.0);
    }
}

TEST(MapCells, clustersWrittenMeanwhileDoNoHarm) {
    auto config = smallConfig();
    config.clusterKb = 16;
    PartsDevice d(64 * MB, config, true);
    Parts p(d);
    p.allFree();
    MapCells cells(p.catalog);
    unsigned pieces = 0;
    for (; cells.work() && pieces < 20; ++pieces) {
        for (unsigned n = 4 * pieces; n < 4 * pieces + 4; ++n)
            p.placed(n + 1, n + 2, 4096, 500);
    }
    EXPECT_GT(pieces, 2U) << "else nothing is written between two pieces";
    ASSERT_FALSE(cells.cells().empty());
    EXPECT_GT(cells.cells()[1].inUse(), 0U);
    EXPECT_EQ(cells.cells()[1].written, cells.cells()[1].inUse()) << "there is nothing to rank them among";
    EXPECT_EQ(cells.cells().back().last.value() + 1, p.catalog.clusters().count());
}

TEST(MapCell, comesBackFromItsText) {
    MapCell cell;
    cell.first = 10_c;
    cell.last = 19_c;
    cell.packed = 5;
    cell.large = 3;
    cell.bad = 1;
    cell.log = 1;
    cell.objects = 400;
    cell.grouped = 300;
    cell.groups = 20;
    cell.liveBytes = uint64_t(5) << 32;
    cell.written = 4.25;
    cell.used = 0.5;
    cell.latest = 1700000000;
    EXPECT_EQ(cell.text(), "10 19 5 3 1 1 400 300 20 21474836480 4.25 0.5 1700000000");
    const std::string names = MapCell::columns, text = cell.text();
    EXPECT_EQ(std::count(names.begin(), names.end(), ' '), std::count(text.begin(), text.end(), ' ')) << "each number has a name";
    MapCell other;
    ASSERT_TRUE(other.parse(cell.text()));
    EXPECT_EQ(other.text(), cell.text());
    EXPECT_EQ(other.inUse(), 8U);
}

TEST(MapCell, refusesOtherTexts) {
    const char *const texts[] = {
        "", "10", "a b c", "10 19 5 3 1 1 400 300 20 100 4.25 0.5", "10 19 5 3 1 1 400 300 20 100 4.25 0.5 17 more",
        "19 10 0 0 0 0 0 0 0 0 0 0 0", "10 11 5 3 0 0 0 0 0 0 0 0 0"
    };
    for (const auto text: texts)
        EXPECT_FALSE(MapCell().parse(text)) << text;
}

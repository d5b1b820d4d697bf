// SPDX-License-Identifier: GPL-2.0-or-later
/* Going over all clusters and objects. */

#include "Survey.h"

#include "fs/cluster/squid/MapCells.h"

#include <algorithm>
#include <limits>
#include <map>

using Tools::Json;

namespace ClusterFs::Cli {
namespace {

/// a number of things, and the sum of their sizes
struct Sum {
    uint64_t count = 0;
    uint64_t size = 0;

    void add(const uint64_t more) {
        ++count;
        size += more;
    }
};

/// sums by the size of what is counted, each up to a power of two
class Histogram
{
public:
    void add(const uint64_t size) {
        uint64_t bound = 1;
        while (bound < size)
            bound *= 2;
        sums_[bound].add(size);
    }

    /// \param unit of the sizes
    Json json(const char *const unit) const {
        auto rows = Json::array();
        for (const auto &[bound, sum]: sums_)
            rows.push_back({{"up_to", bound}, {"count", sum.count}, {unit, sum.size}});
        return rows;
    }

private:
    std::map<uint64_t, Sum> sums_;
};

/// Of the objects in packed clusters: their sizes, and how many of them lie side by side as a group.
void
countObjects(const Catalog &catalog, Histogram &sizes, Histogram &groups)
{
    for (ClusterNo n{0}; catalog.clusters().has(n); ++n) {
        if (catalog.clusters()[n].state != ClusterState::packed)
            continue;
        for (auto slot = catalog.clusters()[n].first; slot != noSlot; slot = catalog.index()[slot].sibling) {
            if (!catalog.index()[slot].dead())
                sizes.add(catalog.objectSize(slot));
        }
        unsigned looks = 0;
        for (const auto size: groupsIn(catalog, n, std::numeric_limits<unsigned>::max(), looks))
            groups.add(size);
    }
}

Json
cellsJson(const std::vector<MapCell> &cells)
{
    auto rows = Json::array();
    for (const auto &cell: cells) {
        const auto used = std::max(1U, cell.inUse());
        rows.push_back({{"first", cell.first.value()}, {"last", cell.last.value()}, {"small", cell.packed}, {"large", cell.large},
            {"log", cell.log}, {"bad", cell.bad}, {"objects", cell.objects}, {"grouped", cell.grouped}, {"live_bytes", cell.liveBytes},
            {"written", cell.written / used}, {"used", cell.used / used}, {"latest", cell.latest}
        });
    }
    return rows;
}

Json
agesJson(const MapCells::Ages &ages)
{
    auto rows = Json::array();
    for (const auto &age: ages)
        rows.push_back({{"up_to", age.upTo == MapAge::unbounded ? Json() : Json(age.upTo)}, {"clusters", age.clusters}, {"bytes", age.bytes}});
    return rows;
}

} // namespace

Json
survey(const std::string &path, const OpenedIndex &opened)
{
    const auto &catalog = opened.view->catalog();
    const auto &geometry = opened.superblock.geometry;
    const auto in = [&](const ClusterState state) { return catalog.clusters().inState(state); };
    MapCells map(catalog);
    while (map.work())
        ;
    Histogram sizes, groups;
    countObjects(catalog, sizes, groups);
    const auto small = in(ClusterState::packed), large = in(ClusterState::part), log = in(ClusterState::log), bad = in(ClusterState::bad);
    return {
        {"path", Tools::bytesText(path)}, {"uuid", uuidText(opened.superblock.uuid)}, {"version", opened.superblock.version},
        {"clean", opened.superblock.clean}, {"device_bytes", geometry.deviceBytes}, {"cluster_bytes", geometry.clusterBytes},
        {"objects", catalog.objects()}, {"live_bytes", catalog.liveBytes()}, {"clusters", geometry.clusterCount},
        {"states", {{"small objects", small}, {"large objects", large}, {"index log", log}, {"bad", bad}, {"free", geometry.clusterCount - small - large - log - bad}}},
        {"sizes", sizes.json("bytes")}, {"groups", groups.json("objects")}, {"ages", agesJson(map.ages())}, {"cells", cellsJson(map.cells())}
    };
}

} // namespace ClusterFs::Cli

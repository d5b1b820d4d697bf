// SPDX-License-Identifier: GPL-2.0-or-later
/* Going over all clusters and objects. */

#include "Survey.h"

#include <algorithm>
#include <map>

using Tools::Json;

namespace ClusterFs::Cli {
namespace {

constexpr uint32_t maxCells = 2500; ///< a square of 50 each way

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

class Survey
{
public:
    explicit Survey(const Catalog &);
    Json cells() const { return cells_; }
    Json ages() const;
    Json sizes() const { return sizes_.json("bytes"); }
    Json groups() const { return groups_.json("objects"); }

private:
    void look(ClusterNo first, ClusterNo last);
    void lookAtObjects(ClusterNo, Json &cell);
    template <typename Value> std::vector<double> ranks(Value) const;

    const Catalog &catalog_;
    const std::vector<double> written_;
    const std::vector<double> used_;
    uint32_t latest_ = 0; ///< write, seconds since 1970
    Json cells_ = Json::array();
    Histogram sizes_; ///< of objects, in bytes
    Histogram groups_; ///< of the groups that lie side by side, in objects
};

bool
inUse(const ClusterEntry &cluster)
{
    return cluster.state == ClusterState::packed || cluster.state == ClusterState::part;
}

Survey::Survey(const Catalog &catalog):
    catalog_(catalog),
    written_(ranks([&](const ClusterNo n) { return catalog.clusters()[n].sequence.value(); })),
    used_(ranks([&](const ClusterNo n) { return uint64_t(catalog.clusters()[n].heat); }))
{
    const auto count = catalog_.clusters().count();
    const auto perCell = std::max(1U, (count + maxCells - 1) / maxCells);
    for (uint32_t n = 0; n < count; n += perCell)
        look(ClusterNo(n), ClusterNo(std::min(count, n + perCell) - 1));
}

/// where each cluster in use stands among them by a value: the least at 0, the most at 1
template <typename Value>
std::vector<double>
Survey::ranks(const Value value) const
{
    std::vector<ClusterNo> order;
    for (ClusterNo n{0}; catalog_.clusters().has(n); ++n) {
        if (inUse(catalog_.clusters()[n]))
            order.push_back(n);
    }
    std::stable_sort(order.begin(), order.end(), [&](const ClusterNo a, const ClusterNo b) { return value(a) < value(b); });
    std::vector<double> result(catalog_.clusters().count(), 0.0);
    for (size_t i = 0; i < order.size(); ++i)
        result[order[i].value()] = order.size() > 1 ? static_cast<double>(i) / static_cast<double>(order.size() - 1) : 1.0;
    return result;
}

void
Survey::look(const ClusterNo first, const ClusterNo last)
{
    Json cell = {{"first", first.value()}, {"last", last.value()}, {"small", 0}, {"large", 0}, {"log", 0}, {"bad", 0},
        {"objects", 0}, {"grouped", 0}, {"live_bytes", 0}, {"written", 0.0}, {"used", 0.0}, {"latest", 0}
    };
    const auto add = [&cell](const char *const name, const auto more) { cell[name] = cell[name].get<decltype(more + 0)>() + more; };
    uint32_t latest = 0;
    for (auto n = first; n.value() <= last.value(); ++n) {
        const auto &cluster = catalog_.clusters()[n];
        switch (cluster.state) {
        case ClusterState::packed:
            add("small", 1U);
            add("live_bytes", uint64_t(cluster.liveBytes));
            lookAtObjects(n, cell);
            break;
        case ClusterState::part:
            add("large", 1U);
            add("live_bytes", uint64_t(cluster.end));
            break;
        case ClusterState::log:
            add("log", 1U);
            break;
        case ClusterState::bad:
            add("bad", 1U);
            break;
        default:
            break;
        }
        if (inUse(cluster)) {
            add("written", written_[n.value()]);
            add("used", used_[n.value()]);
            latest = std::max(latest, cluster.written);
        }
    }
    const auto clusters = cell["small"].get<unsigned>() + cell["large"].get<unsigned>();
    for (const auto name: {"written", "used"})
        cell[name] = clusters ? cell[name].get<double>() / clusters : 0.0;
    cell["latest"] = latest;
    latest_ = std::max(latest_, latest);
    cells_.push_back(std::move(cell));
}

/// Of the objects of a packed cluster: the sizes, and which lie side by side as a group.
void
Survey::lookAtObjects(const ClusterNo n, Json &cell)
{
    std::vector<std::pair<uint32_t, bool>> extents; // offset; of the same group as the one before
    for (auto slot = catalog_.clusters()[n].first; slot != noSlot; slot = catalog_.index()[slot].sibling) {
        const auto &record = catalog_.index()[slot];
        if (record.dead())
            continue;
        extents.emplace_back(record.offset(), record.flags() & flagJoined);
        sizes_.add(catalog_.objectSize(slot));
    }
    std::sort(extents.begin(), extents.end());
    uint64_t grouped = 0;
    for (size_t i = 0; i < extents.size(); ) {
        auto end = i + 1;
        while (end < extents.size() && extents[end].second)
            ++end;
        groups_.add(end - i);
        grouped += end - i > 1 ? end - i : 0;
        i = end;
    }
    cell["objects"] = cell["objects"].get<uint64_t>() + extents.size();
    cell["grouped"] = cell["grouped"].get<uint64_t>() + grouped;
}

/// the bytes that are still needed, by the age of the clusters that they are in
Json
Survey::ages() const
{
    constexpr uint32_t hour = 3600, day = 24 * hour;
    constexpr uint32_t bounds[] = {60, 600, hour, 6 * hour, day, 3 * day, 7 * day, 30 * day, 90 * day, 365 * day, ~0U};
    Sum sums[std::size(bounds)];
    for (ClusterNo n{0}; catalog_.clusters().has(n); ++n) {
        const auto &cluster = catalog_.clusters()[n];
        if (!inUse(cluster))
            continue;
        const auto age = latest_ - std::min(cluster.written, latest_);
        const auto at = std::find_if(std::begin(bounds), std::end(bounds), [age](const uint32_t bound) { return age <= bound; });
        sums[at - std::begin(bounds)].add(cluster.state == ClusterState::part ? cluster.end : cluster.liveBytes);
    }
    auto rows = Json::array();
    for (size_t i = 0; i < std::size(bounds); ++i)
        rows.push_back({{"up_to", bounds[i] == ~0U ? Json() : Json(bounds[i])}, {"clusters", sums[i].count}, {"bytes", sums[i].size}});
    return rows;
}

} // namespace

Json
survey(const std::string &path, const OpenedIndex &opened)
{
    const auto &catalog = opened.view->catalog();
    const auto &geometry = opened.superblock.geometry;
    const auto in = [&](const ClusterState state) { return catalog.clusters().inState(state); };
    const Survey found(catalog);
    const auto small = in(ClusterState::packed), large = in(ClusterState::part), log = in(ClusterState::log), bad = in(ClusterState::bad);
    return {
        {"path", Tools::bytesText(path)}, {"uuid", uuidText(opened.superblock.uuid)}, {"version", opened.superblock.version},
        {"clean", opened.superblock.clean}, {"device_bytes", geometry.deviceBytes}, {"cluster_bytes", geometry.clusterBytes},
        {"objects", catalog.objects()}, {"live_bytes", catalog.liveBytes()}, {"clusters", geometry.clusterCount},
        {"states", {{"small objects", small}, {"large objects", large}, {"index log", log}, {"bad", bad}, {"free", geometry.clusterCount - small - large - log - bad}}},
        {"sizes", found.sizes()}, {"groups", found.groups()}, {"ages", found.ages()}, {"cells", found.cells()}
    };
}

} // namespace ClusterFs::Cli

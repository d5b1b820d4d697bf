// SPDX-License-Identifier: GPL-2.0-or-later
/* Going over the cluster table for a picture. */

#include "fs/cluster/squid/MapCells.h"

#include "fs/cluster/catalog/Catalog.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace {

bool
inUse(const ClusterFs::ClusterState s)
{
    return s == ClusterFs::ClusterState::packed || s == ClusterFs::ClusterState::part;
}

} // namespace

std::string
ClusterFs::MapCell::text() const
{
    std::ostringstream os;
    os << first.value() << ' ' << last.value() << ' ' << packed << ' ' << large << ' ' << bad << ' ' << log << ' ' << objects << ' ' <<
       grouped << ' ' << groups << ' ' << liveBytes << ' ' << written << ' ' << used << ' ' << latest;
    return os.str();
}

bool
ClusterFs::MapCell::parse(const std::string &text)
{
    std::istringstream is(text);
    uint32_t from = 0;
    uint32_t to = 0;
    is >> from >> to >> packed >> large >> bad >> log >> objects >> grouped >> groups >> liveBytes >> written >> used >> latest;
    first = ClusterNo(from);
    last = ClusterNo(to);
    return is && is.peek() == std::istringstream::traits_type::eof() && from <= to && uint64_t(to) - from + 1 >= uint64_t(packed) + large;
}

std::string
ClusterFs::MapAge::text() const
{
    return (upTo == unbounded ? "-" : std::to_string(upTo)) + ' ' + std::to_string(clusters) + ' ' + std::to_string(bytes);
}

std::vector<unsigned>
ClusterFs::groupsIn(const Catalog &catalog, const ClusterNo n, const unsigned most, unsigned &looks)
{
    std::vector<std::pair<uint32_t, bool>> extents; // offset; of the same group as the one before
    looks = 0;
    for (auto slot = catalog.clusters()[n].first; slot != noSlot && looks < most; slot = catalog.index()[slot].sibling, ++looks) {
        const auto &record = catalog.index()[slot];
        if (!record.dead())
            extents.emplace_back(record.offset(), record.flags() & flagJoined);
    }
    std::sort(extents.begin(), extents.end());
    std::vector<unsigned> groups;
    for (const auto &extent: extents) {
        if (extent.second && !groups.empty())
            ++groups.back();
        else
            groups.push_back(1);
    }
    return groups;
}

ClusterFs::MapCells::MapCells(const Catalog &catalog):
    catalog_(catalog),
    perCell_((catalog.clusters().count() + maxColumns * maxColumns - 1) / (maxColumns * maxColumns))
{
    constexpr uint32_t hour = 3600;
    constexpr uint32_t day = 24 * hour;
    constexpr std::array<uint32_t, std::tuple_size_v<Ages>> bounds = {
        60, 600, hour, 6 * hour, day, 3 * day, 7 * day, 30 * day, 90 * day, 365 * day, MapAge::unbounded
    };
    for (size_t i = 0; i < bounds.size(); ++i)
        ages_[i].upTo = bounds[i];
}

bool
ClusterFs::MapCells::work()
{
    const auto &clusters = catalog_.clusters();
    for (looks_ = turnLooks; looks_ && step_ != Step::over; --looks_) {
        if (clusters.has(next_))
            step(next_++);
        else
            turnOver();
    }
    return step_ != Step::over;
}

/// all clusters are gone over
void
ClusterFs::MapCells::turnOver()
{
    next_ = ClusterNo(0);
    if (step_ == Step::count) {
        written_.finish();
        used_.finish();
    } else if (step_ == Step::fill && cell_.first != noCluster) {
        cells_.push_back(cell_);
    }
    step_ = static_cast<Step>(static_cast<unsigned>(step_) + 1);
}

/// goes over one cluster
void
ClusterFs::MapCells::step(const ClusterNo n)
{
    const auto &c = catalog_.clusters()[n];
    if (step_ == Step::fill) {
        fill(n);
    } else if (inUse(c.state) && step_ == Step::range) {
        written_.widen(c.sequence.value());
        used_.widen(c.heat);
        latest_ = std::max(latest_, c.written);
    } else if (inUse(c.state)) {
        written_.add(c.sequence.value());
        used_.add(c.heat);
    }
}

void
ClusterFs::MapCells::fill(const ClusterNo n)
{
    if (n.value() % perCell_ == 0) {
        if (n.value())
            cells_.push_back(cell_);
        cell_ = MapCell();
        cell_.first = n;
    }
    cell_.last = n;
    const auto &c = catalog_.clusters()[n];
    cell_.bad += c.state == ClusterState::bad;
    cell_.log += c.state == ClusterState::log;
    if (!inUse(c.state))
        return;
    const bool isPart = c.state == ClusterState::part;
    const auto bytes = isPart ? c.end : c.liveBytes;
    cell_.large += isPart;
    cell_.packed += !isPart;
    cell_.liveBytes += bytes;
    addAge(c.written, bytes);
    if (!isPart)
        looks_ -= std::min(looks_ - 1, addObjects(cell_, n) * recordLooks);
    cell_.written += written_.rankOf(c.sequence.value());
    cell_.used += used_.rankOf(c.heat);
    cell_.latest = std::max(cell_.latest, c.written);
}

void
ClusterFs::MapCells::addAge(const uint32_t written, const uint64_t bytes)
{
    const auto age = latest_ - std::min(written, latest_); // what was written meanwhile is as new as the newest
    auto &row = *std::find_if(ages_.begin(), ages_.end(), [age](const MapAge &a) { return age <= a.upTo; });
    ++row.clusters;
    row.bytes += bytes;
}

/// counts the objects of a cluster and their groups; of very many, it goes over some and takes the others for alike
/// \returns how many it has gone over
unsigned
ClusterFs::MapCells::addObjects(MapCell &cell, const ClusterNo n) const
{
    const auto live = catalog_.clusters()[n].live;
    unsigned looks = 0;
    uint64_t seen = 0;
    uint64_t groups = 0;
    uint64_t grouped = 0;
    for (const auto size: groupsIn(catalog_, n, maxWalk, looks)) {
        seen += size;
        groups += size > 1;
        grouped += size > 1 ? size : 0;
    }
    cell.objects += live;
    if (seen) {
        cell.groups += groups * live / seen;
        cell.grouped += grouped * live / seen;
    }
    return looks;
}

/* ranks */

void
ClusterFs::MapCells::Ranks::widen(const uint64_t value)
{
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
}

size_t
ClusterFs::MapCells::Ranks::bucketOf(const uint64_t value) const
{
    const auto range = most_ - least_ + 1;
    const auto at = std::clamp(value, least_, most_) - least_; // of now, while the range is that of before
    if (range <= maxBuckets)
        return at;
    return std::min(maxBuckets - 1, static_cast<size_t>(static_cast<double>(at) / static_cast<double>(range) * maxBuckets));
}

void
ClusterFs::MapCells::Ranks::add(const uint64_t value)
{
    if (least_ > most_)
        return; // of the first clusters, written between two pieces
    if (counts_.empty())
        counts_.resize(std::min<uint64_t>(maxBuckets, most_ - least_ + 1));
    ++counts_[bucketOf(value)];
}

void
ClusterFs::MapCells::Ranks::finish()
{
    uint32_t below = 0;
    for (auto &count: counts_) {
        if (count)
            last_ = below;
        count = std::exchange(below, below + count);
    }
}

/// where a value stands among all: the least at 0, the most at 1, equal ones beside each other
double
ClusterFs::MapCells::Ranks::rankOf(const uint64_t value) const
{
    if (!last_)
        return 1.0;
    return std::min(1.0, static_cast<double>(counts_[bucketOf(value)]) / last_);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs map: a picture of a device. */

#include "Commands.h"
#include "Objects.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace ClusterFs::Cli {
namespace {

constexpr unsigned maxColumns = 50;
constexpr unsigned panelSide = 500; ///< pixels
constexpr unsigned panelStep = 580; ///< from one panel to the next
constexpr unsigned headHeight = 90; ///< title, and the first panel's own head

struct Colour {
    double red, green, blue;
};

constexpr Colour freeColour = {242, 242, 242};
constexpr Colour badColour = {214, 39, 40};
constexpr Colour logColour = {120, 120, 120};
constexpr Colour largeColour = {142, 107, 184};
constexpr Colour aloneColour = {240, 176, 77};
constexpr Colour groupedColour = {31, 111, 180};

/// a panel that shows one number for each cell, from 0 to 1
struct Ramp {
    const char *title;
    const char *least; ///< what 0 stands for
    const char *most;
    Colour from;
    Colour to;
};

constexpr Ramp ageRamp = {"Written", "long ago", "just now", {226, 240, 217}, {0, 90, 50}};
constexpr Ramp useRamp = {"Used", "long ago", "just now", {255, 243, 205}, {160, 20, 20}};
constexpr Ramp liveRamp = {"Part of each cluster that is still needed", "nothing", "all of it", {255, 255, 255}, {40, 40, 90}};

Colour
blend(const Colour &a, const Colour &b, const double share)
{
    return {a.red + (b.red - a.red) * share, a.green + (b.green - a.green) * share, a.blue + (b.blue - a.blue) * share};
}

/// one cluster, or several neighbours where there are too many for a picture
struct Cell {
    ClusterNo first = noCluster;
    ClusterNo last = noCluster;
    unsigned packed = 0; ///< clusters in each state
    unsigned large = 0;
    unsigned bad = 0;
    unsigned log = 0;
    uint64_t objects = 0;
    uint64_t grouped = 0; ///< those that lie in a group of two and more
    uint64_t groups = 0;
    uint64_t liveBytes = 0;
    double written = 0; ///< sum of the clusters' ranks among all, 1 = the latest
    double used = 0;
    uint32_t latest = 0; ///< write, seconds since 1970

    unsigned inUse() const { return packed + large; }
};

class Map
{
public:
    Map(const std::string &path, const OpenedIndex &);
    void print() const;

private:
    void add(Cell &, ClusterNo) const;
    void addObjects(Cell &, ClusterNo) const;
    template <typename Value> std::vector<double> ranks(Value) const;
    Colour contents(const Cell &) const;
    void printCell(unsigned panel, size_t number, const Colour &, const std::string &title) const;
    void printContents() const;
    void printRamp(unsigned panel, const Ramp &, double (*value)(const Cell &, double clusterBytes)) const;
    void printHead(unsigned panel, const std::string &title) const;
    void printKey(unsigned panel, unsigned at, const Colour &, const char *text) const;

    const std::string path_;
    const Catalog &catalog_;
    const double clusterBytes_;
    std::vector<double> writtenRank_;
    std::vector<double> usedRank_;
    std::vector<Cell> cells_;
    unsigned columns_ = 1;
};

Map::Map(const std::string &path, const OpenedIndex &opened):
    path_(path),
    catalog_(opened.view->catalog()),
    clusterBytes_(opened.superblock.geometry.clusterBytes)
{
    writtenRank_ = ranks([this](const ClusterNo n) { return catalog_.clusters()[n].sequence; });
    usedRank_ = ranks([this](const ClusterNo n) { return uint64_t(catalog_.clusters()[n].heat); });
    const auto count = catalog_.clusters().count();
    const auto perCell = (count + maxColumns * maxColumns - 1) / (maxColumns * maxColumns);
    for (ClusterNo n{0}; catalog_.clusters().has(n); ++n) {
        if (n.value() % perCell == 0) {
            cells_.emplace_back();
            cells_.back().first = n;
        }
        cells_.back().last = n;
        add(cells_.back(), n);
    }
    while (columns_ * columns_ < cells_.size())
        ++columns_;
}

/// where each cluster in use stands among them by a value: the least at 0, the most at 1
template <typename Value>
std::vector<double>
Map::ranks(const Value value) const
{
    std::vector<ClusterNo> order;
    for (ClusterNo n{0}; catalog_.clusters().has(n); ++n) {
        const auto state = catalog_.clusters()[n].state;
        if (state == ClusterState::packed || state == ClusterState::part)
            order.push_back(n);
    }
    std::stable_sort(order.begin(), order.end(), [&](const ClusterNo a, const ClusterNo b) { return value(a) < value(b); });
    std::vector<double> result(catalog_.clusters().count(), 0.0);
    for (size_t i = 0; i < order.size(); ++i)
        result[order[i].value()] = order.size() > 1 ? static_cast<double>(i) / static_cast<double>(order.size() - 1) : 1.0;
    return result;
}

void
Map::add(Cell &cell, const ClusterNo n) const
{
    const auto &c = catalog_.clusters()[n];
    if (c.state == ClusterState::bad) {
        ++cell.bad;
    } else if (c.state == ClusterState::log) {
        ++cell.log;
        return;
    } else if (c.state == ClusterState::part) {
        ++cell.large;
        cell.liveBytes += c.end;
    } else if (c.state == ClusterState::packed) {
        ++cell.packed;
        cell.liveBytes += c.liveBytes;
        addObjects(cell, n);
    } else {
        return;
    }
    cell.written += writtenRank_[n.value()];
    cell.used += usedRank_[n.value()];
    cell.latest = std::max(cell.latest, c.written);
}

void
Map::addObjects(Cell &cell, const ClusterNo n) const
{
    std::vector<std::pair<uint32_t, bool>> extents; // offset; of the same group as the one before
    for (auto slot = catalog_.clusters()[n].first; slot != noSlot; slot = catalog_.index()[slot].sibling) {
        const auto &record = catalog_.index()[slot];
        if (!record.dead())
            extents.emplace_back(record.offset(), record.flags() & flagJoined);
    }
    std::sort(extents.begin(), extents.end());
    cell.objects += extents.size();
    for (size_t i = 0; i < extents.size(); ++i) {
        const bool leads = i + 1 < extents.size() && extents[i + 1].second && (i == 0 || !extents[i].second);
        cell.groups += leads;
        cell.grouped += leads || (i > 0 && extents[i].second);
    }
}

Colour
Map::contents(const Cell &cell) const
{
    if (cell.bad)
        return badColour;
    if (cell.log)
        return logColour;
    if (!cell.inUse())
        return freeColour;
    const auto grouped = cell.objects ? static_cast<double>(cell.grouped) / static_cast<double>(cell.objects) : 0.0;
    const auto small = blend(aloneColour, groupedColour, grouped);
    const auto used = blend(small, largeColour, static_cast<double>(cell.large) / cell.inUse());
    return blend(freeColour, used, static_cast<double>(cell.inUse()) / (cell.last - cell.first + 1));
}

void
Map::printCell(const unsigned panel, const size_t number, const Colour &colour, const std::string &title) const
{
    const auto side = static_cast<double>(panelSide) / columns_;
    const auto x = (panel % 2) * panelStep + 30 + static_cast<double>(number % columns_) * side;
    const auto y = (panel / 2) * panelStep + headHeight + static_cast<double>(number / columns_) * side;
    printf("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%02x%02x%02x\"", x, y, side * 0.94, side * 0.94,
           static_cast<unsigned>(colour.red), static_cast<unsigned>(colour.green), static_cast<unsigned>(colour.blue));
    if (title.empty())
        printf("/>\n");
    else
        printf("><title>%s</title></rect>\n", title.c_str());
}

void
Map::printHead(const unsigned panel, const std::string &title) const
{
    printf("<text x=\"%u\" y=\"%u\" font-size=\"15\">%s</text>\n", (panel % 2) * panelStep + 30,
           (panel / 2) * panelStep + headHeight - 28, title.c_str());
}

/// a coloured square and what it stands for
void
Map::printKey(const unsigned panel, const unsigned at, const Colour &colour, const char *text) const
{
    const auto x = (panel % 2) * panelStep + 30 + at;
    const auto y = (panel / 2) * panelStep + headHeight - 20;
    printf("<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" stroke=\"#999\" stroke-width=\"0.5\" fill=\"#%02x%02x%02x\"/>"
           "<text x=\"%u\" y=\"%u\" font-size=\"12\">%s</text>\n", x, y, static_cast<unsigned>(colour.red),
           static_cast<unsigned>(colour.green), static_cast<unsigned>(colour.blue), x + 16, y + 10, text);
}

void
Map::printContents() const
{
    printHead(0, "What is in it");
    printKey(0, 0, groupedColour, "groups");
    printKey(0, 75, aloneColour, "single objects");
    printKey(0, 190, largeColour, "large objects");
    printKey(0, 300, freeColour, "free");
    printKey(0, 350, badColour, "out of use");
    printKey(0, 430, logColour, "index log");
    for (size_t i = 0; i < cells_.size(); ++i) {
        const auto &cell = cells_[i];
        std::string title = "cluster " + std::to_string(cell.first.value());
        if (cell.last != cell.first)
            title = "clusters " + std::to_string(cell.first.value()) + " to " + std::to_string(cell.last.value());
        if (cell.packed)
            title += ": " + std::to_string(cell.objects) + " objects, " + std::to_string(cell.grouped) + " of them in " +
                     std::to_string(cell.groups) + " groups";
        if (cell.large)
            title += ": " + std::to_string(cell.large) + " of large objects";
        if (cell.bad)
            title += ": " + std::to_string(cell.bad) + " out of use";
        if (cell.log)
            title += ": " + std::to_string(cell.log) + " of the index log";
        char when[32] = "";
        const time_t written = cell.latest;
        struct tm broken;
        if (cell.inUse() && gmtime_r(&written, &broken) && strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &broken))
            title += std::string(", written ") + when;
        printCell(0, i, contents(cell), title);
    }
}

void
Map::printRamp(const unsigned panel, const Ramp &ramp, double (*value)(const Cell &, double clusterBytes)) const
{
    printHead(panel, ramp.title);
    printKey(panel, 0, ramp.from, ramp.least);
    printKey(panel, 90, blend(ramp.from, ramp.to, 0.5), "");
    printKey(panel, 110, ramp.to, ramp.most);
    for (size_t i = 0; i < cells_.size(); ++i) {
        const auto share = cells_[i].inUse() ? std::clamp(value(cells_[i], clusterBytes_), 0.0, 1.0) : 0.0;
        printCell(panel, i, cells_[i].inUse() ? blend(ramp.from, ramp.to, share) : freeColour, "");
    }
}

void
Map::print() const
{
    std::string name;
    for (const auto ch: printable(path_))
        name += ch == '<' ? "&lt;" : ch == '&' ? "&amp;" : std::string(1, ch);
    const auto width = 2 * panelStep;
    const auto height = 2 * panelStep + headHeight - 60;
    printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" font-family=\"sans-serif\">\n"
           "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n"
           "<text x=\"30\" y=\"32\" font-size=\"18\">%s: %" PRIu64 " objects in %u clusters of %.0f KB, in the order of their place</text>\n",
           width, height, width, height, name.c_str(), catalog_.objects(), catalog_.clusters().count(), clusterBytes_ / 1024);
    printContents();
    printRamp(1, ageRamp, [](const Cell &cell, double) { return cell.written / cell.inUse(); });
    printRamp(2, useRamp, [](const Cell &cell, double) { return cell.used / cell.inUse(); });
    printRamp(3, liveRamp, [](const Cell &cell, const double clusterBytes) {
        return static_cast<double>(cell.liveBytes) / (clusterBytes * cell.inUse());
    });
    printf("</svg>\n");
}

int
runMap(const Words &words)
{
    Line line("map");
    if (!line.read(words))
        return exitFine;
    OpenedIndex opened;
    if (!openIndex(line.path(), false, opened))
        return exitCannot;
    Map(line.path(), opened).print();
    return exitFine;
}

} // namespace

extern const Command mapCommand = {
    "map", &runMap,
    "PATH",
    "Prints a picture of the device as SVG: the places of groups, single and large\n"
    "objects, the age and last use of each cluster, and the share of it that is still\n"
    "needed. Changes nothing."
};

} // namespace ClusterFs::Cli

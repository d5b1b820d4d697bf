// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs map: a picture of a device. */

#include "Commands.h"
#include "Manager.h"
#include "Objects.h"

#include "fs/cluster/squid/MapCells.h"
#include "fs/cluster/squid/ObjectText.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace ClusterFs::Cli {
namespace {

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

/// what the picture shows, of a stopped cache or a running one
struct Shown {
    std::string path;
    uint64_t objects = 0;
    uint64_t clusters = 0;
    uint64_t clusterBytes = 0;
    std::vector<MapCell> cells;
};

class Map
{
public:
    explicit Map(const Shown &);
    void print() const;

private:
    Colour contents(const MapCell &) const;
    void printCell(unsigned panel, size_t number, const Colour &, const std::string &title) const;
    void printContents() const;
    void printRamp(unsigned panel, const Ramp &, double (*value)(const MapCell &, double clusterBytes)) const;
    void printHead(unsigned panel, const std::string &title) const;
    void printKey(unsigned panel, unsigned at, const Colour &, const char *text) const;

    const Shown &shown_;
    unsigned columns_ = 1;
};

Map::Map(const Shown &shown):
    shown_(shown)
{
    while (columns_ * columns_ < shown_.cells.size())
        ++columns_;
}

Colour
Map::contents(const MapCell &cell) const
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
    for (size_t i = 0; i < shown_.cells.size(); ++i) {
        const auto &cell = shown_.cells[i];
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
Map::printRamp(const unsigned panel, const Ramp &ramp, double (*value)(const MapCell &, double clusterBytes)) const
{
    printHead(panel, ramp.title);
    printKey(panel, 0, ramp.from, ramp.least);
    printKey(panel, 90, blend(ramp.from, ramp.to, 0.5), "");
    printKey(panel, 110, ramp.to, ramp.most);
    for (size_t i = 0; i < shown_.cells.size(); ++i) {
        const auto share = shown_.cells[i].inUse() ? std::clamp(value(shown_.cells[i], static_cast<double>(shown_.clusterBytes)), 0.0, 1.0) : 0.0;
        printCell(panel, i, shown_.cells[i].inUse() ? blend(ramp.from, ramp.to, share) : freeColour, "");
    }
}

void
Map::print() const
{
    std::string name;
    for (const auto ch: printable(shown_.path))
        name += ch == '<' ? "&lt;" : ch == '&' ? "&amp;" : std::string(1, ch);
    const auto width = 2 * panelStep;
    const auto height = 2 * panelStep + headHeight - 60;
    printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" font-family=\"sans-serif\">\n"
           "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n"
           "<text x=\"30\" y=\"32\" font-size=\"18\">%s: %" PRIu64 " objects in %" PRIu64 " clusters of %" PRIu64 " KB, in the order of their place</text>\n",
           width, height, width, height, name.c_str(), shown_.objects, shown_.clusters, shown_.clusterBytes / 1024);
    printContents();
    printRamp(1, ageRamp, [](const MapCell &cell, double) { return cell.written / cell.inUse(); });
    printRamp(2, useRamp, [](const MapCell &cell, double) { return cell.used / cell.inUse(); });
    printRamp(3, liveRamp, [](const MapCell &cell, const double clusterBytes) {
        return static_cast<double>(cell.liveBytes) / (clusterBytes * cell.inUse());
    });
    printf("</svg>\n");
}

/// \returns false, with the reason printed, when that is not possible
bool
lookAtImage(const std::string &path, Shown &shown)
{
    OpenedIndex opened;
    if (!openIndex(path, false, opened))
        return false;
    const auto &catalog = opened.view->catalog();
    MapCells cells(catalog);
    while (cells.work())
        ;
    shown = {path, catalog.objects(), catalog.clusters().count(), opened.superblock.geometry.clusterBytes, cells.cells()};
    return true;
}

/// \returns false, with the reason printed, when that is not possible
bool
askSquid(const Manager &squid, const std::string &dir, Shown &shown)
{
    Manager::Lines lines;
    if (!squid.ask("clusterfs_map", dir.empty() ? "" : "dir", dir, lines) || !squid.whole(lines))
        return false;
    shown.path = valueOf(lines, "cache_dir");
    shown.objects = strtoull(valueOf(lines, "objects").c_str(), nullptr, 10);
    shown.clusters = strtoull(valueOf(lines, "clusters").c_str(), nullptr, 10);
    shown.clusterBytes = strtoull(valueOf(lines, "cluster bytes").c_str(), nullptr, 10);
    for (const auto &[name, value]: lines) {
        if (name != "cell")
            continue;
        shown.cells.emplace_back();
        if (shown.cells.size() > MapCells::maxColumns * MapCells::maxColumns || !shown.cells.back().parse(value)) {
            complain(squid.address() + ": this is no map: is Squid's clusterfs of another version?");
            return false;
        }
    }
    return true;
}

int
runMap(const Words &words)
{
    std::string dir;
    std::string passwordFile;
    Line line("map");
    line.section("Of a running Squid");
    line.text("dir", dir, "PATH", "the cache_dir, as squid.conf names it; needed when there are several");
    declarePassword(line, passwordFile);
    if (!line.read(words))
        return exitFine;
    const auto live = Manager::IsAddress(line.path());
    if (!live && !(dir + passwordFile).empty())
        throw BadRequest("--dir and --password-file are for a running Squid");
    Shown shown;
    if (live ? !askSquid(Manager(line.path(), passwordFile), dir, shown) : !lookAtImage(line.path(), shown))
        return exitCannot;
    Map(shown).print();
    return exitFine;
}

} // namespace

extern const Command mapCommand = {
    "map", &runMap,
    "PATH|SQUID [--dir=PATH] [--password-file=FILE]",
    "Prints a picture of a device as SVG: the places of groups, single and large\n"
    "objects, the age and last use of each cluster, and the share of it that is still\n"
    "needed. Changes nothing."
};

} // namespace ClusterFs::Cli

// SPDX-License-Identifier: GPL-2.0-or-later
/* Asking the kernel for free memory. */

#include "fs/cluster/base/SystemMemory.h"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <utility>

namespace ClusterFs {
namespace {

constexpr uint64_t lookMicros = 100000; ///< from one look to the next: a busy Squid takes a few MB in a quarter of a second
constexpr size_t mostGroups = 16; ///< of which the innermost count
constexpr uint64_t noLimit = uint64_t(1) << 60; ///< version 1 says so many bytes or more where there is no limit

/// the number that a file begins with
/// \returns false when it has none: a version 2 says "max" where there is no limit
bool
numberOf(const std::string &path, uint64_t &number)
{
    std::ifstream in(path);
    return static_cast<bool>(in >> number) && number < noLimit;
}

using Fields = std::initializer_list<std::pair<const char *, uint64_t &>>;

/// adds the numbers behind some names, each to its sum, in a file of lines with a name and a number each
/// \returns whether all of the names are there
bool
addFields(const std::string &path, const Fields fields)
{
    std::ifstream in(path);
    std::string name;
    uint64_t number = 0;
    size_t found = 0;
    while (found < fields.size() && in >> name >> number) {
        for (const auto &field: fields) {
            if (name == field.first) {
                field.second += number;
                ++found;
            }
        }
        in.ignore(std::numeric_limits<std::streamsize>::max(), '\n'); // a unit
    }
    return found == fields.size();
}

/// whether a list with commas has a word
bool
has(const std::string &list, const std::string &word)
{
    return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

} // namespace
} // namespace ClusterFs

uint64_t
ClusterFs::MemoryRoom::spare() const
{
    constexpr uint64_t MB = 1 << 20;
    const auto least = std::clamp(all / 16, MB, 6 * MB); // what comes until the next look does not depend on how much there is
    return std::clamp(all / 32, least, 256 * MB);
}

bool
ClusterFs::MemoryRoom::scarcerThan(const MemoryRoom &other) const
{
    return free + other.spare() < other.free + spare();
}

ClusterFs::SystemMemory::SystemMemory(const std::string &root):
    root_(root)
{
    std::ifstream in(root_ + "/proc/self/cgroup");
    std::string line;
    while (std::getline(in, line)) { // hierarchy:controllers:path
        const auto controllers = line.find(':') + 1;
        const auto path = line.find(':', controllers) + 1;
        if (!controllers || !path)
            continue;
        const auto names = line.substr(controllers, path - controllers - 1);
        const bool first = has(names, "memory");
        auto group = line.substr(path);
        if ((!first && !names.empty()) || group.empty() || group.front() != '/')
            continue;
        const auto base = root_ + "/sys/fs/cgroup" + (first ? "/memory" : "");
        std::vector<std::string> groups;
        for (; group.size() > 1 && groups.size() < mostGroups; group.erase(group.rfind('/')))
            groups.push_back(base + group + "/");
        groups.push_back(base + "/"); // in a container, this may be the group itself
        if (first || groups_.empty()) {
            groups_ = std::move(groups);
            first_ = first;
        }
        if (first)
            break; // where both versions are, memory belongs to this one
    }
}

ClusterFs::MemoryRoom
ClusterFs::SystemMemory::ofMachine() const
{
    MemoryRoom room;
    if (!addFields(root_ + "/proc/meminfo", {{"MemTotal:", room.all}, {"MemAvailable:", room.free}}))
        return MemoryRoom();
    room.all <<= 10;
    room.free <<= 10;
    return room;
}

ClusterFs::MemoryRoom
ClusterFs::SystemMemory::ofGroup(const std::string &folder) const
{
    MemoryRoom room;
    uint64_t used = 0;
    if (!numberOf(folder + (first_ ? "memory.limit_in_bytes" : "memory.max"), room.all) ||
        !numberOf(folder + (first_ ? "memory.usage_in_bytes" : "memory.current"), used))
        return MemoryRoom();
    uint64_t cached = 0; // pages of files, which the kernel can drop
    if (first_)
        addFields(folder + "memory.stat", {{"total_inactive_file", cached}, {"total_active_file", cached}});
    else
        addFields(folder + "memory.stat", {{"inactive_file", cached}, {"active_file", cached}, {"slab_reclaimable", cached}});
    used -= std::min(used, cached);
    room.free = room.all - std::min(room.all, used);
    return room;
}

bool
ClusterFs::SystemMemory::look(const uint64_t now, MemoryRoom &room)
{
    if (now < next_)
        return false;
    next_ = now + lookMicros;
    room = ofMachine();
    for (const auto &folder: groups_) {
        const auto group = ofGroup(folder);
        if (group.all && (!room.all || group.scarcerThan(room)))
            room = group;
    }
    return room.all > 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The option table and its strict parser. */

#include "fs/cluster/api/Config.h"

#include <algorithm>
#include <cctype>

namespace ClusterFs {
namespace {

/// a numeric option and its bounds
struct Number {
    const char *name;
    uint32_t Config::*field;
    uint32_t least;
    uint32_t most;
    bool live;
};

const Number Numbers[] = {
    {"cluster-size", &Config::clusterKb, 16, 16384, false},
    {"object-size", &Config::objectKb, 1, 16384, false},
    {"staging", &Config::stagingMb, 2, 65536, false},
    {"read-cache", &Config::readCacheMb, 2, 65536, true},
    {"locality", &Config::localityMb, 0, 65536, false},
    {"admit", &Config::admit, 1, Config::maxAdmit, true},
    {"file-lifetime", &Config::fileLifetime, 0, 4000000000U, true},
    {"cluster-lifetime", &Config::clusterLifetime, 0, 4000000000U, true},
    {"persist", &Config::persist, 1, 86400, true},
    {"delete-count", &Config::deleteCount, 1, 1000000, true},
    {"delete-time", &Config::deleteTime, 1, 86400, true},
    {"checkpoint", &Config::checkpoint, 1, 604800, true},
    {"depth", &Config::depth, 1, 128, true},
};

const char *const ReplacementNames[] = {"lru", "fifo", "gds"};
const char *const LayoutNames[] = {"closest", "closest-write", "overwrite", "middle"};

bool
parseNumber(const Number &option, const std::string &value, uint32_t &result, std::string &error)
{
    uint64_t n = 0;
    bool valid = !value.empty() && value.size() <= 10;
    for (const char c: value) {
        valid = valid && isdigit(static_cast<unsigned char>(c));
        if (valid)
            n = n * 10 + static_cast<uint64_t>(c - '0');
    }
    if (!valid || n < option.least || n > option.most) {
        error = std::string(option.name) + "=" + value + " is not a whole number from " +
                std::to_string(option.least) + " to " + std::to_string(option.most);
        return false;
    }
    result = static_cast<uint32_t>(n);
    return true;
}

/// finds value among names; the error lists them
template <size_t N>
bool
parseName(const char *option, const char *const (&names)[N], const std::string &value, size_t &result, std::string &error)
{
    std::string all;
    for (size_t i = 0; i < N; ++i) {
        if (value == names[i]) {
            result = i;
            return true;
        }
        all += std::string(i ? ", " : "") + names[i];
    }
    error = std::string(option) + "=" + value + " is none of: " + all;
    return false;
}

} // namespace
} // namespace ClusterFs

const std::vector<std::string> &
ClusterFs::Config::Names()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto &n: Numbers)
            all.push_back(n.name);
        all.push_back("replacement");
        all.push_back("layout");
        all.push_back("list");
        return all;
    }();
    return names;
}

bool
ClusterFs::Config::set(const std::string &name, const std::string &value, std::string &error)
{
    for (const auto &n: Numbers) {
        if (name == n.name)
            return parseNumber(n, value, this->*n.field, error);
    }
    size_t choice = 0;
    if (name == "replacement") {
        if (!parseName("replacement", ReplacementNames, value, choice, error))
            return false;
        replacement = static_cast<ReplacementPolicy>(choice);
        return true;
    }
    if (name == "layout") {
        if (!parseName("layout", LayoutNames, value, choice, error))
            return false;
        layout = static_cast<LayoutPolicy>(choice);
        return true;
    }
    if (name == "list") {
        static const char *const onOff[] = {"off", "on"};
        if (!parseName("list", onOff, value, choice, error))
            return false;
        list = choice == 1;
        return true;
    }
    error = "unknown option '" + name + "'";
    return false;
}

std::string
ClusterFs::Config::get(const std::string &name) const
{
    for (const auto &n: Numbers) {
        if (name == n.name)
            return std::to_string(this->*n.field);
    }
    if (name == "replacement")
        return ReplacementNames[static_cast<size_t>(replacement)];
    if (name == "layout")
        return LayoutNames[static_cast<size_t>(layout)];
    if (name == "list")
        return list ? "on" : "off";
    return std::string();
}

bool
ClusterFs::Config::Live(const std::string &name)
{
    for (const auto &n: Numbers) {
        if (name == n.name)
            return n.live;
    }
    return name == "replacement" || name == "layout";
}

bool
ClusterFs::Config::validate(std::string &error) const
{
    if (clusterKb & (clusterKb - 1)) {
        error = "cluster-size=" + std::to_string(clusterKb) + " is not a power of two";
        return false;
    }
    for (const auto &n: Numbers) {
        const auto mb = this->*n.field;
        if ((n.field != &Config::stagingMb && n.field != &Config::readCacheMb) || mb >= leastMb())
            continue;
        error = std::string(n.name) + "=" + std::to_string(mb) + " MB is too little for clusters of " + std::to_string(clusterKb) +
                " KB: raise it to " + std::to_string(leastMb()) + (leastMb() > 2 ? ", or choose a smaller cluster-size" : "");
        return false;
    }
    return true;
}

void
ClusterFs::Config::suitClusters()
{
    stagingMb = std::max(stagingMb, leastMb());
    readCacheMb = std::max(readCacheMb, leastMb());
}

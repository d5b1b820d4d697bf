// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs ring. */

#include "Carp.h"
#include "Commands.h"
#include "Output.h"

#include "fs/cluster/squid/ObjectText.h"

#include <algorithm>
#include <cstdio>

using namespace Tools;

namespace ClusterFs::Cli {
namespace {

constexpr unsigned samples = 20000; ///< URLs that stand for all
constexpr size_t pathMost = 8192; ///< bytes of a URL that Squid takes

/// URLs of many hosts, with paths and parameters
std::vector<std::string>
sampleUrls()
{
    std::vector<std::string> urls;
    for (unsigned n = 0; n < samples; ++n) {
        const auto number = std::to_string(n);
        urls.push_back("http://www" + number + ".example.com/folder/page" + number + ".html?id=" + number);
    }
    return urls;
}

/// the name of the peer of each URL, empty where none is
std::vector<std::string>
namesOf(const CarpRing &ring, const std::vector<std::string> &urls, const size_t dead = CarpRing::none)
{
    std::vector<std::string> names;
    for (const auto &url: urls) {
        const auto n = ring.choose(url, dead);
        names.push_back(n == CarpRing::none ? std::string() : ring.peers()[n].name);
    }
    return names;
}

double
percent(const size_t part, const size_t all)
{
    return 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

/// \returns which share of them has changed, in percent
double
moved(const std::vector<std::string> &before, const std::vector<std::string> &after)
{
    size_t count = 0;
    for (size_t i = 0; i < before.size(); ++i)
        count += before[i] != after[i];
    return percent(count, before.size());
}

CarpRing
without(const CarpRing &ring, const size_t n)
{
    auto peers = ring.peers();
    peers.erase(peers.begin() + static_cast<std::ptrdiff_t>(n));
    return CarpRing(std::move(peers));
}

/// one more peer like the last one, in front of all or behind all
CarpRing
grown(const CarpRing &ring, const bool inFront)
{
    auto peers = ring.peers();
    auto added = peers.back();
    added.name = "one-more.example.com";
    added.weight = inFront ? peers.front().weight : peers.back().weight;
    peers.insert(inFront ? peers.begin() : peers.end(), added);
    return CarpRing(std::move(peers));
}

/// what there is to say of a ring
Json
describe(const CarpRing &ring)
{
    const auto urls = sampleUrls();
    const auto before = namesOf(ring, urls);
    Json peers = Json::array();
    for (size_t n = 0; n < ring.peers().size(); ++n) {
        const auto &peer = ring.peers()[n];
        const auto has = std::count(before.begin(), before.end(), peer.name);
        peers.push_back({
            {"name", bytesText(peer.name)}, {"weight", peer.weight}, {"percent", percent(static_cast<size_t>(has), urls.size())},
            {"moved_when_dead_percent", moved(before, namesOf(ring, urls, n))},
            {"moved_without_line_percent", moved(before, namesOf(without(ring, n), urls))}
        });
    }
    return {
        {"peers", peers}, {"moved_by_one_more_behind_percent", moved(before, namesOf(grown(ring, false), urls))},
        {"moved_by_one_more_in_front_percent", moved(before, namesOf(grown(ring, true), urls))}
    };
}

void
print(const Json &ring)
{
    printf("                           share of  moves when    moves when its\n");
    printf("peer               weight   URLs, %%  it is dead  line is removed\n");
    for (const auto &peer: ring["peers"])
        printf("%-20s %4d  %8.1f  %10.1f  %15.1f\n", printable(peer["name"].get<std::string>()).c_str(), peer["weight"].get<int>(),
               peer["percent"].get<double>(), peer["moved_when_dead_percent"].get<double>(), peer["moved_without_line_percent"].get<double>());
    printf("one more peer moves %.1f %% of the URLs if its line comes last, %.1f %% if it comes first\n",
           ring["moved_by_one_more_behind_percent"].get<double>(), ring["moved_by_one_more_in_front_percent"].get<double>());
}

CarpRing
ringOf(const std::string &path)
{
    auto ring = CarpRing::Read(path);
    if (ring.peers().empty())
        throw BadRequest(path + ": no cache_peer line has carp");
    return ring;
}

int
runRing(const Words &words)
{
    const auto *command = findCommand("ring");
    CommandLine line(std::string("clusterfs ring ") + command->usage + "\n\n" + command->purpose);
    std::vector<std::string> given;
    std::string against;
    bool json = false;
    line.words(given);
    line.text("against", against, "CONF", "another squid.conf: which URLs move from the one to the other");
    line.flag("json", json, "print one JSON object");
    if (!line.read(words))
        return exitFine;
    if (given.empty() || given[0].empty())
        throw BadRequest("name a squid.conf");
    const auto ring = ringOf(given[0]);
    const auto other = against.empty() ? CarpRing() : ringOf(against);
    std::vector<std::string> urls;
    for (size_t i = 1; i < given.size(); ++i) {
        if (given[i].size() > pathMost)
            throw BadRequest("a URL has " + std::to_string(given[i].size()) + " bytes: Squid takes " + std::to_string(pathMost));
        urls.push_back(canonical(given[i]));
    }
    auto found = describe(ring);
    if (!against.empty())
        found["moved_against_percent"] = moved(namesOf(ring, sampleUrls()), namesOf(other, sampleUrls()));
    const auto names = namesOf(ring, urls);
    const auto others = namesOf(other, urls);
    found["urls"] = Json::array();
    for (size_t i = 0; i < urls.size(); ++i) {
        Json url = {{"url", bytesText(given[i + 1])}, {"peer", bytesText(names[i])}};
        if (!against.empty())
            url["peer_against"] = bytesText(others[i]);
        found["urls"].push_back(url);
        if (!json)
            printf("%s\t%s%s%s\n", printable(given[i + 1]).c_str(), printable(names[i]).c_str(), against.empty() ? "" : "\t", printable(others[i]).c_str());
    }
    if (json)
        puts(jsonText(found).c_str());
    else if (urls.empty())
        print(found);
    if (!json && urls.empty() && !against.empty())
        printf("%s has %.1f %% of the URLs on other peers\n", printable(against).c_str(), found["moved_against_percent"].get<double>());
    return exitFine;
}

} // namespace

extern const Command ringCommand = {
    "ring", &runRing,
    "CONF [URL...] [--against=CONF] [--json]",
    "Says which cache_peer with the option carp a Squid with this squid.conf asks for each URL.\n"
    "Without URLs, it says the share of each peer, and how many URLs move when one dies, is\n"
    "removed or is added, or to the peers of another squid.conf."
};

} // namespace ClusterFs::Cli

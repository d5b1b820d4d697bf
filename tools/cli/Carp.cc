// SPDX-License-Identifier: GPL-2.0-or-later
/* Squid's rule of CARP, and the lines of squid.conf that it is applied to. */

#include "Carp.h"
#include "Commands.h"

#include "tools/base/Text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <glob.h>

using namespace Tools;

namespace ClusterFs::Cli {
namespace {

constexpr uint32_t factor = 0x62531965;
constexpr unsigned deepestInclude = 16; ///< as Squid

uint32_t
rotated(const uint32_t value, const unsigned bits)
{
    return value << bits | value >> (32 - bits);
}

/// adds a text to a hash
uint32_t
added(uint32_t hash, const std::string_view text)
{
    for (const auto c: text)
        hash += rotated(hash, 19) + static_cast<uint32_t>(static_cast<signed char>(c));
    return hash;
}

uint32_t
mixed(uint32_t hash)
{
    hash += hash * factor;
    return rotated(hash, 21);
}

/// a canonical URL, taken apart
struct Parts {
    std::string_view scheme, host, port, path, params; ///< params with their ?

    explicit Parts(const std::string_view url) {
        const auto colon = url.find("://");
        scheme = url.substr(0, colon);
        const auto rest = url.substr(colon + 3);
        const auto slash = rest.find('/');
        host = rest.substr(0, slash);
        path = rest.substr(slash);
        const auto question = path.find('?');
        if (question != path.npos) {
            params = path.substr(question);
            path = path.substr(0, question);
        }
        const auto end = host.rfind(':');
        if (end != host.npos && host.find(']', end) == host.npos) {
            port = host.substr(end + 1);
            host = host.substr(0, end);
        } else {
            port = scheme == "https" ? "443" : scheme == "ftp" ? "21" : "80";
        }
    }
};

/// what of a URL decides for this peer
std::string
keyFor(const CarpPeer &peer, const std::string_view url, const Parts &parts)
{
    std::string key;
    if (peer.scheme)
        key.append(parts.scheme).append("://");
    if (peer.host)
        key.append(parts.host);
    if (peer.port)
        key.append(":").append(parts.port);
    if (peer.path)
        key.append(parts.path);
    if (peer.params)
        key.append(parts.params);
    return key.empty() ? std::string(url) : key;
}

/// reads the cache_peer lines of files
class Reader
{
public:
    void read(const std::string &path, unsigned depth);
    std::vector<CarpPeer> peers;

private:
    void take(const std::string &line, const std::string &place, unsigned depth);
    void takePeer(const std::vector<std::string_view> &words, const std::string &place);
    static void takeKey(std::string_view names, CarpPeer &, const std::string &place);
};

void
Reader::takeKey(const std::string_view names, CarpPeer &peer, const std::string &place)
{
    const auto begins = [](const std::string_view text, const std::string_view with) { return text.substr(0, with.size()) == with; };
    for (const auto name: split(names, ',')) {
        if (begins(name, "scheme")) // Squid, too, takes what begins like that
            peer.scheme = true;
        else if (begins(name, "host"))
            peer.host = true;
        else if (begins(name, "port"))
            peer.port = true;
        else if (begins(name, "path"))
            peer.path = true;
        else if (begins(name, "params"))
            peer.params = true;
        else
            throw BadRequest(place + "carp-key: " + shown(name) + " is not one of scheme, host, port, path, params");
    }
}

void
Reader::takePeer(const std::vector<std::string_view> &words, const std::string &place)
{
    if (words.size() < 5)
        throw BadRequest(place + "a cache_peer has a host, a type and two ports");
    CarpPeer peer;
    peer.name = words[1];
    bool carp = false;
    for (size_t i = 5; i < words.size(); ++i) {
        const auto equals = words[i].find('=');
        const auto name = words[i].substr(0, equals);
        const auto value = equals == words[i].npos ? std::string_view() : words[i].substr(equals + 1);
        if (name == "carp" && value.empty()) {
            carp = true;
        } else if (name == "carp-key") {
            if (!carp)
                throw BadRequest(place + "carp-key stands before carp: Squid refuses that");
            takeKey(value, peer, place);
        } else if (name == "weight") {
            peer.weight = std::max(1, static_cast<int>(wholeFrom(place + "weight", std::string(value), 0, 1000000))); // as Squid
        } else if (name == "name") {
            peer.name = value;
        }
    }
    if (!carp)
        return;
    if (!equalNoCase(words[2], "parent"))
        throw BadRequest(place + "carp is for parents: Squid refuses " + shown(words[2]));
    for (const auto &other: peers) {
        if (other.name == peer.name)
            throw BadRequest(place + "there are two peers with the name " + shown(peer.name) + ": give them name=");
    }
    peers.push_back(peer);
}

void
Reader::take(const std::string &line, const std::string &place, const unsigned depth)
{
    auto text = line;
    std::replace(text.begin(), text.end(), '\t', ' ');
    auto words = splitWords(text);
    const auto comment = std::find_if(words.begin(), words.end(), [](const auto word) { return !word.empty() && word[0] == '#'; });
    words.erase(comment, words.end());
    if (words.empty())
        return;
    if (words[0] == "cache_peer") {
        takePeer(words, place);
    } else if (words[0] == "include") {
        for (size_t i = 1; i < words.size(); ++i) {
            glob_t found;
            const auto code = glob(std::string(words[i]).c_str(), 0, nullptr, &found);
            const std::vector<std::string> names(found.gl_pathv, found.gl_pathv + (code ? 0 : found.gl_pathc));
            globfree(&found);
            if (code)
                throw BadRequest(place + "include " + std::string(words[i]) + ": there is no such file");
            for (const auto &name: names)
                read(name, depth + 1);
        }
    }
}

void
Reader::read(const std::string &path, const unsigned depth)
{
    if (depth > deepestInclude)
        throw BadRequest(path + ": files include each other more than " + std::to_string(deepestInclude) + " times");
    errno = 0;
    std::ifstream file(path);
    if (!file)
        throw BadRequest(path + ": " + strerror(errno ? errno : EIO));
    std::string line, whole;
    unsigned number = 0, begin = 1;
    while (std::getline(file, line)) {
        ++number;
        if (!line.empty() && line.back() == '\r')
            line.pop_back();
        if (!line.empty() && line.back() == '\\') { // goes on in the next one
            whole += line.substr(0, line.size() - 1);
            continue;
        }
        take(whole + line, path + ": line " + std::to_string(begin) + ": ", depth);
        whole.clear();
        begin = number + 1;
    }
    if (file.bad())
        throw BadRequest(path + ": it cannot be read; name a file");
}

} // namespace

CarpRing
CarpRing::Read(const std::string &path)
{
    Reader reader;
    reader.read(path, 0);
    return CarpRing(std::move(reader.peers));
}

CarpRing::CarpRing(std::vector<CarpPeer> peers):
    peers_(std::move(peers))
{
    std::stable_sort(peers_.begin(), peers_.end(), [](const auto &a, const auto &b) { return a.weight < b.weight; });
    double weights = 0;
    for (const auto &peer: peers_)
        weights += peer.weight;
    // the multipliers of the CARP draft, version 1.1: such that each peer gets its share
    double shareBefore = 0, product = 1, before = 0;
    auto left = static_cast<double>(peers_.size());
    for (auto &peer: peers_) {
        peer.hash = mixed(added(0, peer.name));
        auto share = peer.weight / weights;
        if (std::floor(share * 1000) == 0)
            share = 0;
        peer.multiplier = std::pow(left * (share - shareBefore) / product + std::pow(before, left), 1 / left);
        product *= peer.multiplier;
        before = peer.multiplier;
        shareBefore = share;
        --left;
    }
}

size_t
CarpRing::choose(const std::string_view url, const size_t dead) const
{
    const Parts parts(url);
    size_t best = none;
    double highest = 0;
    uint32_t hash = 0; // Squid does not begin anew for each peer
    for (size_t n = 0; n < peers_.size(); ++n) {
        const auto &peer = peers_[n];
        hash = added(hash, keyFor(peer, url, parts));
        const auto score = mixed(hash ^ peer.hash) * peer.multiplier;
        if (score > highest && n != dead) {
            best = n;
            highest = score;
        }
    }
    return best;
}

std::string
canonical(const std::string &url)
{
    const auto colon = url.find("://");
    const auto bad = [&url](const char *const why) { return BadRequest(shown(url) + ": " + why + ". Name an absolute URL, such as http://www.example.com/page"); };
    if (colon == url.npos || !colon)
        throw bad("it has no scheme");
    auto scheme = url.substr(0, colon);
    const auto slash = url.find_first_of("/?#", colon + 3);
    auto host = url.substr(colon + 3, slash == url.npos ? slash : slash - colon - 3);
    auto path = slash == url.npos ? "" : url.substr(slash);
    host.erase(0, host.rfind('@') + 1);
    const auto lower = [](const unsigned char c) { return static_cast<char>(std::tolower(c)); };
    std::transform(scheme.begin(), scheme.end(), scheme.begin(), lower);
    std::transform(host.begin(), host.end(), host.begin(), lower);
    const std::string port = scheme == "https" ? ":443" : scheme == "ftp" ? ":21" : ":80";
    if (host.size() > port.size() && host.substr(host.size() - port.size()) == port)
        host.resize(host.size() - port.size());
    if (host.empty())
        throw bad("it has no host");
    if (path.empty() || path[0] != '/')
        path.insert(0, 1, '/');
    return scheme + "://" + host + path;
}

} // namespace ClusterFs::Cli

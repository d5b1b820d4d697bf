// SPDX-License-Identifier: GPL-2.0-or-later
/* Which cache_peer Squid chooses for a URL by the Cache Array Routing Protocol. */

#ifndef CLUSTERFS_TOOLS_CLI_CARP_H
#define CLUSTERFS_TOOLS_CLI_CARP_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ClusterFs::Cli {

/// one cache_peer with the option carp
struct CarpPeer {
    std::string name; ///< that of name=, else the host
    int weight = 1; ///< at least 1: Squid takes 0 for 1
    /// the parts of a URL that carp-key= names; none: the whole URL
    bool scheme = false, host = false, port = false, path = false, params = false;
    uint32_t hash = 0; ///< of the name
    double multiplier = 0; ///< of its scores
};

/// The peers of a squid.conf, and the rule of Squid's src/carp.cc (series 6 and 7), repeated bit by bit: the
/// hash of the key goes on from peer to peer, so that the order of the lines counts.
class CarpRing
{
public:
    CarpRing() = default;
    /// \param peers in the order of their lines
    explicit CarpRing(std::vector<CarpPeer> peers);

    /// Takes the cache_peer lines of a file, and of the files that it includes.
    /// \throws BadRequest with file and line, when a line is not as Squid takes it or a file cannot be read
    static CarpRing Read(const std::string &path);

    static constexpr size_t none = SIZE_MAX;

    /// \param url absolute, as Squid has it: see canonical()
    /// \param dead a peer that does not answer, or none
    /// \returns the number of the peer, or none
    size_t choose(std::string_view url, size_t dead = none) const;

    /// in the order in which they are asked: by weight, then as their lines came
    const std::vector<CarpPeer> &peers() const { return peers_; }

private:
    std::vector<CarpPeer> peers_;
};

/// A URL as Squid has it after parsing: host in lower case, no default port, a path.
/// \throws BadRequest when it is not absolute
std::string canonical(const std::string &url);

} // namespace ClusterFs::Cli

#endif

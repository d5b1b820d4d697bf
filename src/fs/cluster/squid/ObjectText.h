// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts of an object, as the manager's pages and the clusterfs tool write them. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_OBJECTTEXT_H
#define SQUID_SRC_FS_CLUSTER_SQUID_OBJECTTEXT_H

#include "fs/cluster/base/Types.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ClusterFs {

/* Swap metadata: what Squid writes in front of each response in its store (src/store/SwapMeta.h) */
constexpr char swapMetaMagic = 3; ///< the first byte
constexpr char swapMetaUrl = 4; ///< the type of the field with the URL

/// Finds the URL in an object's first bytes: a magic byte, the size of all metadata, then fields of a type byte, a size
/// and a value. Sizes are native ints.
/// \returns false when these are no such bytes or have no URL
bool findStoredUrl(const char *object, size_t size, std::string &url);

/// text whose control characters, backslashes and bytes beyond ASCII are written as \xNN
std::string printable(const std::string &);

/// the text of which printable() made this one
std::string unprintable(const std::string &);

/// the key of which Key::hex() made this text; nothing when it did not
std::optional<Key> keyIn(const std::string &hex);

/// the names of an object's flags
std::vector<std::string> flagNames(uint8_t flags);

/// the same, separated by commas; a dash when there are none; and back
std::string flagText(uint8_t flags);
uint8_t flagsIn(const std::string &text);

/// An object as clusterfs dump and clusterfs list show it. The line has these fields in their order, separated by tabs, with
/// a dash for each that is not known.
struct ObjectLine {
    std::string key; ///< hexadecimal
    std::optional<std::string> url; ///< printable(); an object without metadata has none, and one may have an empty one
    ObjectInfo info;
    ClusterNo cluster = noCluster;
    uint32_t offset = 0; ///< of the extent in the cluster, bytes; not known without a cluster
    std::string state;

    std::string text() const;
    /// \returns false when the text is no such line
    bool parse(const std::string &text);
};

} // namespace ClusterFs

#endif

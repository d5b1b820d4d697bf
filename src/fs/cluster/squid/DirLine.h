// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of a cache_dir line behind its path. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_DIRLINE_H
#define SQUID_SRC_FS_CLUSTER_SQUID_DIRLINE_H

#include "fs/cluster/api/Config.h"

#include <cstdint>
#include <set>
#include <string>

namespace ClusterFs {

/// A size, which may be left out, and options: our own ones, and those of Store::Disk, which
/// parses them but does not check them. All are checked strictly; errors name option and value.
class DirLine
{
public:
    /// whether the word behind the path is meant to be a size; options do not start with a digit
    static bool MeansSize(const char *word);

    /// takes the size
    /// \param word MB
    /// \returns false with the reason in error
    bool takeSize(const std::string &word, std::string &error);

    /// whether an option is one of Store::Disk's
    static bool IsOfDisk(const std::string &name);

    /// Takes an option of ours, or checks one of Store::Disk's.
    /// \param value nil when the option has none
    /// \returns false with the reason in error
    bool takeOption(const std::string &name, const char *value, std::string &error);

    /// whether the line has an option, even with its default value
    bool has(const std::string &name) const { return names_.count(name); }

    Config config; ///< from our options
    uint64_t sizeMb = 0; ///< MB; 0 = the whole device

private:
    std::set<std::string> names_; ///< of the options taken so far
};

} // namespace ClusterFs

#endif

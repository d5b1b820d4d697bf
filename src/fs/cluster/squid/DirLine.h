// SPDX-License-Identifier: GPL-2.0-or-later
/* What a cache_dir line says behind its path. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_DIRLINE_H
#define SQUID_SRC_FS_CLUSTER_SQUID_DIRLINE_H

#include "fs/cluster/api/Config.h"

#include <cstdint>
#include <set>
#include <string>

namespace ClusterFs {

/// A size, maybe, and options: our own ones, and those of Store::Disk, which parses them but
/// does not check them. All is taken strictly; errors name the option and the value.
class DirLine
{
public:
    /// whether the word behind the path is meant to be a size; options do not start with a digit
    static bool MeansSize(const char *word);

    /// takes the size; \returns false with the reason in error
    bool takeSize(const std::string &word, std::string &error);

    /// whether an option is one of Store::Disk's
    static bool IsOfDisk(const std::string &name);

    /// Takes an option of ours, or checks one of Store::Disk's.
    /// \param value may be nil
    /// \returns false with the reason in error
    bool takeOption(const std::string &name, const char *value, std::string &error);

    /// whether the line has an option; it may give the default
    bool has(const std::string &name) const { return names_.count(name); }

    Config config; ///< the options that are ours
    uint64_t sizeMb = 0; ///< 0 = all there is

private:
    std::set<std::string> names_; ///< of the options so far
};

} // namespace ClusterFs

#endif

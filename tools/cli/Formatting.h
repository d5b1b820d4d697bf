// SPDX-License-Identifier: GPL-2.0-or-later
/* Making an empty cache, with all that is looked at before: for format and setup. */

#ifndef CLUSTERFS_TOOLS_CLI_FORMATTING_H
#define CLUSTERFS_TOOLS_CLI_FORMATTING_H

#include "Commands.h"

#include "fs/cluster/api/Config.h"
#include "fs/cluster/device/PathCheck.h"

#include <pwd.h>

#include <cstdint>
#include <map>
#include <string>

namespace ClusterFs {
struct Option;
}

namespace ClusterFs::Cli {

/// what was asked for, understood
struct FormatOrder {
    std::string path;
    Config config;
    uint64_t bytes = 0; ///< 0 = all there is
    bool force = false;
    const struct passwd *owner = nullptr; ///< nil = leave it
    bool asOwner = false; ///< the owner writes to it, not root: shows that Squid will be able to
    FileId id; ///< what the path led to when it was examined
};

/// The options of a command line that describe the cache: --size, and those of cache_dir that count when a device is formatted.
class FormatOptions
{
public:
    /// adds them to a command line, which is read while this lives
    explicit FormatOptions(Line &);

    /// puts them, and the path, into an order; \throws BadRequest
    void fill(const Line &, FormatOrder &) const;

private:
    std::string size_;
    std::map<const Option *, std::string> values_;
};

/// \returns the user of that name, \throws BadRequest when there is none
const struct passwd *userNamed(const std::string &);

/// Whether it may be formatted: it is blank or force was given, nobody uses it, and it can be written everywhere. Changes nothing.
/// \param already receives whether it is a cache that shall stay as it is
/// \param error receives the reason and the way out
bool permitted(FormatOrder &, bool &already, std::string &error);

/// Makes the file if there is none, formats it unless it is a cache already, and gives it to its owner.
/// \param already receives whether it was a cache, which was left as it was
/// \param error receives the reason unless exitFine is returned
/// \returns exitFine or exitCannot
int makeCache(FormatOrder &, bool &already, std::string &error);

} // namespace ClusterFs::Cli

#endif

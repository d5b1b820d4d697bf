// SPDX-License-Identifier: GPL-2.0-or-later
/* Making an empty cache, with all that is looked at before: for the library, and for the tool's format and setup. */

#ifndef CLUSTERFS_SRC_LIB_FORMATTING_H
#define CLUSTERFS_SRC_LIB_FORMATTING_H

#include "fs/cluster/api/Config.h"
#include "fs/cluster/base/Types.h"
#include "fs/cluster/device/PathCheck.h"

#include <pwd.h>

#include <cstdint>
#include <string>

namespace ClusterFs::Library {

/// what was asked for, understood
struct FormatOrder {
    std::string path;
    Config config;
    uint64_t bytes = 0; ///< 0 = all there is
    bool force = false;
    const struct passwd *owner = nullptr; ///< nil = leave it
    bool asOwner = false; ///< the owner writes to it, not root: shows that Squid will be able to
    Log log; ///< receives warnings of the device
    std::string sizeName = "a size"; ///< what the caller calls it, for messages
    FileId id; ///< what the path led to when it was examined
    bool foreign = false; ///< it was refused because of what is on it
};

/// Whether it may be formatted: it is blank or force was given, nobody uses it, and it can be written everywhere. Changes nothing.
/// \param already receives whether it is a cache that shall stay as it is
/// \param error receives the reason and the way out
bool permitted(FormatOrder &, bool &already, std::string &error);

/// Makes the file if there is none, formats it unless it is a cache already, and gives it to its owner.
/// \param already receives whether it was a cache, which was left as it was
/// \param error receives the reason unless ok is returned
/// \returns ok, notOurs (it holds something else, which force would overwrite) or ioError
Status makeCache(FormatOrder &, bool &already, std::string &error);

} // namespace ClusterFs::Library

#endif

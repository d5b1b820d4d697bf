// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of commands that make an empty cache: format and setup. */

#ifndef CLUSTERFS_TOOLS_CLI_FORMATTING_H
#define CLUSTERFS_TOOLS_CLI_FORMATTING_H

#include "Commands.h"

#include "lib/Formatting.h"

#include <map>
#include <string>

namespace ClusterFs {
struct Option;
}

namespace ClusterFs::Cli {

using Library::FormatOrder;
using Library::makeCache;
using Library::permitted;

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

} // namespace ClusterFs::Cli

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of options. */

#ifndef SQUID_SRC_FS_CLUSTER_API_OPTIONS_H
#define SQUID_SRC_FS_CLUSTER_API_OPTIONS_H

#include "fs/cluster/api/Config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ClusterFs {

/// An option of cache_dir. Parsers, mgr:config and all documents take names, bounds and texts from here.
struct Option {
    enum class Group : uint8_t { format, memory, policy, persistence, device };

    /// when a new value counts: after the device was formatted anew, from the next start on, or at once
    enum class Effect : uint8_t { format, start, live };

    const char *name; ///< in squid.conf
    Group group; ///< documents show the options of a group together
    Effect effect;

    const char *unit; ///< of a number: KB, MB, SECONDS, or N of other things; empty when there are choices
    uint32_t least; ///< of a number
    uint32_t most; ///< of a number
    std::vector<const char *> choices; ///< names of the values, by number; empty for a number

    const char *brief; ///< a phrase, for one line
    const char *more; ///< sentences behind it, or empty
    const char *defaultFrom; ///< the directive of squid.conf from which Squid takes the default, or empty

    uint32_t (*read)(const Config &); ///< the number, or the number of the choice
    void (*write)(Config &, uint32_t); ///< sets a value that read() may return, within the bounds

    /// the value in a configuration, as take() takes it
    std::string valueIn(const Config &) const;

    /// the default as take() takes it; with defaultFrom, Config::usualObjectKb, which is that of the directive
    std::string defaultValue() const;

    /// sets the value from text, strictly, and with memory, what its share gives others
    /// \returns false with the reason in error
    bool take(Config &, const std::string &value, std::string &error) const;
};

/// all options, in the order in which mgr:config shows them
const std::vector<Option> &options();

/// \returns nil when no option has that name
const Option *findOption(const std::string &name);

} // namespace ClusterFs

#endif

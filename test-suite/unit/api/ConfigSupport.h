// SPDX-License-Identifier: GPL-2.0-or-later
/* The options and their bounds, as the documentation promises them. */

#ifndef SQUID_TEST_SUITE_UNIT_API_CONFIGSUPPORT_H
#define SQUID_TEST_SUITE_UNIT_API_CONFIGSUPPORT_H

#include "fs/cluster/api/Config.h"

#include <cstdint>
#include <vector>

namespace ClusterFs {
namespace Testing {

/// an option that is a number
struct Numeric {
    const char *name;
    uint64_t least;
    uint64_t most;
    bool live;
};

const Numeric numbers[] = {
    {"cluster-size", 16, 16384, false},
    {"object-size", 1, 16384, false},
    {"staging", 2, 65536, false},
    {"read-cache", 2, 65536, true},
    {"locality", 0, 65536, false},
    {"admit", 1, 7, true},
    {"file-lifetime", 0, 4000000000U, true},
    {"cluster-lifetime", 0, 4000000000U, true},
    {"persist", 1, 86400, true},
    {"delete-count", 1, 1000000, true},
    {"delete-time", 1, 86400, true},
    {"checkpoint", 1, 604800, true},
    {"depth", 1, 128, true},
};

/// an option that is one of some words
struct Words {
    const char *name;
    std::vector<const char *> values;
    bool live;
};

const Words choices[] = {
    {"replacement", {"lru", "fifo", "gds"}, true},
    {"layout", {"closest", "closest-write", "overwrite", "middle"}, true},
    {"list", {"off", "on"}, false},
};

} // namespace Testing
} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* What a store is opened with. */

#ifndef CLUSTERFS_SRC_LIB_OPTIONS_H
#define CLUSTERFS_SRC_LIB_OPTIONS_H

#include "fs/cluster/api/Config.h"
#include "lib/Name.h"
#include "lib/Policies.h"

#include <memory>

/// the handle of the C interface
struct clusterfs_options {
    clusterfs_options() { config.list = true; } // a library that could not list its objects would surprise people

    ClusterFs::Config config;
    std::shared_ptr<const ClusterFs::Library::Policies> policies; ///< of the program, or nil
    ClusterFs::Library::KeyMaker makeKey = &ClusterFs::Library::digestOf; ///< only tests have another one
};

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The handles of the C interface. */

#ifndef CLUSTERFS_SRC_LIB_HANDLES_H
#define CLUSTERFS_SRC_LIB_HANDLES_H

#include "clusterfs/clusterfs.h"
#include "lib/Queue.h"
#include "lib/Store.h"

#include <atomic>
#include <memory>
#include <vector>

struct clusterfs_store {
    std::shared_ptr<ClusterFs::Library::Store> store;
};

struct clusterfs_object {
    explicit clusterfs_object(std::unique_ptr<ClusterFs::Library::Object> o): object(std::move(o)) {}

    const std::unique_ptr<ClusterFs::Library::Object> object;
    std::atomic<unsigned> holders{1};
};

struct clusterfs_writer {
    std::shared_ptr<ClusterFs::Library::Store> store;
    ClusterFs::Library::Service *service; ///< of the store
    uint64_t number; ///< in Service::writers
};

struct clusterfs_walk {
    std::shared_ptr<ClusterFs::Library::Store> store;
    ClusterFs::Library::WalkJob::Way way;
    uint64_t group; ///< whose members it finds
    size_t device; ///< the one that it is at
    uint64_t cursor; ///< of WalkJob
    std::vector<ClusterFs::Library::WalkJob::Found> found;
    size_t at; ///< the next one of found
};

struct clusterfs_queue {
    std::shared_ptr<ClusterFs::Library::Queue> queue;
};

#endif

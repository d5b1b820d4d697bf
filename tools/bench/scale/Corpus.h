// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects that can be made anew from their numbers, and clusters that hold them. */

#ifndef CLUSTERFS_BENCH_SCALE_CORPUS_H
#define CLUSTERFS_BENCH_SCALE_CORPUS_H

#include "fs/cluster/layout/Cluster.h"

namespace ScaleBench {

/// the key of an object; any two numbers have different ones
ClusterFs::Key keyOf(uint64_t number);

/// the bytes of an object: its key, over and over
void fillPayload(char *to, size_t size, const ClusterFs::Key &);

/// What a made store holds before its engine is started for the first time: clusters that are
/// full of objects of one size, numbered in the order in which they lie. Behind them, if it is
/// to have died while it moved objects, are clusters with newer copies of some of them.
struct Corpus {
    ClusterFs::Geometry geometry;
    ClusterFs::Uuid uuid{};
    uint32_t objectBytes = 0; ///< of each
    uint64_t objects = 0;
    uint64_t copies = 0; ///< objects that were moved and of which the log has the older copy
    ClusterFs::ClusterNo first{0}; ///< cluster with the first objects
    int64_t made = 0; ///< seconds since 1970

    uint32_t inCluster() const; ///< objects
    uint32_t clusters() const; ///< that hold the objects
    uint32_t clustersOfCopies() const; ///< behind those

    /// \returns the extent's offset of the i-th object of a cluster that holds so many
    static uint32_t OffsetOf(uint32_t i, uint32_t inCluster, uint32_t objectBytes);

    /// what lies in a cluster, nothing when it was not made
    ClusterFs::Directory directory(ClusterFs::ClusterNo) const;

    ClusterFs::ObjectInfo info() const; ///< of each object
    ClusterFs::Sequence sequenceOf(const ClusterFs::ClusterNo n) const { return ClusterFs::Sequence(1 + n.value() - first.value()); }
};

} // namespace ScaleBench

#endif

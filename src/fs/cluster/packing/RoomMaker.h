// SPDX-License-Identifier: GPL-2.0-or-later
/* Who is asked for clusters. */

#ifndef SQUID_SRC_FS_CLUSTER_PACKING_ROOMMAKER_H
#define SQUID_SRC_FS_CLUSTER_PACKING_ROOMMAKER_H

namespace ClusterFs {

/// makes room where somebody can't wait for it
class RoomMaker
{
public:
    virtual ~RoomMaker() = default;

    /// a cluster is needed at once, however long it takes
    virtual void hurry() = 0;
};

} // namespace ClusterFs

#endif

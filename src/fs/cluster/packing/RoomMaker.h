// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes free clusters on demand. */

#ifndef SQUID_SRC_FS_CLUSTER_PACKING_ROOMMAKER_H
#define SQUID_SRC_FS_CLUSTER_PACKING_ROOMMAKER_H

namespace ClusterFs {

/// makes room where somebody can't wait for it
class RoomMaker
{
public:
    virtual ~RoomMaker() = default;

    /// makes at least one cluster free now if that is possible, however long the turn gets
    virtual void hurry() = 0;
};

} // namespace ClusterFs

#endif

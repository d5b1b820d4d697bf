// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of an object on its way in, shared by its writer and its readers. */

#ifndef SQUID_SRC_FS_CLUSTER_OBJECTS_WRITINGOBJECT_H
#define SQUID_SRC_FS_CLUSTER_OBJECTS_WRITINGOBJECT_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/catalog/Staging.h"

#include <memory>

namespace ClusterFs {

/// The front of the object is in staging; when it is large, the rest goes into
/// parts, the last of which is being filled in memory.
struct WritingObject {
    StageNo stage = noStage; ///< the front; noStage once it was given up
    uint64_t stageId = 0; ///< Staged::id of stage
    uint64_t frontLimit = 0; ///< bytes that go to staging; the rest goes to parts
    uint64_t size = 0; ///< bytes taken
    bool failed = false; ///< takes no more bytes and will not be published
    bool broken = false; ///< bytes that were taken are lost: not to be read
    bool finished = false;
    ClusterNo firstPart = noCluster; ///< chained by ClusterEntry::nextPart
    ClusterNo lastPart = noCluster;
    std::shared_ptr<void> partsPin; ///< keeps the parts while somebody holds this object
    uint32_t parts = 0; ///< submitted to the device
    BufferPointer filling; ///< the part that is being filled, payload at partPayloadAt; grows with it
    std::shared_ptr<uint64_t> fillingBytes; ///< of that buffer; tells the group when they are free
    ClusterNo fillingCluster = noCluster; ///< where it will go
    uint32_t filled = 0; ///< payload bytes in it
    unsigned writesInFlight = 0;
    unsigned readers = 0; ///< that would be cut off if it were refused now
};
using WritingPointer = std::shared_ptr<WritingObject>;

} // namespace ClusterFs

#endif

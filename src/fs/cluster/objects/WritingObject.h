// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of an object on its way in, shared by its writer and its readers. */

#ifndef SQUID_SRC_FS_CLUSTER_OBJECTS_WRITINGOBJECT_H
#define SQUID_SRC_FS_CLUSTER_OBJECTS_WRITINGOBJECT_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/catalog/Staging.h"

#include <memory>

namespace ClusterFs {

/// The front of the object is in staging. The rest of a large one goes to parts;
/// the last of them is being filled in memory.
struct WritingObject {
    StageNo stage = noStage; ///< the front; noStage once it was given up
    uint64_t stageId = 0; ///< Staged::id of stage
    uint64_t frontLimit = 0; ///< bytes that go to staging; the rest goes to parts
    uint64_t size = 0; ///< bytes taken so far
    bool failed = false; ///< takes no more bytes and will not be published
    bool broken = false; ///< bytes that were taken are lost: nobody may read it
    bool finished = false;
    ClusterNo firstPart = noCluster; ///< chained by ClusterEntry::nextPart
    ClusterNo lastPart = noCluster;
    std::shared_ptr<void> partsPin; ///< keeps the parts while somebody holds this object
    uint32_t parts = 0; ///< parts submitted to the device
    BufferPointer filling; ///< the part that is being filled, payload at partPayloadAt; or nil
    std::shared_ptr<uint64_t> fillingBytes; ///< size of that buffer; its deleter tells the group that they are free
    uint32_t filled = 0; ///< payload bytes in filling
    unsigned writesInFlight = 0; ///< writes of parts that are not answered
    unsigned readers = 0; ///< readers that would be cut off if it were refused now
};
using WritingPointer = std::shared_ptr<WritingObject>;

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Housekeeping that can be asked for. */

#ifndef SQUID_SRC_FS_CLUSTER_API_CHORE_H
#define SQUID_SRC_FS_CLUSTER_API_CHORE_H

#include <cstdint>

namespace ClusterFs {

/// What the engine does by itself when a limit is reached, and a caller may want before: the daemons of Hummingbird (section 3.5).
/// All but sync take a number of bytes.
enum class Chore : uint8_t {
    sync, ///< packs what is finished now, writes the deletes until now to the journal, and flushes the disk
    pack, ///< packs what is finished now, from the object used least recently on, until at most so many bytes of it are in staging
    packFromHead, ///< the same from the object used last on: those that are wanted most come to lie together
    freeMemory, ///< lets windows go until the read cache has at most so many bytes
    freeDisk, ///< evicts clusters until at least so many bytes of clusters are free
    checkpoint ///< writes a checkpoint, with the hot list and the groups; bytes is 0
};

} // namespace ClusterFs

#endif

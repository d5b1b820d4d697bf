// SPDX-License-Identifier: GPL-2.0-or-later
/* The two copies of the superblock on a device. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_SUPERBLOCKFILE_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_SUPERBLOCKFILE_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/device/Device.h"
#include "fs/cluster/layout/Superblock.h"

namespace ClusterFs {

/// Does one request and blocks until it is answered; other answers are delivered meanwhile.
/// \param buffer shared with the device, which may answer after the time is over; nil for a flush
/// \param size bytes
/// \returns the device's answer, or ioError when none came within maxMilliseconds
Status doAndWait(Device &, IoOp, uint64_t offset, const BufferPointer &buffer, uint32_t size, unsigned maxMilliseconds);

/// whether a device can be written in pieces as small as a superblock, or as a block of journal or index log
/// \param error receives the reason if not, and the way out
bool blocksSuit(const Device &, std::string &error);

/// Reads both copies and takes the newer one of those that are whole. Blocks.
/// \param error receives the reason unless ok is returned
/// \returns ok, notOurs, corrupt, unsupported, or an error of the device; of two reasons, the one that says more
Status readSuperblock(Device &, Superblock &, std::string &error);

} // namespace ClusterFs

#endif

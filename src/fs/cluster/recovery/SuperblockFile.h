// SPDX-License-Identifier: GPL-2.0-or-later
/* The two copies of the superblock on a device. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_SUPERBLOCKFILE_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_SUPERBLOCKFILE_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/device/Device.h"
#include "fs/cluster/layout/Superblock.h"

namespace ClusterFs {

/// does one request and waits for it, other answers being delivered meanwhile
/// \param buffer shared with the device, which may answer after we gave up; nil for a flush
Status doAndWait(Device &, IoOp, uint64_t offset, const BufferPointer &buffer, uint32_t size, unsigned maxMilliseconds);

/// whether a device can be written in pieces as small as a superblock, or a block of journal and index log; else says why not
bool blocksSuit(const Device &, std::string &error);

/// reads both copies and takes the newer whole one
/// \returns ok, or the better of the two reasons
Status readSuperblock(Device &, Superblock &, std::string &error);

} // namespace ClusterFs

#endif

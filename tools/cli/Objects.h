// SPDX-License-Identifier: GPL-2.0-or-later
/* What several subcommands do with images and their objects. */

#ifndef CLUSTERFS_TOOLS_CLI_OBJECTS_H
#define CLUSTERFS_TOOLS_CLI_OBJECTS_H

#include "IndexView.h"
#include "Output.h"

#include "fs/cluster/squid/ObjectText.h"

namespace ClusterFs::Cli {

/// Opens a device that has a clusterfs superblock, and warns when others may
/// read it. \returns nil, with the reason printed, when that is not possible
std::unique_ptr<Image> openOurs(const std::string &path, bool writable);

/// An image, its superblock and its index, for commands that need all of them.
struct OpenedIndex {
    std::unique_ptr<Image> image;
    Superblock superblock;
    std::unique_ptr<IndexView> view; ///< after image, so that it goes first
};

/// \returns false, with the reason printed, when that is not possible
bool openIndex(const std::string &path, bool writable, OpenedIndex &);

/// Prints an object, a line each, since there may be more of them than fit into memory.
/// \param json nil for text; else the fields of the object before, which are used again: that takes half the time
void printObject(const ObjectLine &, Tools::Json *json);

/// the names of an object's flags as a value of an item
void putFlags(Output &, uint8_t flags);

} // namespace ClusterFs::Cli

#endif

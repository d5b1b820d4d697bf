// SPDX-License-Identifier: GPL-2.0-or-later
/* What "diskmodel serve" was asked for. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_SERVE_OPTIONS_H
#define CLUSTERFS_TOOLS_DISKMODEL_SERVE_OPTIONS_H

#include "tools/diskmodel/model/Parameters.h"

#include <string>

namespace DiskModel {

struct ServeOptions {
    std::string name = "disk"; ///< in the folder's name
    Parameters parameters;
    uint64_t size = 0; ///< bytes
    std::string store; ///< a file that stays; empty = a nameless one
    std::string storeFolder = "/dev/shm"; ///< of the nameless one
    bool overcommit = false; ///< the store need not have room for all of it
    std::string record; ///< the write log; empty = none
    uint64_t recordLimit = 0; ///< bytes of the write log
    bool loop = true; ///< attach a loop device
    std::string scheduler; ///< of the loop device; empty = the model's usual one
    unsigned sector = 512; ///< bytes
    bool untilEof = false; ///< end when standard input ends
    unsigned patience = 10; ///< seconds that somebody may keep the device in use after the end
};

} // namespace DiskModel

#endif

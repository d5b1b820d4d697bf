// SPDX-License-Identifier: GPL-2.0-or-later
/* One request to the modelled disk. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_MODEL_REQUEST_H
#define CLUSTERFS_TOOLS_DISKMODEL_MODEL_REQUEST_H

#include "tools/diskmodel/base/Time.h"

namespace DiskModel {

enum class Op { read, write, flush, discard };

/// what an injected fault does to the answer of a request
struct Damage {
    int error = 0; ///< errno to answer; 0 = none
    uint64_t corruptBegin = 0; ///< bytes from here ...
    uint64_t corruptEnd = 0; ///< ... to before this one are read wrongly
    uint64_t shortTo = UINT64_MAX; ///< a read answers at most so many bytes
    bool unlogged = false; ///< a flush that says it was done and was not
};

/// A request on its way. The data of a write were stored when it arrived: only
/// the time of the answer is modelled.
struct Request {
    Op op = Op::read;
    uint64_t offset = 0; ///< bytes
    uint64_t size = 0; ///< bytes; 0 for flushes
    Nanos arrival = 0;
    Nanos delay = 0; ///< added to what the model says, by a fault
    Damage damage;
    uint64_t sequence = 0; ///< of its record in the write log
    void *handle = nullptr; ///< what its sender knows it by

    uint64_t end() const { return offset + size; }
};

} // namespace DiskModel

#endif

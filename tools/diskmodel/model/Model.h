// SPDX-License-Identifier: GPL-2.0-or-later
/* What decides when a request is done. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_MODEL_MODEL_H
#define CLUSTERFS_TOOLS_DISKMODEL_MODEL_MODEL_H

#include "tools/diskmodel/model/Completions.h"
#include "tools/diskmodel/model/Parameters.h"

#include <memory>
#include <vector>

namespace DiskModel {

/// what happened inside a drive
struct MediaCounters {
    uint64_t readPositionings = 0; ///< reads for which the head had to move or to wait for the platter
    uint64_t writePositionings = 0; ///< the same for writes, as they go from the write cache to the platter
    uint64_t cacheHits = 0; ///< reads answered from read-ahead segments or the write cache
    uint64_t streamed = 0; ///< reads that the head was about to reach by itself
    uint64_t writeCacheFull = 0; ///< writes that had to wait for room
    Nanos positioning = 0; ///< spent on seeks and rotation
    Nanos transfer = 0; ///< spent on moving data, to or from the platter or on the bus
};

/// The timing of a disk; data are not its business. Needs no clock of its own:
/// it is told the time, so that it runs in real time and in simulated time.
class Model
{
public:
    virtual ~Model() = default;

    /// A read, write or flush arrived, at request.arrival. The model passes it
    /// on to Completions now, or in a later advance().
    virtual void submit(Request &) = 0;

    /// goes on with what happens until that time
    virtual void advance(Nanos) {}

    /// when advance() is wanted next
    virtual Nanos nextEvent() const { return never; }

    /// gives up what was submitted and is not in Completions yet
    virtual std::vector<Request *> abandon() { return {}; }

    virtual uint64_t dirtyBytes() const { return 0; } ///< in a volatile write cache

    /// \param size bytes of the device
    /// \throws BadRequest when such a disk cannot exist
    static std::unique_ptr<Model> Make(const Parameters &, uint64_t size, Completions &, MediaCounters &);
};

} // namespace DiskModel

#endif

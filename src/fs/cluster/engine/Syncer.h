// SPDX-License-Identifier: GPL-2.0-or-later
/* Having what is stored on the disk now. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_SYNCER_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_SYNCER_H

#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/packing/Packer.h"
#include "fs/cluster/recovery/Journal.h"

#include <list>
#include <vector>

namespace ClusterFs {

/// The calls of Engine::sync() that are not answered yet. Each waits until the objects that were finished when
/// it came are packed, and until the deletes of that time are in the journal; then it flushes the disk.
class Syncer
{
public:
    Syncer(StoreContext &, Journal &, Packer &);

    /// \see Engine::sync()
    void begin(std::function<void(Status)> done);

    /// called each turn
    void poll();

    /// The engine closes, and packs for that: calls that are not answered yet remain so.
    void stop() { stopped_ = true; }

private:
    enum class Step : uint8_t { pack, record, flush };

    struct Awaited {
        StageNo stage;
        uint64_t id; ///< Staged::id, because another object may have the slot by now
    };

    struct Sync {
        Step step = Step::pack;
        std::vector<Awaited> objects; ///< those of which some may not be packed yet
        Journal::Ticket ticket = 0; ///< of the newest record when the call came
        std::function<void(Status)> done;
    };

    bool isStaged(const Awaited &) const;
    bool advance(std::list<Sync>::iterator);
    void flush(std::list<Sync>::iterator);
    void refuseAll(Status);

    StoreContext &context_;
    Journal &journal_;
    Packer &packer_;
    std::list<Sync> syncs_;
    bool stopped_ = false; ///< see stop()
};

} // namespace ClusterFs

#endif

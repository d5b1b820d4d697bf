// SPDX-License-Identifier: GPL-2.0-or-later
/* Housekeeping that callers have asked for. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_CHORES_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_CHORES_H

#include "fs/cluster/api/Chore.h"
#include "fs/cluster/cache/WindowStore.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/packing/Packer.h"
#include "fs/cluster/recovery/Checkpointer.h"
#include "fs/cluster/recovery/Journal.h"
#include "fs/cluster/space/Evictor.h"

#include <functional>
#include <list>
#include <vector>

namespace ClusterFs {

/// The calls of Engine::run() that are not answered yet. It tells the parts of the engine that do the work
/// that it is wanted now, and watches how far they have come.
class Chores
{
public:
    /// those that do the work
    struct Parts {
        Journal &journal;
        Packer &packer;
        WindowStore &windows;
        Allocator &allocator;
        Evictor &evictor;
        Checkpointer &checkpointer;
    };
    Chores(StoreContext &, const Parts &);

    /// \see Engine::run()
    void begin(Chore, uint64_t bytes, std::function<void(Status)> done);

    /// called each turn
    void poll();

    /// The engine closes, and packs for that: calls that are not answered yet remain so.
    void stop() { stopped_ = true; }

    static constexpr size_t most = 4096; ///< calls that are not answered

private:
    enum class Step : uint8_t { pack, record, flush, freeMemory, freeDisk, checkpoint };

    struct Awaited {
        StageNo stage;
        uint64_t id; ///< Staged::id, because another object may have the slot by now
        uint64_t memory; ///< bytes
    };

    struct Task {
        Chore chore;
        Step step;
        uint64_t bytes; ///< see Chore
        std::vector<Awaited> objects; ///< of packing: those of which some may not be packed yet; the last one is packed first
        uint64_t staged = 0; ///< bytes of their memory
        Journal::Ticket ticket = 0; ///< of sync: of the newest record when the call came
        uint64_t run = 0; ///< of checkpoint: the number of the one that it waits for, see Checkpointer::runs()
        uint64_t limit = 0; ///< of freeDisk: it is given up when so many clusters were evicted: each could have been once
        std::function<void(Status)> done;
    };
    using Tasks = std::list<Task>;

    void gather(Task &) const;
    bool isStaged(const Awaited &) const;
    void advance(Tasks::iterator);
    bool isPacked(Task &) const;
    void flush(Tasks::iterator);
    void freeMemory(Tasks::iterator);
    void freeDisk(Tasks::iterator);
    void checkpoint(Tasks::iterator);
    void demand() const;
    void answer(Tasks::iterator, Status);

    StoreContext &context_;
    const Parts parts_;
    Tasks tasks_;
    bool stopped_ = false; ///< see stop()
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* What the owner shows to all workers. */

#include "fs/cluster/sharing/Control.h"

void
ClusterFs::Control::begin(const Engine &engine, const SharedTables &ofEngine)
{
    tables = ofEngine;
    for (auto &memory: tables.memories)
        memory.fd = -1;
    deviceBytes = engine.deviceBytes();
    clusterBytes = engine.clusterBytes();
    show(engine);
}

void
ClusterFs::Control::show(const Engine &engine)
{
    const auto order = std::memory_order_relaxed;
    int found = 0;
    const auto takes = engine.canCreate(-1, found);
    state.store(engine.state(), order);
    indexLoaded.store(engine.indexLoaded(), order);
    load.store(takes ? static_cast<uint32_t>(found) : Engine::maxLoad + 1, order);
    progress.store(static_cast<uint32_t>(engine.recoveryProgress() * 1000), order);
    objects.store(engine.objectCount(), order);
    liveBytes.store(engine.liveBytes(), order);
    capacityBytes.store(engine.capacityBytes(), order);
    maxObjectSize.store(engine.maxObjectSize(), order);
    turns.fetch_add(1, order);
}

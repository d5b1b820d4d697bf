// SPDX-License-Identifier: GPL-2.0-or-later
/* The store as all processes see it that use it. */

#include "fs/cluster/api/ObjectStore.h"

const char *
ClusterFs::ObjectStore::stateText() const
{
    switch (state()) {
    case EngineState::closed:
        return "closed";
    case EngineState::recovering:
        return "recovering";
    case EngineState::serving:
        return "serving";
    case EngineState::readOnly:
        return "read-only";
    case EngineState::offline:
        return "offline";
    }
    return "unknown";
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The interface of the store. */

#include "fs/cluster/api/Engine.h"

const char *
ClusterFs::Engine::stateText() const
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

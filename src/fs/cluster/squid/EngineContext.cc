// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/engine/LocalEngine.h"
#include "fs/cluster/squid/EngineContext.h"

const ClusterFs::StoreContext &
ClusterFs::contextOf(const Engine &engine)
{
    return dynamic_cast<const LocalEngine &>(engine).context();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/engine/LocalEngine.h"
#include "fs/cluster/squid/EngineContext.h"

namespace {

/// The member is private. C++ lets an explicit instantiation name it all the same ([temp.spec], paragraph 6), and this one
/// hands it out. A reference that cannot change anything is all that leaves this file.
template <auto Member>
struct Door {
    friend const ClusterFs::StoreContext &
    look(const ClusterFs::LocalEngine &engine) {
        return engine.*Member;
    }
};

const ClusterFs::StoreContext &look(const ClusterFs::LocalEngine &);

template struct Door<&ClusterFs::LocalEngine::context_>;

} // namespace

const ClusterFs::StoreContext &
ClusterFs::contextOf(const Engine &engine)
{
    return look(dynamic_cast<const LocalEngine &>(engine));
}

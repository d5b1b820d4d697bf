// SPDX-License-Identifier: GPL-2.0-or-later
/* What an engine knows of its clusters and objects. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_ENGINECONTEXT_H
#define SQUID_SRC_FS_CLUSTER_SQUID_ENGINECONTEXT_H

namespace ClusterFs {

class Engine;
struct StoreContext;

/// The index, cluster table and staging of an open engine, to look at between two calls of it. The interface of the engine
/// does not have them, because a cache does without. Manager's pages show them, and a search goes over them.
/// \param engine of openEngine()
const StoreContext &contextOf(const Engine &engine);

} // namespace ClusterFs

#endif

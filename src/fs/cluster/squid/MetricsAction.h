// SPDX-License-Identifier: GPL-2.0-or-later
/* The manager's page for Prometheus. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_METRICSACTION_H
#define SQUID_SRC_FS_CLUSTER_SQUID_METRICSACTION_H

#include "mgr/Action.h"

namespace ClusterFs {

/// Writes mgr:clusterfs_metrics, all cache_dirs on one page. A class, because Squid puts a frame, "by kid1 {",
/// around the page of a mere function, and no parser of Prometheus' format takes that.
class MetricsAction: public Mgr::Action
{
public:
    /// makes the page known to the manager
    static void Register();

    /// With several processes, each of them is asked and writes to the client itself, as Squid's own mere functions do.
    void respond(const Mgr::Request &) override;
    bool aggregatable() const override { return false; }

protected:
    void dump(StoreEntry *) override;

private:
    explicit MetricsAction(const Mgr::CommandPointer &);
    static Pointer Make(const Mgr::CommandPointer &);
};

} // namespace ClusterFs

#endif

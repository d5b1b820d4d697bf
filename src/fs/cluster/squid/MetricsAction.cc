// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 16    Cache Manager API */

#include "squid.h"
#include "base/TextException.h"
#include "comm/Connection.h"
#include "fs/cluster/squid/Metrics.h"
#include "fs/cluster/squid/MetricsAction.h"
#include "fs/cluster/squid/SwapDir.h"
#include "ipc/RequestId.h"
#include "ipc/UdsOp.h"
#include "mgr/Command.h"
#include "mgr/Filler.h"
#include "mgr/Registration.h"
#include "mgr/Request.h"
#include "Store.h"
#include "tools.h"

void
ClusterFs::MetricsAction::Register()
{
    Mgr::RegisterAction("clusterfs_metrics", "Clustered Store Statistics for Prometheus", &Make, 0, 1);
}

ClusterFs::MetricsAction::MetricsAction(const Mgr::CommandPointer &command): Mgr::Action(command)
{
}

Mgr::Action::Pointer
ClusterFs::MetricsAction::Make(const Mgr::CommandPointer &command)
{
    return new MetricsAction(command);
}

void
ClusterFs::MetricsAction::respond(const Mgr::Request &request)
{
    Ipc::ImportFdIntoComm(request.conn, SOCK_STREAM, IPPROTO_TCP, Ipc::fdnHttpSocket);
    Must(Comm::IsConnOpen(request.conn));
    AsyncJob::Start(new Mgr::Filler(this, request.conn, request.requestId));
}

void
ClusterFs::MetricsAction::dump(StoreEntry * const e)
{
    // Other processes know our cache_dirs, too, and would say that they are not used. Where each has a process of its own, only
    // the first one is shown: Prometheus refuses a page with two parts.
    std::vector<MetricsDir> dirs;
    auto first = true;
    SwapDir::ForEach([&](const SwapDir &dir) {
        if (dir.isHome() && (first || dir.disker < 0))
            dirs.push_back({dir.path, dir.snapshot()});
        first = false;
    });
    if (dirs.empty())
        return;
    const auto page = metricsText(dirs);
    e->append(page.data(), static_cast<int>(page.size()));
}

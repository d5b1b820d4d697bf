// SPDX-License-Identifier: GPL-2.0-or-later
/* What a process has of a cache_dir. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_STORESIDE_H
#define SQUID_SRC_FS_CLUSTER_SQUID_STORESIDE_H

#include "fs/cluster/api/Config.h"
#include "fs/cluster/api/ObjectStore.h"
#include "fs/cluster/squid/ForWorkers.h"
#include "fs/cluster/squid/PageText.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ClusterFs {

/// One process has the engine, see EngineSide. Where workers share a cache_dir, they have the way to that process, see WorkerSide.
class StoreSide
{
public:
    virtual ~StoreSide() = default;
    StoreSide(StoreSide &&) = delete; // no copying or moving of any kind

    virtual ObjectStore &store() = 0;

    /// readable when poll() has something to do; -1 = none
    virtual int wakeupFd() const = 0;
    /// does what is due
    virtual void poll() = 0;

    /// takes the options that are live
    virtual void configure(const Config &) = 0;

    /// ends the use of the store, for good
    virtual Status close(unsigned milliseconds) = 0;

    /// the state in one line, for reports
    virtual std::string stateText() const = 0;

    /// answers a question, see Question
    virtual std::unique_ptr<PageText> ask(const std::string &question) = 0;

    /// tells the process that has the engine of what a client has had, if that is another one
    virtual void tell(FigureKind, uint64_t) {}

    /// whether many removals wait for the process that has the engine
    virtual bool removalsAreBehind() const { return false; }

protected:
    StoreSide() = default;
};

} // namespace ClusterFs

#endif

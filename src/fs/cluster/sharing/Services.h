// SPDX-License-Identifier: GPL-2.0-or-later
/* What workers have from the owner's process beside the engine. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_SERVICES_H
#define SQUID_SRC_FS_CLUSTER_SHARING_SERVICES_H

#include "fs/cluster/api/Reader.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ClusterFs {

/// One thing that a worker has counted or timed. The user of this library gives kinds and values their meanings.
struct Figure {
    uint64_t kind;
    uint64_t value;
};

/// The owner's process gives texts to workers, and adds up their figures.
class Services
{
public:
    virtual ~Services() = default;

    /// Answers a question with a text, which may come to be while it is read.
    /// \param question may be anything: it comes from another process
    /// \returns nil where there is no answer
    virtual std::unique_ptr<Reader> answer(const std::string &question) = 0;

    /// takes a figure of a worker; its kind may be unknown
    virtual void add(const Figure &) = 0;
};

} // namespace ClusterFs

#endif

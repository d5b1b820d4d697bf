// SPDX-License-Identifier: GPL-2.0-or-later
/* An object on its way into the store, as callers see it. */

#ifndef SQUID_SRC_FS_CLUSTER_API_WRITER_H
#define SQUID_SRC_FS_CLUSTER_API_WRITER_H

#include "fs/cluster/base/Types.h"

#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/// An object on its way in. Dropping it unfinished forgets the object.
class Writer
{
public:
    virtual ~Writer() = default;

    /// Takes a copy. \returns false once a limit was exceeded or the device
    /// failed; the object is lost then
    virtual bool append(const char *, size_t) = 0;

    /// the object is complete: find() and read() know it from here on
    /// \returns ok, or why it was not stored
    virtual Status finish() = 0;

    virtual uint64_t size() const = 0; ///< bytes taken so far

    /// Whether the device is behind: more appended now may exceed a limit.
    /// Ends as the device catches up, or when it makes no progress for seconds.
    virtual bool congested() const = 0;

    /// whether the object goes on, or will, in clusters of its own
    virtual bool parted() const = 0;
};

} // namespace ClusterFs

#endif

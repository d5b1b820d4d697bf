// SPDX-License-Identifier: GPL-2.0-or-later
/* The interface of a writer of an object. */

#ifndef SQUID_SRC_FS_CLUSTER_API_WRITER_H
#define SQUID_SRC_FS_CLUSTER_API_WRITER_H

#include "fs/cluster/base/Types.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace ClusterFs {

/// An object on its way into the store. If it is destroyed unfinished, the object is forgotten.
class Writer
{
public:
    virtual ~Writer() = default;

    /// Appends a copy of the bytes.
    /// \returns false once a limit was reached or the device failed; the object is
    /// lost then
    virtual bool append(const char *, size_t) = 0;

    /// The object is complete: find() and read() know it once this is known to be ok.
    /// \param later is called once, from ObjectStore::poll(), if this returns pending, unless the writer is destroyed before.
    /// A writer of an Engine knows the result at once, and never calls it.
    /// \returns ok; full (no room in the index or for its last part); aborted (it has failed before); pending
    virtual Status finish(std::function<void(Status)> later) = 0;
    Status finish() { return finish(nullptr); } ///< the same, of an Engine

    virtual uint64_t size() const = 0; ///< bytes taken so far

    /// Whether the device is behind, so that further bytes may reach a limit. This
    /// ends when the device catches up, or makes no progress for 3 seconds.
    virtual bool congested() const = 0;

    /// whether the object has parts, or the first one is being filled
    virtual bool parted() const = 0;
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* An object of the store, as those that read it see it. */

#ifndef SQUID_SRC_FS_CLUSTER_API_READER_H
#define SQUID_SRC_FS_CLUSTER_API_READER_H

#include "fs/cluster/base/Types.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace ClusterFs {

/// One reader of one object. Keeps the object's bytes from going away.
class Reader
{
public:
    virtual ~Reader() = default;

    virtual uint64_t size() const = 0; ///< bytes there are (so far, when still being written)

    /// Copies bytes that are in memory.
    /// \returns how many (possibly less than asked for), 0 at the end of the
    /// object, -1 when they must be fetched first
    virtual int64_t copy(uint64_t offset, char *to, size_t size) = 0;

    /// Brings the bytes at offset into memory; one call at a time.
    /// \param done is called once, from Engine::poll(); not called when the
    /// reader is destroyed first
    virtual void fetch(uint64_t offset, std::function<void(Status)> done) = 0;
};

} // namespace ClusterFs

#endif

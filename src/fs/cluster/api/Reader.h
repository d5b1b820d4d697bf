// SPDX-License-Identifier: GPL-2.0-or-later
/* The interface of a reader of an object. */

#ifndef SQUID_SRC_FS_CLUSTER_API_READER_H
#define SQUID_SRC_FS_CLUSTER_API_READER_H

#include "fs/cluster/base/Types.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace ClusterFs {

/// One reader of one object. It keeps the object's space from being reused. It
/// may outlive the engine, which then answers no more.
class Reader
{
public:
    virtual ~Reader() = default;

    virtual uint64_t size() const = 0; ///< stored bytes; those so far, when it is still being written

    /// Copies bytes that are in memory, and waits for nothing.
    /// \returns how many (possibly fewer than asked for), 0 at the end of the
    /// object, -1 when they must be fetched first or can't be read
    virtual int64_t copy(uint64_t offset, char *to, size_t size) = 0;

    /// Brings the bytes at offset into memory; one call at a time.
    /// \param done is called once, from Engine::poll(), and may then copy(), or destroy the reader. Not
    /// called when the reader is destroyed or the engine closed before. ok; busy
    /// (try again); notFound (the device has another object of the same hashed key);
    /// ioError or corrupt (the object is forgotten, unless a start goes on); aborted (there are no such bytes)
    virtual void fetch(uint64_t offset, std::function<void(Status)> done) = 0;
};

} // namespace ClusterFs

#endif

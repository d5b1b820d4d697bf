// SPDX-License-Identifier: GPL-2.0-or-later
/* A writer in a worker. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_REMOTEWRITER_H
#define SQUID_SRC_FS_CLUSTER_SHARING_REMOTEWRITER_H

#include "fs/cluster/sharing/Link.h"

#include <functional>
#include <memory>

namespace ClusterFs {

/// Stores an object through the owner. It does not know at once what becomes of it: a limit of the owner's is heard of
/// some calls later. If it is destroyed before finish(), the object is forgotten.
class RemoteWriter final: private Correspondent
{
public:
    static constexpr size_t pieceBytes = 64 * 1024; ///< of an object in one message

    /// \param expectedSize stored bytes, -1 when unknown
    RemoteWriter(std::shared_ptr<Link>, const Key &, const ObjectInfo &, int64_t expectedSize);
    ~RemoteWriter() override;
    RemoteWriter(const RemoteWriter &) = delete;
    RemoteWriter &operator =(const RemoteWriter &) = delete;

    /// appends a copy of the bytes
    /// \returns false once the object is known to be lost
    bool append(const char *, size_t);

    /// The object is complete.
    /// \param done is called once, from Link::poll(), unless this writer is destroyed before: ok, and all workers find
    /// the object from here on; or as Writer::finish()
    void finish(std::function<void(Status)> done);

    uint64_t size() const { return size_; } ///< bytes taken so far
    /// whether the device or the owner is behind, so that further bytes may reach a limit
    bool congested() const { return congested_ || link_->behind(); }

private:
    /* Correspondent */
    void hear(Messages::Kind, const char *content, size_t bytes) override;
    void bereave() override;

    void end(Status);

    const std::shared_ptr<Link> link_;
    const uint64_t number_;
    uint64_t size_ = 0;
    bool lost_ = false;
    bool finished_ = false;
    bool congested_ = false;
    std::function<void(Status)> done_;
    const std::shared_ptr<bool> alive_; ///< false for what comes later than the end
};

} // namespace ClusterFs

#endif

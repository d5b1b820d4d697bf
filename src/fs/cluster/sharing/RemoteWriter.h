// SPDX-License-Identifier: GPL-2.0-or-later
/* A writer in a worker. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_REMOTEWRITER_H
#define SQUID_SRC_FS_CLUSTER_SHARING_REMOTEWRITER_H

#include "fs/cluster/api/Writer.h"
#include "fs/cluster/sharing/Link.h"

#include <functional>
#include <memory>

namespace ClusterFs {

/// Stores an object through the owner. It does not know at once what becomes of it: a limit of the owner's is heard of
/// some calls later.
class RemoteWriter final: public Writer, private Correspondent
{
public:
    static constexpr size_t pieceBytes = 64 * 1024; ///< of an object in one message

    /// \param expectedSize stored bytes, -1 when unknown
    RemoteWriter(std::shared_ptr<Link>, const Key &, const ObjectInfo &, int64_t expectedSize);
    ~RemoteWriter() override;
    RemoteWriter(const RemoteWriter &) = delete;
    RemoteWriter &operator =(const RemoteWriter &) = delete;

    /* Writer */
    bool append(const char *, size_t) override;
    Status finish(std::function<void(Status)> later) override;
    uint64_t size() const override { return size_; }
    bool congested() const override { return congested_ || link_->behind(); }
    bool parted() const override { return size_ > partedFrom_; }

    uint64_t number() const { return number_; } ///< of this writer, in messages
    const Key &key() const { return key_; }
    bool lost() const { return lost_; } ///< whether the object is known to be lost

private:
    /* Correspondent */
    void hear(Messages::Kind, const char *content, size_t bytes) override;
    void bereave() override;

    void end(Status);

    const std::shared_ptr<Link> link_;
    const uint64_t number_;
    const Key key_;
    const uint64_t partedFrom_; ///< bytes from which on a whole object may have parts
    uint64_t size_ = 0;
    bool lost_ = false;
    bool finished_ = false;
    bool congested_ = false;
    std::function<void(Status)> done_;
};

} // namespace ClusterFs

#endif

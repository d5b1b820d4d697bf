// SPDX-License-Identifier: GPL-2.0-or-later
/* One request at a time. */

#ifndef SQUID_SRC_FS_CLUSTER_CONTEXT_SINGLEIO_H
#define SQUID_SRC_FS_CLUSTER_CONTEXT_SINGLEIO_H

#include "fs/cluster/context/StoreContext.h"

namespace ClusterFs {

/// A buffer, and the request of the device that may be under way with it.
class SingleIo
{
public:
    /// \param bytes of the buffer
    SingleIo(StoreContext &, size_t bytes, IoClass = IoClass::background);

    /// the buffer, which nobody may change while busy()
    char *data() { return buffer_->data(); }
    bool busy() const { return busy_; }

    /// Submits a request, which must be the only one.
    /// \param size bytes from the beginning of the buffer; 0 for a flush
    /// \param done called with the answer, unless the engine has been closed by then
    void submit(IoOp, uint64_t offset, uint32_t size, std::function<void(Status)> done);

private:
    StoreContext &context_;
    const IoClass class_;
    const BufferPointer buffer_;
    bool busy_ = false;
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The two rings and the two bells between the owner and one worker. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_CHANNEL_H
#define SQUID_SRC_FS_CLUSTER_SHARING_CHANNEL_H

#include "fs/cluster/base/SharedMemory.h"
#include "fs/cluster/sharing/Bell.h"
#include "fs/cluster/sharing/Ring.h"

#include <optional>
#include <string>

namespace ClusterFs {

/// One side of a channel. The owner makes it; the worker gets its memory and bells through a socket.
class Channel
{
public:
    static constexpr size_t toOwnerBytes = 1 << 20; ///< of the ring that has what a worker stores
    static constexpr size_t toWorkerBytes = 1 << 20; ///< of the ring that has what a worker reads
    static constexpr size_t memoryBytes = Ring::MemoryFor(toOwnerBytes) + Ring::MemoryFor(toWorkerBytes);

    /// makes memory and bells, as the owner
    /// \param error receives the reason when it fails
    bool make(std::string &error);
    /// maps the memory that the owner has made
    /// \param error receives the reason when it fails
    bool join(Descriptor memory, Descriptor ownersBell, Descriptor workersBell, std::string &error);

    RingWriter &out() { return *out_; }
    RingReader &in() { return *in_; }

    /// Gives a record that out() has reserved to the other side, and wakes it if it sleeps.
    /// \param quiet whether it may sleep on, see RingWriter::publish()
    void publish(uint32_t kind, uint32_t bytes, bool quiet = false);
    /// gives back the room of records that in() has given, and wakes the other side if it waits for that
    void release();
    /// Says that this side is going to sleep until bell() is readable.
    /// \returns false when there is something to do already
    bool sleep() { return in_->sleep(); }
    /// says that this side is awake
    void awake() { in_->awake(); }

    const Bell &bell() const { return mine_; } ///< that the other side rings
    int memoryFd() const { return memory_.fd(); }
    int othersBellFd() const { return others_.fd(); }
    bool broken() const { return in_->broken() || out_->broken(); } ///< \see Ring::broken()

    uint64_t wakeUps() const { return wakeUps_; } ///< how often this side had to wake the other one

private:
    void ring();

    SharedMemory memory_;
    Bell mine_;
    Bell others_;
    std::optional<RingWriter> out_;
    std::optional<RingReader> in_;
    uint64_t wakeUps_ = 0;
};

} // namespace ClusterFs

#endif

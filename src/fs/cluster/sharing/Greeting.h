// SPDX-License-Identifier: GPL-2.0-or-later
/* How a worker comes to its channel: through a socket of the owner. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_GREETING_H
#define SQUID_SRC_FS_CLUSTER_SHARING_GREETING_H

#include "fs/cluster/api/SharedTables.h"
#include "fs/cluster/base/Descriptor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ClusterFs {

/* A socket of kind SOCK_SEQPACKET with a name in the file system. The owner's kernel closes it however the owner dies, and a
 * worker's likewise, so that each side hears of the other's death by it. After the greeting it carries nothing. */

/// what the owner says to a worker, beside descriptors
struct Greeting {
    static constexpr uint32_t mark = 0x43664f77; ///< tells it from what another program would send
    static constexpr size_t maxDescriptors = 16;
    /// that an owner sends: memory and two bells of the channel, Control, WorkerRows, and the engine's memories
    static constexpr size_t ofOwner = 5 + SharedTables::count;
    static_assert(ofOwner <= maxDescriptors, "they go in one message");

    uint32_t magic = mark;
    uint32_t descriptors = 0; ///< how many come along
    uint32_t row = 0; ///< of the worker in WorkerRows
    uint64_t program = 0; ///< of the owner: see programMark()
};

/// \returns a number for the version and the layout of the messages, which both sides must have
uint64_t programMark();

/// Makes the owner's socket, in place of one that a dead owner has left.
/// \param path at most 107 bytes
/// \param error receives the reason when it fails
/// \returns none when it fails
Descriptor listenForWorkers(const std::string &path, std::string &error);

/// Takes the next worker that has connected, if it runs as the same user or as root.
/// \param refused receives whether there was one that does not
/// \returns none when nobody is there
Descriptor acceptWorker(int listening, bool &refused);

/// Greets a worker.
/// \param row of the worker in WorkerRows
/// \returns false when the worker is gone
bool greet(int socket, const std::vector<int> &descriptors, uint32_t row);

/// Connects to the owner, and does not wait.
/// \returns none when nobody listens there now
Descriptor connectToOwner(const std::string &path);

/// what has become of a greeting
enum class Greeted : uint8_t {
    notYet,
    yes,
    gone, ///< the owner has ended
    stranger ///< whoever listens there is another program, or another version of it
};
/// Takes the owner's greeting, if it has come.
/// \param wanted how many descriptors it must have; they are received in this order
/// \param row receives that of this worker in WorkerRows
Greeted takeGreeting(int socket, size_t wanted, std::vector<Descriptor> &, uint32_t &row);

/// whether the other side of a socket is gone, or has sent what it must not send
bool hungUp(int socket);

} // namespace ClusterFs

#endif

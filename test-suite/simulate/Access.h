// SPDX-License-Identifier: GPL-2.0-or-later
/* Waiting for an engine on a simulated device, and reading from it. */

#ifndef CLUSTERFS_TEST_SIMULATE_ACCESS_H
#define CLUSTERFS_TEST_SIMULATE_ACCESS_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/device/Device.h"
#include "test-suite/simulate/Oracle.h"

#include <functional>
#include <stdexcept>
#include <string>

namespace Simulate {

/// the engine broke a promise
class Broken : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

constexpr unsigned maxTurns = 20000; ///< more than anything takes when each request is answered

/// Lets the engine work until that is so, 5 ms at a time.
/// \returns whether it ever was
bool await(ClusterFs::Engine &, ClusterFs::Device &, const std::function<bool()> &condition, unsigned turns = maxTurns);

/// what came of reading an object; when nothing ever did, the reader must go
enum class Fetched : uint8_t { all, refused, never };

/// reads an object to its end
/// \param piece how many bytes to ask for next, 4096 at most
/// \param turns to wait for each answer
Fetched fetchAll(ClusterFs::Engine &, ClusterFs::Device &, ClusterFs::Reader &, const std::function<size_t()> &piece, std::string &bytes,
                 unsigned turns = maxTurns);

/// Reads an object. \returns the number of the version that it is, 0 when it is not
/// there or can't be read
/// \param torn becomes true when it is there and can't be read
/// \throws Broken when it is none of them
uint64_t findVersion(ClusterFs::Engine &, ClusterFs::Device &, uint64_t object, const std::vector<Version> &, bool &torn);

} // namespace Simulate

#endif

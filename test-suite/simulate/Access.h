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

constexpr unsigned maxTurns = 20000; ///< more turns than anything takes if each request is answered

/// Lets the engine work, 5 ms at a time, until a condition holds.
/// \returns false when it did not hold after so many turns
bool await(ClusterFs::Engine &, ClusterFs::Device &, const std::function<bool()> &condition, unsigned turns = maxTurns);

/// the result of reading an object; after never, a request is still open, and the reader must be destroyed
enum class Fetched : uint8_t { all, refused, never };

/// reads an object to its end
/// \param piece returns how many bytes to ask for next, 4096 at most
/// \param bytes receives the object
/// \param turns to wait for each answer
Fetched fetchAll(ClusterFs::Engine &, ClusterFs::Device &, ClusterFs::Reader &, const std::function<size_t()> &piece, std::string &bytes,
                 unsigned turns = maxTurns);

/// Reads an object and finds out which version it is.
/// \param torn becomes true when the object is found and can't be read
/// \returns the number of the version, 0 when it is not found or can't be read
/// \throws Broken when it is no version of the object
uint64_t findVersion(ClusterFs::Engine &, ClusterFs::Device &, uint64_t object, const std::vector<Version> &, bool &torn);

} // namespace Simulate

#endif

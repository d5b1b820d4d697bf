// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults to order. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_DEVICE_FAULTS_H
#define CLUSTERFS_TOOLS_DISKMODEL_DEVICE_FAULTS_H

#include "tools/diskmodel/model/Request.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

namespace DiskModel {

enum class FaultKind {
    error, ///< nothing is read, stored or flushed; value = errno
    corrupt, ///< the bytes in the range are changed: as read, or as stored
    shortened, ///< a read answers only so many bytes
    torn, ///< a write stores only so many bytes, and fails
    lost, ///< a write stores nothing, a flush writes nothing, and both say they did
    delay ///< the answer comes so many milliseconds later
};

/// what happens to requests of a kind that touch a range
struct Fault {
    Op op = Op::read;
    FaultKind kind = FaultKind::error;
    uint64_t offset = 0; ///< bytes
    uint64_t length = UINT64_MAX; ///< bytes
    uint64_t left = UINT64_MAX; ///< how often yet
    double probability = 1;
    double value = 0; ///< see FaultKind; bytes are meant from the beginning of the request

    uint64_t end() const { return length > UINT64_MAX - offset ? UINT64_MAX : offset + length; }
};

/// The faults that are set. The first one that matches a request hits it.
class Faults
{
public:
    /// Adds what is described by "read|write|flush KIND", then any of offset=,
    /// length=, count=, probability=, value=. \throws BadRequest
    void add(const std::string &words);

    void clear() { faults_.clear(); }

    /// the fault that hits a request, if one does; counts it
    std::optional<Fault> strike(const Request &);

    size_t count() const { return faults_.size(); }
    uint64_t strikes() const { return strikes_; }

private:
    std::vector<Fault> faults_;
    uint64_t strikes_ = 0;
    std::mt19937_64 random_{1};
};

} // namespace DiskModel

#endif

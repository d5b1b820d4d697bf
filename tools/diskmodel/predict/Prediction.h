// SPDX-License-Identifier: GPL-2.0-or-later
/* What a model says of a load, without a machine in between. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_PREDICT_PREDICTION_H
#define CLUSTERFS_TOOLS_DISKMODEL_PREDICT_PREDICTION_H

#include "tools/diskmodel/model/Model.h"

#include <random>

namespace DiskModel {

/// a closed loop of requests of one size
struct Load {
    bool writes = false;
    bool sequential = false; ///< from the beginning of the device, or else at random
    uint64_t block = 4096; ///< bytes; offsets are multiples of it
    unsigned depth = 1; ///< requests under way
    uint64_t requests = 2000;
    uint64_t seed = 1; ///< of the random offsets
};

/// Runs a load against a model in simulated time: exact, repeatable, and as
/// fast as the processor.
class Prediction
{
public:
    /// \param size bytes of the device \throws BadRequest
    Prediction(const Parameters &, uint64_t size, const Load &);

    void run();

    /// requests and bytes a second, response times, what the drive did
    Json json() const;

private:
    void submit(Request &, Nanos at);
    uint64_t nextOffset();

    const Parameters parameters_;
    const uint64_t size_;
    const Load load_;
    Completions completions_;
    MediaCounters media_;
    std::unique_ptr<Model> model_;
    std::mt19937_64 random_;
    uint64_t submitted_ = 0;
    uint64_t answered_ = 0;
    Nanos time_ = 0;
    Nanos responses_ = 0; ///< sum of the response times
    Nanos slowest_ = 0;
};

} // namespace DiskModel

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* A small flash drive. */

#include "tools/diskmodel/model/SsdModel.h"

#include <algorithm>

namespace DiskModel {

SsdModel::SsdModel(const Parameters &parameters, Completions &completions, MediaCounters &counters):
    parameters_(parameters),
    completions_(completions),
    counters_(counters),
    random_(static_cast<uint64_t>(parameters.seed))
{
}

Nanos
SsdModel::latency(const bool write)
{
    const double base = (write ? parameters_.writeLatency : parameters_.readLatency) * nanosPerMicro;
    std::uniform_real_distribution<double> spread(-parameters_.jitter, parameters_.jitter);
    return static_cast<Nanos>(base * (1 + spread(random_)));
}

void
SsdModel::submit(Request &request)
{
    if (request.op == Op::flush) {
        completions_.add(request, request.arrival + static_cast<Nanos>(2 * parameters_.writeLatency * nanosPerMicro));
        return;
    }
    const bool write = request.op == Op::write;
    const double iops = write ? parameters_.writeIops : parameters_.readIops;
    const double megabytes = write ? parameters_.writeBandwidth : parameters_.readBandwidth;

    Nanos &slot = write ? writeSlot_ : readSlot_;
    const Nanos begin = std::max(slot, request.arrival);
    slot = begin + static_cast<Nanos>(nanosPerSecond / iops);

    const auto transfer = static_cast<Nanos>(static_cast<double>(request.size) / megabytes * nanosPerMicro);
    busFree_ = std::max(busFree_, begin) + transfer;
    counters_.transfer += transfer;

    const Nanos done = std::max(begin + latency(write) + transfer, busFree_) -
                       static_cast<Nanos>(parameters_.floor * nanosPerMicro);
    completions_.add(request, std::max(done, request.arrival));
}

} // namespace DiskModel

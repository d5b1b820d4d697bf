// SPDX-License-Identifier: GPL-2.0-or-later
/* A device in memory that takes as long as a real one would. */

#include "tools/bench/policy/ModelDevice.h"

using namespace ClusterFs;

namespace PolicyBench {

ModelDevice::ModelDevice(ManualClock &clock, const uint64_t size, const Costs &costs):
    MemoryDevice(clock, size),
    time_(clock),
    costs_(costs)
{
}

void
ModelDevice::carryOut(const Io &io)
{
    MemoryDevice::carryOut(io);
    if (io.op == IoOp::read || io.op == IoOp::write) // a flush has nothing to do
        time_.advance(static_cast<uint64_t>(costs_.request + costs_.byte * io.size));
}

} // namespace PolicyBench

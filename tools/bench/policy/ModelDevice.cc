// SPDX-License-Identifier: GPL-2.0-or-later
/* A device in memory that takes as long as a real one would. */

#include "tools/bench/policy/ModelDevice.h"
#include "tools/models/ManualClock.h"

#include <cstdio>

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
    if (io.op != IoOp::read && io.op != IoOp::write)
        return; // a flush has nothing to do
    const auto micros = static_cast<uint64_t>(costs_.request + costs_.byte * io.size);
    time_.advance(micros);
    if (showing_)
        printf("  %9.1f ms  disk %s %u KB at %.2f MB, %s: %.1f ms\n", static_cast<double>(time_.micros()) / 1000,
               io.op == IoOp::read ? "reads" : "writes", io.size / 1024, static_cast<double>(io.offset) / 1048576,
               io.ioClass == IoClass::urgent ? "urgent" : "background", static_cast<double>(micros) / 1000);
}

} // namespace PolicyBench

// SPDX-License-Identifier: GPL-2.0-or-later
/* What reading costs on a device. */

#ifndef SQUID_SRC_FS_CLUSTER_DEVICE_COSTMETER_H
#define SQUID_SRC_FS_CLUSTER_DEVICE_COSTMETER_H

#include <cstdint>

namespace ClusterFs {

/// Learns the two costs of a read from the reads that are done: one for the
/// request (positioning, commands) and one for each byte, by linear regression
/// with decay. The time of a request is counted from when the device was free
/// for it, so that waiting for others does not count and what the device does
/// in parallel makes requests cheaper.
class CostMeter
{
public:
    /// a read was done; all times in microseconds of one clock
    void add(uint64_t started, uint64_t finished, uint32_t bytes);

    double requestMicros() const { return request_; } ///< of one read of nothing
    double byteMicros() const { return byte_; } ///< of each byte more

private:
    void solve();

    uint64_t lastFinished_ = 0;
    /* decayed sums over x = bytes and y = microseconds */
    double n_ = 0;
    double x_ = 0;
    double y_ = 0;
    double xx_ = 0;
    double xy_ = 0;
    unsigned sinceSolved_ = 0;
    /* until something is known: between a hard disk and a solid-state one */
    double request_ = 2000;
    double byte_ = 1.0 / 150;
};

} // namespace ClusterFs

#endif

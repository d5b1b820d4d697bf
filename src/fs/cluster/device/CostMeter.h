// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of reading from a device. */

#ifndef SQUID_SRC_FS_CLUSTER_DEVICE_COSTMETER_H
#define SQUID_SRC_FS_CLUSTER_DEVICE_COSTMETER_H

#include <cstdint>

namespace ClusterFs {

/// Learns the two costs of a read from the reads that are done: one for the
/// request (positioning, commands) and one for each byte, by linear regression
/// with decay. The time of a request counts from the moment when the device was
/// free for it. So waiting for others does not count, and a device that works in
/// parallel has cheaper requests.
class CostMeter
{
public:
    /// a read was done; all times in microseconds of one clock
    void add(uint64_t started, uint64_t finished, uint32_t bytes);

    double requestMicros() const { return request_; } ///< microseconds that a read takes, its bytes aside
    double byteMicros() const { return byte_; } ///< microseconds for each byte of a read

private:
    void solve();

    uint64_t lastFinished_ = 0; ///< microseconds of the caller's clock
    /* decayed sums over the samples: x = bytes, y = microseconds */
    double n_ = 0;
    double x_ = 0;
    double y_ = 0;
    double xx_ = 0;
    double xy_ = 0;
    unsigned sinceSolved_ = 0; ///< samples
    /* at first, costs between those of a hard disk and those of a solid-state one */
    double request_ = 2000;
    double byte_ = 1.0 / 150;
};

} // namespace ClusterFs

#endif

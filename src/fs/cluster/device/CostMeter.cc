// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of reading from a device. */

#include "fs/cluster/device/CostMeter.h"

#include <algorithm>

namespace ClusterFs {
namespace {
constexpr double decay = 1 - 1.0 / 512; ///< factor for the weight of a sample with each later one
constexpr unsigned solveEvery = 32; ///< samples
constexpr double longest = 5e6; ///< microseconds; a read that takes longer says nothing about the device's speed
constexpr double fastest = 1.0 / 20000; ///< microseconds for a byte: 20 GB/s
constexpr double slowest = 1.0; ///< microseconds for a byte: 1 MB/s
} // namespace
} // namespace ClusterFs

void
ClusterFs::CostMeter::add(const uint64_t started, const uint64_t finished, const uint32_t bytes)
{
    const auto from = std::max(started, lastFinished_);
    lastFinished_ = std::max(lastFinished_, finished);
    const auto micros = finished > from ? static_cast<double>(finished - from) : 0;
    if (micros > longest)
        return;
    const auto x = static_cast<double>(bytes);
    n_ = n_ * decay + 1;
    x_ = x_ * decay + x;
    y_ = y_ * decay + micros;
    xx_ = xx_ * decay + x * x;
    xy_ = xy_ * decay + x * micros;
    if (++sinceSolved_ >= solveEvery)
        solve();
}

void
ClusterFs::CostMeter::solve()
{
    sinceSolved_ = 0;
    const auto meanX = x_ / n_;
    const auto meanY = y_ / n_;
    const auto variance = xx_ / n_ - meanX * meanX;
    // reads of about one size show the sum of both costs, but not the share of each
    if (variance > meanX * meanX / 16)
        byte_ = (xy_ / n_ - meanX * meanY) / variance;
    byte_ = std::min(std::max(byte_, fastest), slowest);
    request_ = meanY - byte_ * meanX;
    if (request_ < meanY / 20) { // the bytes of a read can't cost more than the whole read
        request_ = std::max(1.0, meanY / 20);
        byte_ = std::max(fastest, (meanY - request_) / std::max(1.0, meanX));
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What reading costs on a device. */

#include "fs/cluster/device/CostMeter.h"

#include <algorithm>

namespace ClusterFs {
namespace {
constexpr double decay = 1 - 1.0 / 512; ///< of a sample's weight with each later one
constexpr unsigned solveEvery = 32; ///< samples
constexpr double longest = 5e6; ///< microseconds: beyond, something else went on
constexpr double fastest = 1.0 / 20000; ///< microseconds for a byte: 20 GB/s
constexpr double slowest = 1.0; ///< 1 MB/s
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
    // reads of about one size tell the sum of both costs, not the shares
    if (variance > meanX * meanX / 16)
        byte_ = (xy_ / n_ - meanX * meanY) / variance;
    byte_ = std::min(std::max(byte_, fastest), slowest);
    request_ = meanY - byte_ * meanX;
    if (request_ < meanY / 20) { // bytes can't cost more than everything
        request_ = std::max(1.0, meanY / 20);
        byte_ = std::max(fastest, (meanY - request_) / std::max(1.0, meanX));
    }
}

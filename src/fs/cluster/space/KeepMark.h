// SPDX-License-Identifier: GPL-2.0-or-later
/* The worth from which on an object stays when its cluster goes. */

#ifndef SQUID_SRC_FS_CLUSTER_SPACE_KEEPMARK_H
#define SQUID_SRC_FS_CLUSTER_SPACE_KEEPMARK_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace ClusterFs {

/// Follows the worth of the objects in the clusters that go, so that about a given share of their bytes is above the
/// mark. These objects are moved. The number that the mark has says nothing by itself: policies differ in their unit, and
/// the same policy values objects lower on a busier device.
class KeepMark
{
public:
    /// the bytes of one cluster by their worth
    class Tally
    {
    public:
        /// \param worth EvictionPolicy::worth()
        void add(const float worth, const uint64_t bytes) {
            const auto place = std::clamp((worth - lowest) * perBit, 0.0F, static_cast<float>(bins - 1));
            bytes_[static_cast<size_t>(place)] += bytes;
            all_ += bytes;
        }

        uint64_t bytes() const { return all_; }

        /// the worth that so many bytes reach, or all of them if they are fewer
        float reachedBy(const uint64_t bytes) const {
            uint64_t above = 0;
            size_t n = bins;
            while (n > 0 && above < std::min(bytes, all_))
                above += bytes_[--n];
            return lowest + static_cast<float>(n) / perBit;
        }

    private:
        static constexpr float lowest = -34; ///< the worth of an object of 16 MB, with a weight of 1, at the greatest age is higher
        static constexpr float perBit = 8; ///< steps for each doubling of the worth
        static constexpr size_t bins = 38 * 8;

        std::array<uint64_t, bins> bytes_{};
        uint64_t all_ = 0;
    };

    /// whether an object of that worth stays; none does before the first cluster went, because nothing is known of the others
    bool isBelow(const float worth) const { return worth > mark_; }

    /// a cluster goes
    /// \param share bytes that should be above the mark
    void follow(const Tally &tally, const uint64_t share) {
        if (!tally.bytes())
            return;
        const auto reached = tally.reachedBy(share);
        mark_ = mark_ == unset ? reached : mark_ + (reached - mark_) * step;
    }

    /// the policy, and with it the unit, is another one
    void forget() { mark_ = unset; }

private:
    static constexpr float unset = std::numeric_limits<float>::infinity();
    static constexpr float step = 1.0F / 16; ///< how far a single cluster takes the mark with it

    float mark_ = unset;
};

} // namespace ClusterFs

#endif

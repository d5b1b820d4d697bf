// SPDX-License-Identifier: GPL-2.0-or-later
/* The members of a group in the order in which they came. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_MEMBERLIST_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_MEMBERLIST_H

#include "fs/cluster/learning/Pool.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <vector>

namespace ClusterFs {

/// A list of numbers of pool entries, which have a serial number each. The list is in the order of these; what comes last has the
/// highest. It is cut into blocks of 64 to 256 numbers, so that nothing takes longer in a long list, and a number takes
/// 4 to 8 bytes. \tparam Entries a table whose entries have a member serial
template <class Entries>
class MemberList
{
public:
    static constexpr size_t mostOfBlock = 256; ///< numbers

    explicit MemberList(const Entries &entries): entries_(entries) {}

    bool empty() const { return blocks_.empty(); }

    /// \param n an entry whose serial number is above all others
    void append(const uint32_t n) {
        if (blocks_.empty() || std::prev(blocks_.end())->second.size() >= mostOfBlock)
            blocks_.emplace(entries_[n].serial, Block());
        std::prev(blocks_.end())->second.push_back(n);
    }

    /// \param n an entry of the list, which still has its serial number
    void erase(const uint32_t n) {
        const auto block = std::prev(blocks_.upper_bound(entries_[n].serial));
        auto &numbers = block->second;
        const auto at = std::find(numbers.begin(), numbers.end(), n);
        assert(at != numbers.end());
        numbers.erase(at);
        if (numbers.empty())
            blocks_.erase(block);
        else if (numbers.size() < mostOfBlock / 4)
            join(block);
    }

    /// \returns the first number whose entry has a higher serial number; nothing when there is none
    uint32_t after(const uint64_t serial) const {
        const auto behind = blocks_.upper_bound(serial);
        if (behind != blocks_.begin()) {
            const auto &numbers = std::prev(behind)->second;
            const auto at = std::upper_bound(numbers.begin(), numbers.end(), serial, [this](const uint64_t s, const uint32_t n) {
                return s < entries_[n].serial;
            });
            if (at != numbers.end())
                return *at;
        }
        return behind == blocks_.end() ? nothing : behind->second.front();
    }

    /// \returns the last number whose entry has a lower serial number; nothing when there is none
    uint32_t before(const uint64_t serial) const {
        auto block = blocks_.lower_bound(serial); // its numbers are not lower
        if (block == blocks_.begin())
            return nothing;
        --block;
        const auto &numbers = block->second;
        const auto at = std::lower_bound(numbers.begin(), numbers.end(), serial, [this](const uint32_t n, const uint64_t s) {
            return entries_[n].serial < s;
        });
        if (at != numbers.begin())
            return *std::prev(at);
        return block == blocks_.begin() ? nothing : std::prev(block)->second.back();
    }

private:
    using Block = std::vector<uint32_t>;
    using Blocks = std::map<uint64_t, Block>; ///< by a serial number that is not above those in it, and above those of the one before

    /// makes one block of a small one and the next, if it is not large
    void join(const typename Blocks::iterator block) {
        const auto next = std::next(block);
        if (next != blocks_.end() && block->second.size() + next->second.size() <= mostOfBlock / 2) {
            block->second.insert(block->second.end(), next->second.begin(), next->second.end());
            blocks_.erase(next);
        }
        block->second.shrink_to_fit();
    }

    const Entries &entries_;
    Blocks blocks_;
};

} // namespace ClusterFs

#endif

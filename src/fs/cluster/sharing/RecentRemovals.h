// SPDX-License-Identifier: GPL-2.0-or-later
/* What was removed while workers were saying something else of it. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_RECENTREMOVALS_H
#define SQUID_SRC_FS_CLUSTER_SHARING_RECENTREMOVALS_H

#include "fs/cluster/base/Types.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace ClusterFs {

/// The owner hears one worker after the other. So it may hear that a worker stores an object, or changes it, after the removal
/// of that object, though the worker has said so before. Each removal has a number, and what is said of an object
/// has the number of the last removal before it. Removals are kept here until all that was said before them was heard.
/// It may also hear of a removal after a worker has stored the object anew: what was stored is kept here as long, so that the
/// removal leaves it.
class RecentRemovals
{
public:
    static constexpr size_t most = 1 << 16; ///< in one period; with more, all that was said before the last one is taken for removed
    static constexpr size_t mostStored = 1 << 16; ///< in one period; with more, an older removal removes them all

    void note(const Key &key, const uint64_t number) {
        if (now_.numbers.size() >= most) {
            now_.numbers.clear();
            now_.floor = now_.newest;
        }
        now_.newest = std::max(now_.newest, number);
        auto &known = now_.numbers[key];
        known = std::max(known, number);
    }

    /// whether the object was removed after what was said with this number
    bool after(const Key &key, const uint64_t number) const { return now_.after(key, number) || before_.after(key, number); }

    /// an object was stored; its worker said with this number that it begins
    void noteStored(const Key &key, const uint64_t number) {
        if (now_.stored.size() >= mostStored) {
            now_.stored.clear();
            before_.stored.clear(); // it may have an older object with that key
        }
        now_.stored[key] = number;
    }

    /// whether the object that is stored is newer than the removal with this number
    bool storedAfter(const Key &key, const uint64_t removal) const {
        const auto &period = now_.stored.count(key) ? now_ : before_;
        const auto found = period.stored.find(key);
        return found != period.stored.end() && found->second >= removal;
    }

    /// A period is over: in it, all was heard of each worker at least once.
    void nextPeriod() {
        before_ = std::move(now_);
        now_ = Period();
    }

private:
    struct Period {
        std::unordered_map<Key, uint64_t, KeyHash> numbers; ///< of removals
        std::unordered_map<Key, uint64_t, KeyHash> stored; ///< of the newest object
        uint64_t floor = 0; ///< all objects count as removed with it
        uint64_t newest = 0;

        bool after(const Key &key, const uint64_t number) const {
            if (floor > number)
                return true;
            const auto found = numbers.find(key);
            return found != numbers.end() && found->second > number;
        }
    };

    Period now_;
    Period before_; ///< the one before, whose removals may be younger than what was heard in it
};

} // namespace ClusterFs

#endif

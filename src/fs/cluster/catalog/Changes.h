// SPDX-License-Identifier: GPL-2.0-or-later
/* What has changed since the last checkpoint. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_CHANGES_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_CHANGES_H

#include "fs/cluster/base/HashedKey.h"
#include "fs/cluster/base/Memory.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ClusterFs {

/// Notes what a checkpoint must say anew, so that it costs what has changed and not what
/// there is: a bit for each cluster, eight bytes for each object that left a cluster
/// otherwise unchanged, was used, or got other times. While a checkpoint collects
/// what was noted before it began, what comes is noted for the next one.
class Changes
{
public:
    explicit Changes(uint32_t clusters);

    /// the state of a cluster changed, or what was put into it
    void cluster(const ClusterNo n) {
        now().set(n);
        any_ = true;
    }
    /// The next checkpoint has to name a cluster, though nothing happened that would be worth one.
    void again(const ClusterNo n) { now().set(n); }

    /// an object of a cluster is there no more
    /// \param offset of its extent
    void gone(ClusterNo, uint32_t offset);

    /// times or flags of an object are others
    void updated(HashedKey, ClusterNo);

    /// an object was used; that alone is worth no checkpoint
    void used(HashedKey);

    /// nothing of what was said before is of use
    void all() { all_ = any_ = true; }

    /// whether there is anything that a crash would make work of
    bool any() const { return any_; }
    bool anyUses() const { return !used_.empty(); }

    /* a checkpoint's part */

    void begin();
    /// it was written
    void done();
    /// it was not: what was to be collected belongs to the next one
    void failed();

    /// whether a checkpoint has to name all clusters
    bool collectsAll() const { return collectsAll_; }
    bool collects(const ClusterNo n) const { return before().get(n); }
    /// \param looks at the map, less by those made
    /// \returns the first cluster to be collected at or after one, or noCluster when there is none or no look left
    ClusterNo next(ClusterNo &from, unsigned &looks) const;

    struct Gone {
        ClusterNo cluster;
        uint32_t offset;
    };
    const std::vector<Gone> &collectedGone() const { return goneBefore_; }
    const std::vector<HashedKey> &collectedUpdates() const { return updatedBefore_; }
    const std::vector<HashedKey> &collectedUses() const { return usedBefore_; }

    static constexpr size_t maxGone = 1000000; ///< from then on, their clusters count as changed
    static constexpr size_t maxUpdated = 200000; ///< the same
    static constexpr size_t maxUsed = 1000000; ///< more are not known to the next start

private:
    /// A bit for each cluster. What a checkpoint costs must not depend on how many there are: pages of
    /// the map that nothing was noted in are left out.
    class Bits
    {
    public:
        explicit Bits(const uint32_t clusters): words_((clusters + wordBits - 1) / wordBits), pages_(words_.count() / pageWords + 1) {}

        void set(const ClusterNo n) {
            words_[n.value() / wordBits] |= uint64_t(1) << (n.value() % wordBits);
            pages_[n.value() / pageBits] = 1;
        }
        bool get(const ClusterNo n) const { return from(n.value()) & 1; }
        /// \returns the word with a bit, from that bit on
        uint64_t from(const uint32_t bit) const { return words_[bit / wordBits] >> (bit % wordBits); }
        /// whether the page that has a bit has any
        bool page(const uint32_t bit) const { return pages_[bit / pageBits]; }

        void clear();
        void add(const Bits &);

        static constexpr uint32_t wordBits = 64;
        static constexpr uint32_t pageWords = 512;
        static constexpr uint32_t pageBits = wordBits * pageWords; ///< clusters

    private:
        /// \returns the first word behind a page
        size_t end(const size_t page) const { return std::min<size_t>((page + 1) * pageWords, words_.count()); }

        Table<uint64_t> words_;
        std::vector<uint8_t> pages_; ///< whether something was noted in each
    };

    Bits &now() { return bits_[now_]; }
    const Bits &now() const { return bits_[now_]; }
    Bits &before() { return bits_[1 - now_]; } ///< to be collected
    const Bits &before() const { return bits_[1 - now_]; }

    const uint32_t count_;
    std::array<Bits, 2> bits_;
    unsigned now_ = 0; ///< which of them takes what comes
    std::vector<Gone> gone_, goneBefore_;
    std::vector<HashedKey> updated_, updatedBefore_;
    std::vector<HashedKey> used_, usedBefore_;
    bool any_ = false;
    bool all_ = false;
    bool collectsAll_ = false;
};

} // namespace ClusterFs

#endif

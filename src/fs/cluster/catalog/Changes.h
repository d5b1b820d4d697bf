// SPDX-License-Identifier: GPL-2.0-or-later
/* The changes since the last checkpoint. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_CHANGES_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_CHANGES_H

#include "fs/cluster/base/HashedKey.h"
#include "fs/cluster/base/Memory.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ClusterFs {

/// Notes changes for the next checkpoint, so that its cost depends on them and not on the
/// size of the store: a bit for each cluster, eight bytes for each object that left an
/// otherwise unchanged cluster, was used, or got other times. A checkpoint collects the
/// changes from before its begin, while new ones are noted for the next.
class Changes
{
public:
    explicit Changes(uint32_t clusters);

    /// the state of a cluster changed, or something was put into it
    void cluster(const ClusterNo n) {
        now().set(n);
        any_ = true;
    }
    /// The next checkpoint has to name a cluster; that alone is worth no checkpoint.
    void again(const ClusterNo n) { now().set(n); }

    /// an object is not in a cluster any more
    /// \param offset of its extent, bytes from the start of the cluster
    void gone(ClusterNo, uint32_t offset);

    /// an object got other times or flags
    void updated(HashedKey, ClusterNo);

    /// an object was used; that alone is worth no checkpoint
    void used(HashedKey);

    /// the next checkpoint has to name all clusters
    void all() { all_ = any_ = true; }

    /// whether there is a change that would cost a start after a crash some work
    bool any() const { return any_; }
    bool anyUses() const { return !used_.empty(); }

    /* calls of the checkpoint */

    void begin();
    /// the checkpoint was written: its changes are forgotten
    void done();
    /// it was not: its changes are for the next one
    void failed();

    /// whether the running checkpoint has to name all clusters
    bool collectsAll() const { return collectsAll_; }
    bool collects(const ClusterNo n) const { return before().get(n); }
    /// \param from where to begin; receives where to go on
    /// \param looks at the map that are allowed; receives how many are left
    /// \returns the first cluster to be collected at or after from; noCluster when there is none or no look is left
    ClusterNo next(ClusterNo &from, unsigned &looks) const;

    struct Gone {
        ClusterNo cluster;
        uint32_t offset; ///< of the extent, bytes from the start of the cluster
    };
    const std::vector<Gone> &collectedGone() const { return goneBefore_; }
    const std::vector<HashedKey> &collectedUpdates() const { return updatedBefore_; }
    const std::vector<HashedKey> &collectedUses() const { return usedBefore_; }

    static constexpr size_t maxGone = 1000000; ///< the clusters of more count as changed
    static constexpr size_t maxUpdated = 200000; ///< the same
    static constexpr size_t maxUsed = 1000000; ///< the next start does not know more

private:
    /// A bit for each cluster. The cost of a checkpoint must not depend on the number of clusters: it
    /// leaves out pages of the map that have no bit.
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
    unsigned now_ = 0; ///< the one that takes new changes
    std::vector<Gone> gone_, goneBefore_;
    std::vector<HashedKey> updated_, updatedBefore_;
    std::vector<HashedKey> used_, usedBefore_;
    bool any_ = false; ///< see any()
    bool all_ = false; ///< see all()
    bool collectsAll_ = false; ///< see collectsAll()
};

} // namespace ClusterFs

#endif

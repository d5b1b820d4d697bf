// SPDX-License-Identifier: GPL-2.0-or-later
/* A store as years of use would leave it, made in seconds. */

#ifndef CLUSTERFS_BENCH_SCALE_MADESTORE_H
#define CLUSTERFS_BENCH_SCALE_MADESTORE_H

#include "fs/cluster/device/AioDevice.h"
#include "tools/bench/scale/Corpus.h"

#include <memory>
#include <set>

namespace ScaleBench {

/// how large a store is to be
struct Shape {
    uint64_t deviceBytes = 0;
    uint32_t clusterKb = 1024;
    uint64_t objects = 0;
    uint32_t objectBytes = 0;
    uint64_t copies = 0; ///< see Corpus; the store has died then, else it was stopped
};

/// A file with superblocks, index log and journal that say what a corpus holds: what
/// one checkpoint of all there is leaves, as layout/ encodes it.
class MadeStore
{
public:
    /// plans it; \throws std::runtime_error when it can't be
    MadeStore(const Shape &, const std::string &path);

    /// whether so much goes onto such a disk
    static bool Fits(const Shape &);

    /// Writes it, over what was there. \throws std::runtime_error
    void make();

    /// opens the file. \throws std::runtime_error
    std::unique_ptr<ClusterFs::AioDevice> open(const ClusterFs::Clock &) const;

    const Corpus &corpus() const { return corpus_; }
    const Shape &shape() const { return shape_; }

    /// reads all of the index log that counts, from its tail to its head, in pieces of 1 MB, eight at a time
    /// \param bytes receives how many these are
    /// \returns microseconds
    uint64_t readLog(uint64_t &bytes) const;

    /// Writes zeros over a block in the middle of the log.
    /// \returns the objects that it described
    std::set<uint64_t> damage() const;

private:
    uint64_t used() const; ///< clusters, those of the index log included
    void writeLog(ClusterFs::Device &);
    void writeJournal(ClusterFs::Device &) const;

    Shape shape_;
    std::string path_;
    Corpus corpus_;
    ClusterFs::Superblock superblock_;
};

} // namespace ScaleBench

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* A device in a few thousand cells, for a picture of it. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_MAPCELLS_H
#define SQUID_SRC_FS_CLUSTER_SQUID_MAPCELLS_H

#include "fs/cluster/base/Types.h"

#include <array>
#include <string>
#include <vector>

namespace ClusterFs {

class Catalog;

/// one cluster, or several neighbours where there are too many for a picture
struct MapCell {
    ClusterNo first = noCluster;
    ClusterNo last = noCluster;
    unsigned packed = 0; ///< clusters in each state
    unsigned large = 0;
    unsigned bad = 0;
    unsigned log = 0;
    uint64_t objects = 0;
    uint64_t grouped = 0; ///< those that lie in a group of two and more
    uint64_t groups = 0;
    uint64_t liveBytes = 0;
    double written = 0; ///< sum of the ranks of the clusters in use among all of these by their last write, 1 = the latest
    double used = 0; ///< the same by their last use
    uint32_t latest = 0; ///< write, seconds since 1970

    unsigned inUse() const { return packed + large; }

    /// the names of the numbers in the text
    static constexpr const char *columns = "first last small large bad log objects grouped groups live_bytes written used latest";

    /// the cell as a line of text, and back
    std::string text() const;
    /// \returns false when the text is none of a cell
    bool parse(const std::string &text);
};

/// what is still needed of the clusters of an age, which counts back from the latest write of all
struct MapAge {
    static constexpr uint32_t unbounded = ~0U;

    uint32_t upTo = unbounded; ///< seconds; a row begins behind the one before
    uint64_t clusters = 0;
    uint64_t bytes = 0;

    std::string text() const; ///< the three as a line, - for no bound
};

/// Finds the objects of a packed cluster that lie side by side because they belong together.
/// \param most objects that are looked at
/// \param looks receives how many were
/// \returns the number of objects of each group, 1 for an object alone, in the order of their place
std::vector<unsigned> groupsIn(const Catalog &, ClusterNo, unsigned most, unsigned &looks);

/// Goes over clusters and objects in small pieces, because there are millions of them. What changes between two pieces
/// is in some cells as it was, and in others as it is.
class MapCells
{
public:
    static constexpr unsigned maxColumns = 50; ///< a picture has the square of this as cells at most

    /// \param catalog must outlive this
    explicit MapCells(const Catalog &catalog);

    /// does a piece of the work, in less than a millisecond
    /// \returns false when all cells are there
    bool work();

    /// the cells that are whole so far
    const std::vector<MapCell> &cells() const { return cells_; }

    using Ages = std::array<MapAge, 11>;

    /// what is stored, by its age; whole when all cells are there
    const Ages &ages() const { return ages_; }

private:
    enum class Step : uint8_t { range, count, fill, over };

    /// Ranks values by a histogram, exact while the range of values is not larger than it: sorting millions of
    /// clusters would take a second.
    class Ranks
    {
    public:
        void widen(uint64_t value);
        void add(uint64_t value);
        void finish();
        double rankOf(uint64_t value) const;

    private:
        static constexpr size_t maxBuckets = 1 << 16;

        size_t bucketOf(uint64_t value) const;

        uint64_t least_ = ~uint64_t(0);
        uint64_t most_ = 0;
        std::vector<uint32_t> counts_; ///< of values; after finish(), of those below
        uint32_t last_ = 0; ///< of those below the most
    };

    void step(ClusterNo);
    void fill(ClusterNo);
    unsigned addObjects(MapCell &, ClusterNo) const;
    void addAge(uint32_t written, uint64_t bytes);
    void turnOver();

    static constexpr unsigned turnLooks = 2048; ///< lines of the cluster table, or objects, which count as recordLooks
    static constexpr unsigned maxWalk = turnLooks / 4; ///< objects of a cluster that are looked at
    static constexpr unsigned recordLooks = 4; ///< an object's record lies anywhere in memory

    const Catalog &catalog_;
    const uint32_t perCell_; ///< clusters
    Step step_ = Step::range;
    ClusterNo next_{0};
    unsigned looks_ = 0; ///< left in this piece
    Ranks written_;
    Ranks used_;
    uint32_t latest_ = 0; ///< write, seconds since 1970
    Ages ages_;
    MapCell cell_; ///< is being filled
    std::vector<MapCell> cells_;
};

} // namespace ClusterFs

#endif

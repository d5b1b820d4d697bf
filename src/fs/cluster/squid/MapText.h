// SPDX-License-Identifier: GPL-2.0-or-later
/* The manager's page with the map of a cache_dir. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_MAPTEXT_H
#define SQUID_SRC_FS_CLUSTER_SQUID_MAPTEXT_H

#include "fs/cluster/squid/MapCells.h"
#include "fs/cluster/squid/PageText.h"

namespace ClusterFs {

class SwapDir;

/// Writes lines "name: value" about the device, the names of a cell's numbers, a line "cell: ..." for each MapCell, a line
/// "age: ..." for each MapAge, and "end: yes".
class MapText final : public PageText
{
public:
    /// \param dir has an engine
    explicit MapText(const SwapDir &dir);

private:
    double work(std::string &) override;

    const SwapDir &dir_;
    const unsigned starts_; ///< of the cache_dir when the page began
    MapCells cells_;
    bool begun_ = false; ///< the lines about the device are written
    size_t written_ = 0; ///< cells
};

} // namespace ClusterFs

#endif

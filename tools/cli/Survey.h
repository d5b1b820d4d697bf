// SPDX-License-Identifier: GPL-2.0-or-later
/* A device in figures. */

#ifndef CLUSTERFS_TOOLS_CLI_SURVEY_H
#define CLUSTERFS_TOOLS_CLI_SURVEY_H

#include "Objects.h"

namespace ClusterFs::Cli {

/// Describes a device for clusterfs report: its size, the states of its clusters, the sizes of its objects and of its
/// groups, when its bytes were written, and a list of at most 2,500 cells in the order of their place. A cell is a cluster, or
/// several neighbours: a MapCell. It has no URLs and no keys.
/// \returns an object; sizes are in bytes, times in seconds. "written" and "used" of a cell are between 0, the clusters
/// that were written or used longest ago, and 1, the latest; ages count back from the latest write
Tools::Json survey(const std::string &path, const OpenedIndex &);

} // namespace ClusterFs::Cli

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Time as the disk model counts it. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_BASE_TIME_H
#define CLUSTERFS_TOOLS_DISKMODEL_BASE_TIME_H

#include "tools/base/Clock.h"

namespace DiskModel {

using namespace Tools;

constexpr Nanos never = INT64_MAX;
constexpr double nanosPerSecond = 1e9;
constexpr double nanosPerMilli = 1e6;
constexpr double nanosPerMicro = 1e3;

} // namespace DiskModel

#endif

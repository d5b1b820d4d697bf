// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals that ask a process to end. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_SERVE_SIGNALS_H
#define CLUSTERFS_TOOLS_DISKMODEL_SERVE_SIGNALS_H

namespace DiskModel {

/// From now on SIGTERM, SIGINT and SIGHUP do not end this process, nor those
/// that it makes, but make a descriptor readable. SIGPIPE is ignored.
/// \returns the descriptor, or -1 with errno
int stopSignals();

} // namespace DiskModel

#endif

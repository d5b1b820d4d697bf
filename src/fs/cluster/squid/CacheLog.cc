// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "debug/Stream.h"
#include "fs/cluster/squid/CacheLog.h"

void
ClusterFs::toCacheLog(const LogLevel level, const std::string &line)
{
    debugs(47, DBG_IMPORTANT, levelText(level) << line);
}

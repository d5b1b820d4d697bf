// SPDX-License-Identifier: GPL-2.0-or-later
/* The fields of all structures on the device, for docs/format.md. */

#include "fs/cluster/layout/Tables.h"

std::vector<ClusterFs::LayoutTable>
ClusterFs::layoutTables()
{
    std::vector<LayoutTable> tables;
    addSuperblockTables(tables);
    addClusterTables(tables);
    addIndexTables(tables);
    addGroupsTables(tables);
    addJournalTables(tables);
    return tables;
}

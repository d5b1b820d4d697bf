// SPDX-License-Identifier: GPL-2.0-or-later
/* The fields of all structures on the device, for docs/format.md. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_TABLES_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_TABLES_H

#include "fs/cluster/layout/Fields.h"

#include <string>
#include <vector>

namespace ClusterFs {

/// a structure on the device, or a record of one kind
struct LayoutTable {
    const char *name; ///< of the structure; records of several kinds share it
    FieldRows rows;
    unsigned kind = 0; ///< of a record: its first byte
    const char *means = ""; ///< of a record: its meaning
};

/// the fields of one structure
/// \param describe is called with a FieldTable and calls the describe...() of the structure with it
template <class Describe>
FieldRows
fieldsOf(const Describe &describe)
{
    FieldTable table;
    describe(table);
    return table.rows;
}

/// all structures, in the order of docs/format.md
std::vector<LayoutTable> layoutTables();

/* parts of layoutTables(), each in the file that encodes the structures */
void addSuperblockTables(std::vector<LayoutTable> &);
void addClusterTables(std::vector<LayoutTable> &);
void addIndexTables(std::vector<LayoutTable> &);
void addGroupsTables(std::vector<LayoutTable> &);
void addJournalTables(std::vector<LayoutTable> &);

} // namespace ClusterFs

#endif

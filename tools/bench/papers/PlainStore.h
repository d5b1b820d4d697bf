// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls of clusterfs.h as a store of the experiments. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_PLAINSTORE_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_PLAINSTORE_H

#include "LibraryStore.h"

namespace Papers {

/// The calls of clusterfs.h that wait. What does not wait goes by store() and a queue.
class PlainStore : public LibraryStore
{
public:
    PlainStore(const StoreOrder &order, const Content &content): LibraryStore(order, content, order.path, 0) {}

    Outcome create(const Item &, const Hint &) override;
    Outcome read(const Item &, const Hint &, uint32_t &version) override;
    Outcome remove(uint32_t id) override;
};

} // namespace Papers

#endif

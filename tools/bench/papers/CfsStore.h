// SPDX-License-Identifier: GPL-2.0-or-later
/* CFS's calls as a store of the experiments. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_CFSSTORE_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_CFSSTORE_H

#include "LibraryStore.h"

namespace Papers {

/// The calls of clusterfs/cfs.h. create() and read() do not wait there, so each is followed by sync(). They know no hints.
class CfsStore final : public LibraryStore
{
public:
    CfsStore(const StoreOrder &order, const Content &content): LibraryStore(order, content, order.path, 0) {}
    ~CfsStore() override;

    Outcome create(const Item &, const Hint &) override;
    Outcome read(const Item &, const Hint &, uint32_t &version) override;
    Outcome remove(uint32_t id) override;

protected:
    bool open(std::string &error) override;
    bool close(std::string &error) override;
};

} // namespace Papers

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Hummingbird's calls as a store of the experiments. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_HUMMINGBIRDSTORE_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_HUMMINGBIRDSTORE_H

#include "LibraryStore.h"

namespace Papers {

/// The calls of clusterfs/hummingbird.h. Hints become collocate_files(), as in the paper's workload generators: an object that was written is
/// wanted with its page.
class HummingbirdStore final : public LibraryStore
{
public:
    HummingbirdStore(const StoreOrder &order, const Content &content): LibraryStore(order, content, order.path, 0) {}
    ~HummingbirdStore() override;

    Outcome create(const Item &, const Hint &) override;
    Outcome read(const Item &, const Hint &, uint32_t &version) override;
    Outcome remove(uint32_t id) override;
    void idle() override; ///< the daemons

protected:
    bool open(std::string &error) override;
    bool close(std::string &error) override;
};

} // namespace Papers

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Damelo's class as a store of the experiments. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_DAMELOSTORE_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_DAMELOSTORE_H

#include "LibraryStore.h"

#include "clusterfs/damelo.h"

#include <memory>

namespace Papers {

/// The class of clusterfs/damelo.h, on a device that was formatted with the cluster size of the experiment: Damelo's frames.
/// A hint's group is the object's group; without hints, all are in one.
class DameloStore final : public LibraryStore
{
public:
    DameloStore(const StoreOrder &order, const Content &content): LibraryStore(order, content, order.path, 0) {}
    ~DameloStore() override;

    bool start(std::string &error) override;
    Outcome create(const Item &, const Hint &) override;
    Outcome read(const Item &, const Hint &, uint32_t &version) override;
    Outcome remove(uint32_t id) override;
    void prefer(const std::vector<bool> &wanted) override; ///< love() and hate()

protected:
    bool open(std::string &error) override;
    bool close(std::string &error) override;

private:
    int groupOf(const Hint &) const;

    std::unique_ptr<clusterfs::damelo::Damelo> damelo_;
};

} // namespace Papers

#endif

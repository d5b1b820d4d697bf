// SPDX-License-Identifier: GPL-2.0-or-later
/* Visits of pages. */

#ifndef CLUSTERFS_BENCH_WEB_WORKLOAD_PAGESWORKLOAD_H
#define CLUSTERFS_BENCH_WEB_WORKLOAD_PAGESWORKLOAD_H

#include "tools/bench/web/workload/Chooser.h"
#include "tools/bench/web/workload/Workload.h"

#include <memory>
#include <unordered_map>

namespace WebBench {

/// Users go to pages by popularity, or return to one of their last ones; pages
/// change: an embedded object is replaced by its next version, under a new URL.
class PagesWorkload: public Workload
{
public:
    struct Config {
        Chooser::Config choice;
        double revisit = 0; ///< chance that a visit is a return
        double change = 0; ///< chance that a page was changed before a visit
    };

    PagesWorkload(std::unique_ptr<Corpus>, const Config &);

    bool next(uint32_t user, Visit &) override;
    CorpusTotals totals() const override { return corpus_->totals(); }

    const Corpus &corpus() const { return *corpus_; }

private:
    static constexpr size_t remembered = 8; ///< pages to which a user may return
    static constexpr size_t maxChanged = 4000000; ///< objects with later versions; beyond that nothing changes any more

    bool choosePage(uint32_t user, uint64_t &page);
    void changeOne(const Page &);
    uint32_t versionOf(const Page &, const Member &) const;

    std::unique_ptr<Corpus> corpus_;
    Config config_;
    Chooser chooser_;
    Random random_;
    std::unordered_map<uint32_t, std::vector<uint64_t>> last_; ///< by user; the latest at the end
    std::unordered_map<uint64_t, uint32_t> versions_; ///< by identity; the others have version 1
};

} // namespace WebBench

#endif

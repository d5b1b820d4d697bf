// SPDX-License-Identifier: GPL-2.0-or-later
/* Recorded pages, multiplied into many sites. */

#ifndef CLUSTERFS_BENCH_WEB_CORPUS_TRACECORPUS_H
#define CLUSTERFS_BENCH_WEB_CORPUS_TRACECORPUS_H

#include "tools/bench/web/corpus/Corpus.h"
#include "tools/bench/web/corpus/TraceFile.h"

namespace WebBench {

/// Each site repeats a recorded session, in turn; each of its pages repeats a
/// page of that session, in turn. A page has objects of its own, but for those
/// that were on several pages of the session: the site has these once. Where a
/// session has only one page, some of its objects are taken to be shared.
class TraceCorpus: public Corpus
{
public:
    struct Shape {
        uint64_t seed = 1;
        double pageBytes = 0; ///< mean to which all sizes are scaled; 0 leaves them
        double shared = 0; ///< share of the embedded objects that are shared, in sessions of one page
    };

    /// \param sessions not empty
    TraceCorpus(uint64_t sites, uint64_t pagesPerSite, const Shape &, std::vector<TraceSession> sessions);

private:
    std::vector<Member> membersOf(uint32_t site, uint32_t page) const override;
    void scaleTo(double pageBytes);

    std::vector<TraceSession> sessions_;
};

} // namespace WebBench

#endif

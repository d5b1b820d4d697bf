// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages made up after the figures of recorded ones. */

#ifndef CLUSTERFS_BENCH_WEB_CORPUS_GENERATEDCORPUS_H
#define CLUSTERFS_BENCH_WEB_CORPUS_GENERATEDCORPUS_H

#include "tools/base/Random.h"
#include "tools/bench/web/corpus/Corpus.h"
#include "tools/bench/web/corpus/Fitted.h"

namespace WebBench {

using namespace Tools;

/// Pages whose distributions are those of Fitted, scaled to stated means.
class GeneratedCorpus: public Corpus
{
public:
    struct Shape {
        uint64_t seed = 1;
        double objects = 42; ///< mean number of objects of a page, its HTML counted; at least 1
        double pageBytes = 570000; ///< mean
        double shared = Fitted::recordedSharedShare; ///< the share of the embedded objects that a site's pages have in common
    };

    GeneratedCorpus(uint64_t sites, uint64_t pagesPerSite, const Shape &);

private:
    std::vector<Member> membersOf(uint32_t site, uint32_t page) const override;
    Member makeMember(Random &, uint32_t site, uint32_t place, uint32_t *sharedSoFar) const;
    uint64_t scaled(const Quantiles &, Random &) const;

    Shape shape_;
    double countFactor_;
    double sizeFactor_;
};

} // namespace WebBench

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The web that is asked for: sites with pages with embedded objects. */

#ifndef CLUSTERFS_BENCH_WEB_CORPUS_CORPUS_H
#define CLUSTERFS_BENCH_WEB_CORPUS_CORPUS_H

#include "tools/bench/web/corpus/Target.h"

#include <cstdint>
#include <string>
#include <vector>

namespace WebBench {

/// One object of a page.
struct Member {
    Kind kind = Kind::html;
    bool shared = false; ///< belongs to the site, not to this page
    uint32_t name = 0; ///< among those of the page, or those that the site shares
    uint32_t parent = 0; ///< the place in the page of the object that asks for it; the page's HTML is 0
    uint64_t size = 0; ///< bytes
};

/// One page of a site: its HTML, then what it embeds, in the order of the document.
struct Page {
    uint32_t site = 0;
    uint32_t number = 0; ///< in its site
    std::vector<Member> members; ///< never empty
};

/// What a corpus comes to.
struct CorpusTotals {
    uint64_t pages = 0;
    uint64_t objects = 0; ///< different ones
    uint64_t bytes = 0; ///< of different objects
    double meanObjectsPerPage = 0; ///< of a visit; shared ones count for each page
    double meanPageBytes = 0; ///< likewise
};

constexpr uint64_t maxPages = 20000000; ///< of a corpus
constexpr unsigned maxMembers = 4000; ///< of a page

/// Pages are computed when asked for, so a corpus takes no memory, however
/// large; the same arguments give the same pages on every machine.
class Corpus
{
public:
    /// \param sites and \param pagesPerSite at least 1; together at most maxPages
    Corpus(uint64_t sites, uint64_t pagesPerSite): sites_(sites), pagesPerSite_(pagesPerSite) {}
    virtual ~Corpus() = default;

    uint64_t sites() const { return sites_; }
    uint64_t pages() const { return sites_ * pagesPerSite_; }

    /// \param number from 0 to pages() - 1
    Page page(uint64_t number) const;

    /// looks at every page: about a second for 100,000 of them
    CorpusTotals totals() const;

    /// Takes as many sites as come to at least that many bytes and objects.
    /// \returns false with the reason in error when maxPages don't
    bool growTo(uint64_t bytes, uint64_t objects, std::string &error);

    /// \returns the path of an object of a page
    static std::string path(const Page &, const Member &, uint32_t version);

    /// \returns a number that tells an object of a page from all others of the corpus
    static uint64_t identity(const Page &, const Member &);

private:
    virtual std::vector<Member> membersOf(uint32_t site, uint32_t page) const = 0;
    CorpusTotals totalsOf(uint32_t site) const;

    uint64_t sites_;
    uint64_t pagesPerSite_;
};

} // namespace WebBench

#endif

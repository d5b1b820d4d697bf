// SPDX-License-Identifier: GPL-2.0-or-later
/* The web that is asked for: sites with pages with embedded objects. */

#include "tools/bench/web/corpus/Corpus.h"
#include "tools/base/Random.h"

#include <unordered_set>

namespace WebBench {

using namespace Tools;

Page
Corpus::page(const uint64_t number) const
{
    Page result;
    result.site = static_cast<uint32_t>(number / pagesPerSite_);
    result.number = static_cast<uint32_t>(number % pagesPerSite_);
    result.members = membersOf(result.site, result.number);
    return result;
}

/// with sums in place of the means
CorpusTotals
Corpus::totalsOf(const uint32_t site) const
{
    CorpusTotals result;
    std::unordered_set<uint64_t> shared;
    for (uint32_t number = 0; number < pagesPerSite_; ++number) {
        const Page one{site, number, membersOf(site, number)};
        ++result.pages;
        for (const auto &member: one.members) {
            ++result.meanObjectsPerPage;
            result.meanPageBytes += static_cast<double>(member.size);
            if (!member.shared || shared.insert(identity(one, member)).second) {
                ++result.objects;
                result.bytes += member.size;
            }
        }
    }
    return result;
}

CorpusTotals
Corpus::totals() const
{
    CorpusTotals result;
    for (uint32_t site = 0; site < sites_; ++site) {
        const auto one = totalsOf(site);
        result.pages += one.pages;
        result.objects += one.objects;
        result.bytes += one.bytes;
        result.meanObjectsPerPage += one.meanObjectsPerPage;
        result.meanPageBytes += one.meanPageBytes;
    }
    result.meanObjectsPerPage /= static_cast<double>(result.pages);
    result.meanPageBytes /= static_cast<double>(result.pages);
    return result;
}

bool
Corpus::growTo(const uint64_t bytes, const uint64_t objects, std::string &error)
{
    constexpr uint32_t sample = 64; // sites that tell whether it is hopeless, before much time is spent
    const auto most = maxPages / pagesPerSite_;
    uint64_t byteSum = 0, objectSum = 0;
    uint32_t site = 0;
    const auto hopeless = [&](const uint64_t wanted, const uint64_t sum) {
        return static_cast<double>(wanted) > 2 * static_cast<double>(sum) / sample * static_cast<double>(most);
    };
    for (; byteSum < bytes || objectSum < objects; ++site) {
        if (site == most || (site == sample && (hopeless(bytes, byteSum) || hopeless(objects, objectSum)))) {
            error = "a corpus of " + std::to_string(bytes) + " bytes and " + std::to_string(objects) + " objects would have more than "
                    + std::to_string(maxPages) + " pages";
            return false;
        }
        const auto one = totalsOf(site);
        byteSum += one.bytes;
        objectSum += one.objects;
    }
    sites_ = site;
    return true;
}

std::string
Corpus::path(const Page &page, const Member &member, const uint32_t version)
{
    const auto folder = "/s" + std::to_string(page.site) + (member.shared ? "/shared" : "/p" + std::to_string(page.number));
    return makePath(folder, infoOf(member.kind).letter + std::to_string(member.name), member.kind, member.size, version);
}

uint64_t
Corpus::identity(const Page &page, const Member &member)
{
    const uint64_t place = member.shared ? UINT32_MAX : page.number;
    return mix(mix(page.site, place), uint64_t(member.name) * kindCount + static_cast<uint64_t>(member.kind));
}

} // namespace WebBench

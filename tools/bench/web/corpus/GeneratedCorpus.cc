// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages made up after the figures of recorded ones. */

#include "tools/bench/web/corpus/GeneratedCorpus.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace WebBench {

GeneratedCorpus::GeneratedCorpus(const uint64_t sites, const uint64_t pagesPerSite, const Shape &shape):
    Corpus(sites, pagesPerSite),
    shape_(shape),
    countFactor_((shape.objects - 1) / Fitted::members().mean()),
    sizeFactor_(shape.pageBytes / (Fitted::pageSize().mean() + (shape.objects - 1) * Fitted::meanMemberSize()))
{
}

uint64_t
GeneratedCorpus::scaled(const Quantiles &sizes, Random &random) const
{
    const double size = std::round(sizes.at(random.real()) * sizeFactor_);
    return static_cast<uint64_t>(std::clamp(size, 1.0, static_cast<double>(largestObject)));
}

/// \param sharedSoFar how many of each kind the page has of those that its site shares
Member
GeneratedCorpus::makeMember(Random &random, const uint32_t site, const uint32_t place, uint32_t *const sharedSoFar) const
{
    Member member;
    member.kind = Fitted::drawKind(random);
    member.shared = random.chance(Fitted::sharedShare(member.kind, shape_.shared));
    if (member.shared) {
        // all pages of a site take the first ones, as they have its frame in common
        member.name = sharedSoFar[static_cast<unsigned>(member.kind)]++;
        Random own(mix(mix(shape_.seed, site), mix(member.name + 1, static_cast<uint64_t>(member.kind))));
        member.size = scaled(Fitted::memberSize(member.kind), own);
    } else {
        member.name = place;
        member.size = scaled(Fitted::memberSize(member.kind), random);
    }
    return member;
}

std::vector<Member>
GeneratedCorpus::membersOf(const uint32_t site, const uint32_t page) const
{
    Random random(mix(shape_.seed, (uint64_t(site) << 32) + page));
    const double wanted = Fitted::members().at(random.real()) * countFactor_;
    const auto count = static_cast<uint32_t>(std::min(wanted + random.real(), double(maxMembers - 1)));

    std::vector<std::pair<double, Member>> placed;
    uint32_t sharedSoFar[kindCount] = {};
    for (uint32_t i = 1; i <= count; ++i) {
        const auto member = makeMember(random, site, i, sharedSoFar);
        // style sheets tend to come first, but not all
        placed.emplace_back(Fitted::position(member.kind) + (random.real() - .5) * .6, member);
    }
    std::stable_sort(placed.begin(), placed.end(), [](const auto &a, const auto &b) { return a.first < b.first; });

    std::vector<Member> result(1);
    result[0].size = scaled(Fitted::pageSize(), random);
    uint32_t styleSheet = 0; // the last one before
    for (const auto &one: placed) {
        auto member = one.second;
        if (member.kind == Kind::font || (member.kind == Kind::image && random.chance(Fitted::imagesOfStyleSheets)))
            member.parent = styleSheet;
        if (member.kind == Kind::css)
            styleSheet = static_cast<uint32_t>(result.size());
        result.push_back(member);
    }
    return result;
}

} // namespace WebBench

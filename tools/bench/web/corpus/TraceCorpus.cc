// SPDX-License-Identifier: GPL-2.0-or-later
/* Recorded pages, multiplied into many sites. */

#include "tools/bench/web/corpus/TraceCorpus.h"
#include "tools/base/Random.h"
#include "tools/bench/web/corpus/Fitted.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace WebBench {

using namespace Tools;

TraceCorpus::TraceCorpus(const uint64_t sites, const uint64_t pagesPerSite, const Shape &shape, std::vector<TraceSession> sessions):
    Corpus(sites, pagesPerSite),
    sessions_(std::move(sessions))
{
    if (shape.pageBytes > 0)
        scaleTo(shape.pageBytes);
    Random random(shape.seed);
    for (auto &session: sessions_) {
        if (session.size() > 1)
            continue;
        for (size_t i = 1; i < session[0].size(); ++i) {
            auto &object = session[0][i];
            object.shared = random.chance(Fitted::sharedShare(object.kind, shape.shared));
        }
    }
}

void
TraceCorpus::scaleTo(const double pageBytes)
{
    // pages of short sessions are repeated more often, so the mean goes by session
    double mean = 0;
    for (const auto &session: sessions_) {
        double bytes = 0;
        for (const auto &page: session) {
            for (const auto &object: page)
                bytes += static_cast<double>(object.size);
        }
        mean += bytes / static_cast<double>(session.size()) / static_cast<double>(sessions_.size());
    }
    for (auto &session: sessions_) {
        for (auto &page: session) {
            for (auto &object: page) {
                const double size = std::round(static_cast<double>(object.size) * pageBytes / mean);
                object.size = static_cast<uint64_t>(std::clamp(size, 1.0, static_cast<double>(largestObject)));
            }
        }
    }
}

std::vector<Member>
TraceCorpus::membersOf(const uint32_t site, const uint32_t page) const
{
    const auto &session = sessions_[site % sessions_.size()];
    std::vector<Member> result;
    for (const auto &object: session[page % session.size()]) {
        Member member;
        member.kind = object.kind;
        member.size = object.size;
        member.shared = object.shared;
        member.name = object.shared ? object.url : static_cast<uint32_t>(result.size());
        member.parent = object.parent;
        result.push_back(member);
    }
    return result;
}

} // namespace WebBench

// SPDX-License-Identifier: GPL-2.0-or-later
/* Making traces. */

#include "Generator.h"

#include "tools/base/Random.h"

#include <algorithm>

using Random = Tools::TwisterRandom;

namespace Papers {
namespace {

constexpr unsigned visitsAtOnce = 16; ///< clients that are in the middle of a page
constexpr size_t maxMembers = 200; ///< of a page

/// pages and what belongs to them; the first member is the page itself
class Site
{
public:
    Site(Trace &trace, const SizeModel &sizes, Random &random): trace_(trace), sizes_(sizes), random_(random) {}

    uint32_t newObject(const double bytes) {
        const auto limited = std::min(std::max(bytes, static_cast<double>(Trace::bytesLeast)), sizes_.tailMost);
        trace_.sizes.push_back(static_cast<uint32_t>(limited));
        return static_cast<uint32_t>(trace_.sizes.size() - 1);
    }

    uint32_t newDownload() { return newObject(random_.pareto(sizes_.tailLeast, sizes_.tailAlpha)); }

    /// \param donor another page, some of whose members it has as well, or none
    uint32_t newPage(const std::vector<uint32_t> &history, const double shared) {
        const auto target = random_.lognormal(sizes_.setMedian, sizes_.setSigma);
        std::vector<uint32_t> members{newObject(random_.lognormal(sizes_.bodyMedian, sizes_.bodySigma))};
        double bytes = trace_.sizes[members[0]];
        while (bytes < target && members.size() < maxMembers) {
            auto member = Hint::none;
            if (!history.empty() && random_.chance(shared))
                member = memberOf(history[history.size() - random_.lag(history.size())]);
            if (member == Hint::none)
                member = newObject(random_.lognormal(sizes_.bodyMedian, sizes_.bodySigma));
            bytes += trace_.sizes[member];
            if (std::find(members.begin(), members.end(), member) == members.end())
                members.push_back(member);
        }
        first_.push_back(members_.size());
        members_.insert(members_.end(), members.begin(), members.end());
        return static_cast<uint32_t>(first_.size() - 1);
    }

    size_t begin(const uint32_t page) const { return first_[page]; }
    size_t end(const uint32_t page) const { return page + 1 < first_.size() ? first_[page + 1] : members_.size(); }
    uint32_t member(const size_t at) const { return members_[at]; }
    uint32_t pages() const { return static_cast<uint32_t>(first_.size()); }

private:
    /// one of a page's members, not the page itself, or none
    uint32_t memberOf(const uint32_t page) {
        const auto n = end(page) - begin(page);
        return n > 1 ? members_[begin(page) + 1 + random_.below(n - 1)] : Hint::none;
    }

    Trace &trace_;
    const SizeModel &sizes_;
    Random &random_;
    std::vector<size_t> first_; ///< by page: place in members_
    std::vector<uint32_t> members_;
};

/// a client on its way through a page
struct Visit {
    uint32_t client = 0;
    uint32_t page = 0;
    size_t at = 0; ///< next member
    size_t end = 0;
    double keep = 1; ///< share of the members that are asked for
};

/// Several clients at once, each asking for one member of its page after the other.
class Crowd
{
public:
    Crowd(Trace &trace, Site &site, Random &random, const uint32_t clients):
        trace_(trace),
        site_(site),
        random_(random),
        clients_(std::max(clients, visitsAtOnce)),
        visits_(visitsAtOnce) {
        trace.clients = clients_;
    }

    /// \returns whose turn it is
    Visit &next(unsigned &number) {
        number = static_cast<unsigned>(random_.below(visits_.size()));
        return visits_[number];
    }

    void start(Visit &visit, const unsigned number, const uint32_t page, const double keep) {
        // so that no client is in two pages
        visit.client = static_cast<uint32_t>(random_.below(clients_ / visitsAtOnce)) * visitsAtOnce + number;
        visit.page = page;
        visit.at = site_.begin(page);
        visit.end = site_.end(page);
        visit.keep = keep;
    }

    /// the visit's next request, if its client has not got that object already
    /// \returns whether there was one
    bool step(Visit &visit) {
        const auto at = visit.at++;
        const bool html = at == site_.begin(visit.page);
        if (!html && !random_.chance(visit.keep))
            return false;
        ask(visit.client, site_.member(at), html);
        return true;
    }

    void ask(const uint32_t client, const uint32_t object, const bool html) {
        Event e;
        e.object = object;
        e.client = client & 0x3fffffffU;
        e.html = html;
        e.stale = 0;
        trace_.events.push_back(e);
    }

private:
    Trace &trace_;
    Site &site_;
    Random &random_;
    uint32_t clients_;
    std::vector<Visit> visits_;
};

/// pages by popularity: the chance of the nth is n^-exponent
class Zipf
{
public:
    Zipf(const uint32_t count, const double exponent): sums_(count) {
        double sum = 0;
        for (uint32_t i = 0; i < count; ++i)
            sums_[i] = sum += std::pow(i + 1.0, -exponent);
    }

    uint32_t pick(Random &random) const {
        const auto at = std::upper_bound(sums_.begin(), sums_.end(), random.real() * sums_.back());
        return static_cast<uint32_t>(std::min<ptrdiff_t>(at - sums_.begin(), static_cast<ptrdiff_t>(sums_.size()) - 1));
    }

private:
    std::vector<double> sums_;
};

/// marks some requests of objects that were asked for before
void
addStale(Trace &trace, const double share, Random &random)
{
    std::vector<bool> seen(trace.sizes.size());
    for (auto &e: trace.events) {
        e.stale = seen[e.object] && random.chance(share);
        seen[e.object] = true;
    }
}

} // namespace

Trace
makeProxyTrace(const ProxyModel &model, const uint64_t seed)
{
    Trace trace;
    trace.source = "generated: proxy";
    trace.events.reserve(model.requests);
    Random random(seed);
    Site site(trace, model.sizes, random);
    Crowd crowd(trace, site, random, model.clients);
    std::vector<uint32_t> history; // pages, as they were visited
    std::vector<uint32_t> downloads;
    while (trace.events.size() < model.requests) {
        unsigned number = 0;
        auto &visit = crowd.next(number);
        if (visit.at == visit.end) {
            const bool again = !history.empty() && random.chance(model.revisit);
            const auto page = again ? history[history.size() - random.lag(history.size())] : site.newPage(history, model.shared);
            history.push_back(page);
            crowd.start(visit, number, page, again ? model.keep : 1);
        }
        if (crowd.step(visit) && random.chance(model.sizes.tailShare)) {
            const bool again = !downloads.empty() && random.chance(model.sizes.tailRepeat);
            downloads.push_back(again ? downloads[downloads.size() - random.lag(downloads.size())] : site.newDownload());
            crowd.ask(visit.client, downloads.back(), false);
        }
    }
    addStale(trace, model.stale, random);
    return trace;
}

Trace
makeServerTrace(const ServerModel &model, const uint64_t seed)
{
    Trace trace;
    trace.source = "generated: web server";
    trace.events.reserve(model.requests);
    Random random(seed);
    Site site(trace, model.sizes, random);
    std::vector<uint32_t> pages;
    while (trace.sizes.size() < model.urls)
        pages.push_back(site.newPage(pages, 0.2));
    std::vector<uint32_t> downloads;
    for (double n = 0; n < model.sizes.tailShare * model.urls; ++n)
        downloads.push_back(site.newDownload());
    random.shuffle(pages); // how popular a page is has nothing to do with its age
    const Zipf popularity(static_cast<uint32_t>(pages.size()), model.zipf);
    Crowd crowd(trace, site, random, model.clients);
    while (trace.events.size() < model.requests) {
        unsigned number = 0;
        auto &visit = crowd.next(number);
        if (visit.at == visit.end)
            crowd.start(visit, number, pages[popularity.pick(random)], model.keep);
        if (crowd.step(visit) && !downloads.empty() && random.chance(model.sizes.tailShare))
            crowd.ask(visit.client, downloads[random.below(downloads.size())], false);
    }
    addStale(trace, model.stale, random);
    return trace;
}

} // namespace Papers

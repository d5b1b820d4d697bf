// SPDX-License-Identifier: GPL-2.0-or-later
/* Visits of pages. */

#include "tools/bench/web/workload/PagesWorkload.h"

#include <utility>

namespace WebBench {

PagesWorkload::PagesWorkload(std::unique_ptr<Corpus> corpus, const Config &config):
    corpus_(std::move(corpus)),
    config_(config),
    chooser_(corpus_->pages(), config.choice),
    random_(mix(config.choice.seed, 3))
{
}

bool
PagesWorkload::choosePage(const uint32_t user, uint64_t &page)
{
    if (config_.revisit <= 0)
        return chooser_.choose(page);
    auto &last = last_[user];
    if (!last.empty() && random_.chance(config_.revisit)) {
        page = last[random_.below(last.size())];
        return true;
    }
    if (!chooser_.choose(page))
        return false;
    if (last.size() == remembered)
        last.erase(last.begin());
    last.push_back(page);
    return true;
}

void
PagesWorkload::changeOne(const Page &page)
{
    // the HTML keeps its URL, so that the page stays the same page
    if (page.members.size() < 2 || versions_.size() >= maxChanged)
        return;
    const auto &member = page.members[1 + random_.below(page.members.size() - 1)];
    ++versions_.emplace(Corpus::identity(page, member), 1).first->second;
}

uint32_t
PagesWorkload::versionOf(const Page &page, const Member &member) const
{
    if (versions_.empty())
        return 1;
    const auto found = versions_.find(Corpus::identity(page, member));
    return found == versions_.end() ? 1 : found->second;
}

bool
PagesWorkload::next(const uint32_t user, Visit &visit)
{
    uint64_t number = 0;
    if (!choosePage(user, number))
        return false;
    const auto page = corpus_->page(number);
    if (config_.change > 0 && random_.chance(config_.change))
        changeOne(page);
    visit.clear();
    visit.reserve(page.members.size());
    for (const auto &member: page.members) {
        Item item;
        item.path = Corpus::path(page, member, versionOf(page, member));
        item.kind = member.kind;
        if (visit.empty()) {
            item.role = Item::Role::document;
        } else {
            item.role = Item::Role::embedded;
            item.parent = member.parent;
            item.referer = visit[member.parent].path;
        }
        visit.push_back(std::move(item));
    }
    return true;
}

} // namespace WebBench

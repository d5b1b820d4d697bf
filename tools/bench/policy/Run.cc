// SPDX-License-Identifier: GPL-2.0-or-later
/* Visits, made to an engine on a modelled device. */

#include "tools/bench/policy/Run.h"

#include "fs/cluster/learning/RequestText.h"
#include "tools/bench/web/corpus/Target.h"

#include <algorithm>
#include <cstring>

using namespace ClusterFs;
using Replay::headerBytes;
using WebBench::Item;

namespace PolicyBench {

namespace {

constexpr unsigned requestsATurn = 6; ///< the connections of a browser
constexpr uint64_t turnMicros = 1000; ///< that pass until another user's turn

Key
keyOf(const std::string &path)
{
    const uint64_t words[2] = {Tools::hashText(path), Tools::mix(Tools::hashText(path), 1)};
    Key key;
    memcpy(key.bytes.data(), words, sizeof(words));
    return key;
}

Part
partOf(const Item &item)
{
    if (item.role == Item::Role::document)
        return Part::page;
    if (item.role == Item::Role::bare)
        return Part::single;
    return item.path.find("/shared/") == std::string::npos ? Part::own : Part::shared;
}

/// what a proxy would tell of it
Request
describe(const Item &item, const uint32_t user, const Key &key)
{
    const auto &kind = Replay::infoOf(item.kind);
    const auto host = "http://" + std::string(WebBench::siteOf(item.path)) + ".test";
    const auto url = host + item.path;
    const auto referer = item.referer.empty() ? std::string() : host + item.referer;
    RequestText text;
    text.url = url;
    text.referer = referer;
    text.accept = kind.accept;
    if (item.role != Item::Role::bare) {
        const bool page = item.role == Item::Role::document;
        text.destination = page ? "document" : kind.destination;
        text.mode = page ? "navigate" : kind.mode;
    }
    Request request;
    request.key = key;
    request.client = 1 + user;
    ClusterFs::describe(text, request);
    return request;
}

} // namespace

const char *
nameOf(const Part part)
{
    static const char *const names[partCount] = {"pages' own HTML", "what one page has", "what pages share", "single objects"};
    return names[static_cast<unsigned>(part)];
}

Run::Run(const Settings &settings):
    settings_(settings),
    proxy_(settings.config, settings.cacheMb << 20, settings.costs),
    references_(settings.cacheMb << 20)
{
}

/// \returns whether there was one
bool
Run::beginVisit(WebBench::Workload &workload, const uint32_t user, User &u)
{
    u = User();
    return workload.next(user, u.visit);
}

Figures
Run::visit(WebBench::Workload &workload, const uint64_t most, const uint64_t storedBytes)
{
    figures_ = Figures();
    references_.clear();
    figures_.before = proxy_.engine().stats();
    const auto reads = proxy_.device().stats().of(IoOp::read);
    const auto written = proxy_.device().stats().of(IoOp::write).bytes;
    const auto begin = proxy_.now();
    std::vector<User> users(settings_.users);
    uint64_t started = 0;
    uint64_t active = 0;
    bool more = true;
    while (more || active) {
        const auto own = workload.nextUser();
        const auto n = own ? *own : static_cast<uint32_t>(random_.below(users.size()));
        auto &user = users[n];
        if (user.next >= user.visit.size()) {
            more = more && started < most && figures_.bytes - figures_.hitBytes < storedBytes;
            proxy_.passUntil(more ? begin + workload.nextTime() / 1000 : 0);
            if (!more || !(more = beginVisit(workload, n, user)))
                continue;
            ++started;
            ++active;
        }
        for (unsigned i = 0; i < requestsATurn && user.next < user.visit.size(); ++i)
            request(n, user.visit[user.next++]);
        if (user.next >= user.visit.size()) {
            ++figures_.visits;
            --active;
        }
        proxy_.passUntil(proxy_.now() + turnMicros);
    }
    figures_.after = proxy_.engine().stats();
    figures_.deviceReads = proxy_.device().stats().of(IoOp::read).requests - reads.requests;
    figures_.deviceReadBytes = proxy_.device().stats().of(IoOp::read).bytes - reads.bytes;
    figures_.deviceWrittenBytes = proxy_.device().stats().of(IoOp::write).bytes - written;
    figures_.seconds = static_cast<double>(proxy_.now() - begin) / 1e6;
    return figures_;
}

void
Run::show(WebBench::Workload &workload, const uint64_t visits)
{
    printf("visits one by one:\n");
    showing_ = true;
    proxy_.device().show();
    visit(workload, visits);
}

/// prints a request, when it is to be shown
void
Run::say(const uint32_t user, const Item &item, const uint64_t since, const char *const outcome) const
{
    if (showing_)
        printf("  %9.1f ms  user %u wants %s of %s: %s, %.1f ms\n", static_cast<double>(proxy_.now()) / 1000, user, item.path.c_str(),
               nameOf(partOf(item)), outcome, static_cast<double>(proxy_.now() - since) / 1000);
}

void
Run::request(const uint32_t user, const Item &item)
{
    WebBench::Target target;
    if (!target.parse(item.path))
        return;
    const auto key = keyOf(item.path);
    const auto bytes = target.size + headerBytes;
    proxy_.engine().note(describe(item, user, key));
    ++figures_.requests;
    figures_.bytes += bytes;
    const auto [object, isNew] = seen_.emplace(key, static_cast<uint32_t>(seen_.size()));
    figures_.seenHits += !isNew;
    references_.request(object->second, bytes);
    const auto reads = proxy_.engine().stats().counters.readFromDisk;
    const auto groups = proxy_.engine().stats().groupReads;
    const auto since = proxy_.now();
    if (!proxy_.fetch(key)) {
        figures_.refused += !proxy_.store(key, bytes);
        say(user, item, since, "a miss");
        return;
    }
    ++figures_.hits;
    figures_.hitBytes += bytes;
    if (proxy_.engine().stats().counters.readFromDisk > reads) {
        const auto part = static_cast<size_t>(partOf(item));
        ++figures_.reads[part];
        figures_.groupReads[part] += proxy_.engine().stats().groupReads > groups;
        say(user, item, since, "from the disk");
    } else {
        say(user, item, since, "from memory");
    }
}

} // namespace PolicyBench

// SPDX-License-Identifier: GPL-2.0-or-later
/* Visits, made to an engine on a modelled device. */

#include "tools/bench/policy/Run.h"

#include "fs/cluster/engine/Open.h"
#include "fs/cluster/learning/RequestText.h"
#include "fs/cluster/recovery/Format.h"
#include "tools/bench/web/corpus/Target.h"

#include <algorithm>
#include <cstring>

using namespace ClusterFs;
using WebBench::Item;

namespace PolicyBench {

namespace {

constexpr size_t pieceBytes = 65536;
constexpr uint64_t headerBytes = 300; ///< that a proxy stores with each body
constexpr unsigned requestsATurn = 6; ///< the connections of a browser
constexpr uint64_t turnMicros = 1000; ///< that pass until another user's turn
constexpr uint64_t stepMicros = 200000; ///< an engine is polled at least that often
constexpr unsigned closeMilliseconds = 60000;

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
    const auto &kind = WebBench::infoOf(item.kind);
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
    device_(clock_, settings.cacheMb << 20, settings.costs),
    references_(settings.cacheMb << 20),
    buffer_(pieceBytes)
{
}

bool
Run::start(const bool format, std::string &error)
{
    if (format && formatDevice(device_, settings_.config, 1, error) != Status::ok)
        return false;
    if (openEngine(device_, clock_, settings_.config, [](LogLevel, const std::string &) {}, engine_, error) != Status::ok)
        return false;
    while (engine_->state() == EngineState::recovering)
        poll();
    return true;
}

void
Run::stop()
{
    engine_->close(closeMilliseconds);
}

void
Run::poll()
{
    engine_->poll();
    clock_.advance(1);
}

void
Run::passUntil(const uint64_t micros)
{
    while (clock_.micros() < micros) {
        clock_.advance(std::min(stepMicros, micros - clock_.micros()));
        engine_->poll();
    }
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
    figures_.before = engine_->stats();
    const auto reads = device_.stats().of(IoOp::read);
    const auto written = device_.stats().of(IoOp::write).bytes;
    const auto begin = clock_.micros();
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
            passUntil(more ? begin + workload.nextTime() / 1000 : 0);
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
        passUntil(clock_.micros() + turnMicros);
    }
    figures_.after = engine_->stats();
    figures_.deviceReads = device_.stats().of(IoOp::read).requests - reads.requests;
    figures_.deviceReadBytes = device_.stats().of(IoOp::read).bytes - reads.bytes;
    figures_.deviceWrittenBytes = device_.stats().of(IoOp::write).bytes - written;
    figures_.seconds = static_cast<double>(clock_.micros() - begin) / 1e6;
    return figures_;
}

void
Run::show(WebBench::Workload &workload, const uint64_t visits)
{
    printf("visits one by one:\n");
    showing_ = true;
    device_.show();
    visit(workload, visits);
}

/// prints a request, when it is to be shown
void
Run::say(const uint32_t user, const Item &item, const uint64_t since, const char *const outcome) const
{
    if (showing_)
        printf("  %9.1f ms  user %u wants %s of %s: %s, %.1f ms\n", static_cast<double>(clock_.micros()) / 1000, user, item.path.c_str(),
               nameOf(partOf(item)), outcome, static_cast<double>(clock_.micros() - since) / 1000);
}

void
Run::request(const uint32_t user, const Item &item)
{
    WebBench::Target target;
    if (!target.parse(item.path))
        return;
    const auto key = keyOf(item.path);
    const auto bytes = target.size + headerBytes;
    engine_->note(describe(item, user, key));
    ++figures_.requests;
    figures_.bytes += bytes;
    const auto [object, isNew] = seen_.emplace(key, static_cast<uint32_t>(seen_.size()));
    figures_.seenHits += !isNew;
    references_.request(object->second, bytes);
    const auto reads = engine_->stats().counters.readFromDisk;
    const auto groups = engine_->stats().groupReads;
    const auto since = clock_.micros();
    if (!fetch(key)) {
        store(key, bytes);
        say(user, item, since, "a miss");
        return;
    }
    ++figures_.hits;
    figures_.hitBytes += bytes;
    if (engine_->stats().counters.readFromDisk > reads) {
        const auto part = static_cast<size_t>(partOf(item));
        ++figures_.reads[part];
        figures_.groupReads[part] += engine_->stats().groupReads > groups;
        say(user, item, since, "from the disk");
    } else {
        say(user, item, since, "from memory");
    }
}

/// reads an object as a proxy does; false: a miss
bool
Run::fetch(const Key &key)
{
    ObjectInfo info;
    if (!engine_->find(key, info))
        return false;
    engine_->touch(key);
    const auto reader = engine_->read(key);
    if (!reader)
        return false;
    for (uint64_t at = 0; at < reader->size();) {
        const auto n = reader->copy(at, buffer_.data(), buffer_.size());
        if (n > 0) {
            at += static_cast<uint64_t>(n);
            continue;
        }
        auto status = Status::busy;
        bool done = false;
        reader->fetch(at, [&](const Status s) { status = s; done = true; });
        while (!done)
            poll();
        if (status != Status::ok)
            return false;
    }
    return true;
}

void
Run::store(const Key &key, const uint64_t bytes)
{
    ObjectInfo info;
    info.timestamp = clock_.wallSeconds();
    const auto writer = engine_->create(key, info, static_cast<int64_t>(bytes));
    bool taken = writer != nullptr;
    for (uint64_t left = bytes; taken && left;) {
        while (writer->congested())
            poll();
        const auto n = std::min<uint64_t>(left, buffer_.size());
        taken = writer->append(buffer_.data(), n);
        left -= n;
    }
    figures_.refused += !taken || writer->finish() != Status::ok;
}

} // namespace PolicyBench

// SPDX-License-Identifier: GPL-2.0-or-later
/* A user's browser. */

#include "tools/bench/web/client/Browser.h"

#include <algorithm>

namespace WebBench {

Browser::Browser(ClientContext &context, Owner &owner, const uint32_t number, const uint32_t source, const unsigned connections):
    context_(context),
    owner_(owner),
    number_(number),
    source_(source),
    mostLines_(connections)
{
    lines_.reserve(connections);
}

void
Browser::begin(Visit &&visit, const Nanos from)
{
    visits_.push_back(std::make_unique<Running>());
    auto &running = *visits_.back();
    running.items = std::move(visit);
    running.from = from;
    want(running, Item::none);
    workOn();
}

/// queues what an item asks for
void
Browser::want(Running &visit, const uint32_t parent)
{
    for (uint32_t i = 0; i < visit.items.size(); ++i) {
        if (visit.items[i].parent == parent) {
            queue_.push_back({&visit, i});
            ++visit.open;
        }
    }
}

Browser::Line *
Browser::freeLine()
{
    Line *closed = nullptr;
    for (auto &line: lines_) {
        if (line.connection->isOpen())
            return &line;
        if (!line.connection->busy())
            closed = &line;
    }
    if (!closed && lines_.size() < mostLines_) {
        ProxyConnection::Owner &self = *this;
        lines_.push_back({std::make_unique<ProxyConnection>(context_, self, source_), Wanted()});
        closed = &lines_.back();
    }
    return closed;
}

/// gives queued requests to free connections
void
Browser::workOn()
{
    while (!queue_.empty()) {
        const auto line = freeLine();
        if (!line)
            return;
        const auto wanted = queue_.front();
        queue_.pop_front();
        line->job = wanted;
        const auto from = wanted.item == 0 ? wanted.visit->from : now();
        if (!line->connection->begin(wanted.visit->items[wanted.item], from))
            settle(wanted, false);
    }
}

void
Browser::fetched(ProxyConnection &connection, const bool success)
{
    const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const Line &l) { return l.connection.get() == &connection; });
    settle(line->job, success);
    workOn();
}

void
Browser::settle(const Wanted &wanted, const bool success)
{
    auto &visit = *wanted.visit;
    const auto kind = visit.items[wanted.item].kind;
    --visit.open;
    if (!success)
        visit.failed = true;
    else if (kind == Kind::html || kind == Kind::css || wanted.item == 0)
        want(visit, wanted.item);
    if (!visit.open)
        finish(visit);
}

void
Browser::finish(Running &visit)
{
    const auto place = std::find_if(visits_.begin(), visits_.end(), [&](const auto &v) { return v.get() == &visit; });
    const auto done = std::move(*place);
    visits_.erase(place);
    owner_.visited(*this, done->from, !done->failed);
}

void
Browser::tick(const Nanos time)
{
    for (size_t i = 0; i < lines_.size(); ++i)
        lines_[i].connection->tick(time);
}

std::vector<Nanos>
Browser::unfinished() const
{
    std::vector<Nanos> result;
    for (const auto &visit: visits_)
        result.push_back(visit->from);
    return result;
}

} // namespace WebBench

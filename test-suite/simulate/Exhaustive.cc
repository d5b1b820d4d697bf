// SPDX-License-Identifier: GPL-2.0-or-later
/* Choosing the writes that a power cut leaves. */

#include "test-suite/simulate/Exhaustive.h"

#include "fs/cluster/recovery/Format.h"
#include "test-suite/simulate/Access.h"
#include "test-suite/simulate/Aftermath.h"
#include "tools/models/ManualClock.h"

#include <algorithm>
#include <iostream>
#include <unordered_set>

using namespace ClusterFs;

namespace Simulate {
namespace {

constexpr size_t allSubsetsOf = 6; ///< unflushed writes up to which all subsets are lost; of more, only some are
constexpr uint32_t sectorBytes = 512;
constexpr uint32_t smallWrite = 16384; ///< bytes of a write up to which it is torn at each sector
constexpr uint64_t failuresShown = 10; ///< for each history
constexpr uint64_t killedStarts = 16; ///< one of so many starts after a power cut is killed at each of its requests

/// a power cut, and the unflushed writes that it leaves
struct Cut {
    size_t event = 0; ///< the event that is under way
    std::vector<size_t> landed; ///< the unflushed writes that landed, as events
    uint32_t torn = 0; ///< bytes of the event under way that landed; 0 = all or none, see landed
};

/// \returns the numbers of bytes after which a write of that size is torn
std::vector<uint32_t>
tearPoints(const uint32_t size)
{
    if (size > smallWrite)
        return {sectorBytes, 2 * sectorBytes, 4096, size / 2, size - 4096, size - sectorBytes};
    std::vector<uint32_t> all;
    for (auto at = sectorBytes; at < size; at += sectorBytes)
        all.push_back(at);
    return all;
}

/// the power cuts of one history
class Cuts
{
public:
    Cuts(const MemoryDevice &formatted, const History &history, const std::string &name):
        history_(history),
        events_(history.events()),
        after_(formatted, history),
        name_(name)
    {
    }

    /// plays all cuts from that event on
    void play(size_t first);

    uint64_t crashes = 0;
    uint64_t failed = 0;
    uint64_t starts() const { return after_.starts(); }

private:
    void cutAt(size_t event);
    void someSubsets(size_t event, const std::vector<size_t> &pending);
    void tears(size_t event, const std::vector<size_t> &pending);
    void crash(const Cut &);
    void judge(const Cut &, bool kill);
    void killStarts(const Cut &, const std::vector<Event> &, const Expectation &);
    void build(const Cut &);
    bool isNew(const Cut &);
    bool landed(const Cut &, size_t event) const;
    std::string text(const Cut &) const;

    const History &history_;
    const std::vector<Event> &events_;
    Aftermath after_;
    const std::string name_;
    size_t kept_ = 0; ///< the writes in front of this event are on the device in all cases
    std::unordered_set<uint64_t> seen_; ///< hashes of crashes
};

void
Cuts::play(const size_t first)
{
    for (auto event = first; event <= events_.size(); ++event)
        cutAt(event);
}

void
Cuts::cutAt(const size_t event)
{
    std::vector<size_t> pending;
    for (size_t i = kept_; i < events_.size() && i <= event; ++i) {
        if (events_[i].write && events_[i].durableFrom > event && events_[i].lostFrom > event)
            pending.push_back(i);
    }
    const auto safe = pending.empty() ? std::min(event, events_.size()) : pending.front();
    for (; kept_ < safe; ++kept_) {
        if (events_[kept_].durableFrom != Event::never)
            after_.keep(events_[kept_]);
    }
    if (pending.size() > allSubsetsOf) {
        someSubsets(event, pending);
    } else {
        for (unsigned mask = 0; mask < 1U << pending.size(); ++mask) {
            Cut cut;
            cut.event = event;
            for (size_t i = 0; i < pending.size(); ++i) {
                if (mask & 1U << i)
                    cut.landed.push_back(pending[i]);
            }
            crash(cut);
        }
    }
    if (event < events_.size() && events_[event].write)
        tears(event, pending);
}

/// plays cuts that leave none of the writes, all, each one alone, all but each one, and those in front of each one
void
Cuts::someSubsets(const size_t event, const std::vector<size_t> &pending)
{
    crash({event, {}, 0});
    crash({event, pending, 0});
    for (size_t i = 0; i < pending.size(); ++i) {
        const auto at = pending.begin() + static_cast<std::ptrdiff_t>(i);
        crash({event, {pending[i]}, 0});
        crash({event, {pending.begin(), at}, 0});
        Cut without{event, pending, 0};
        without.landed.erase(without.landed.begin() + static_cast<std::ptrdiff_t>(i));
        crash(without);
    }
}

/// plays cuts that tear the last write, with all or none of the others
void
Cuts::tears(const size_t event, const std::vector<size_t> &pending)
{
    const std::vector<size_t> others(pending.begin(), pending.end() - 1);
    for (const auto at: tearPoints(events_[event].size)) {
        crash({event, others, at});
        crash({event, {}, at});
    }
}

bool
Cuts::landed(const Cut &cut, const size_t event) const
{
    const auto &e = events_[event];
    return e.write && (e.durableFrom <= cut.event || std::count(cut.landed.begin(), cut.landed.end(), event));
}

/// whether no crash before left the same bytes and allowed the same versions
bool
Cuts::isNew(const Cut &cut)
{
    uint64_t hash = 0;
    const auto mix = [&hash](const uint64_t value) { hash = wordAt(hash, value); };
    for (size_t i = 0; i < events_.size() && i <= cut.event; ++i) {
        if (landed(cut, i))
            mix(i);
    }
    mix(cut.torn ? cut.event : 0);
    mix(cut.torn);
    for (const auto &allowed: history_.expectation(cut.event)) {
        mix(allowed.missing);
        for (const auto &v: allowed.versions)
            mix(v.number);
        mix(0);
    }
    return seen_.insert(hash).second;
}

void
Cuts::build(const Cut &cut)
{
    after_.restore();
    for (auto i = kept_; i < events_.size() && i <= cut.event; ++i) {
        if (landed(cut, i))
            after_.land(events_[i], events_[i].size);
    }
    if (cut.torn)
        after_.land(events_[cut.event], cut.torn);
}

std::string
Cuts::text(const Cut &cut) const
{
    auto text = "history " + name_ + ", cut at request " + std::to_string(cut.event) + " of " + std::to_string(events_.size());
    if (cut.event < events_.size()) {
        const auto &e = events_[cut.event];
        text += e.write ? ", a write of " + std::to_string(e.size) + " bytes at " + std::to_string(e.offset) : ", a flush";
    }
    text += ", landed:";
    for (const auto i: cut.landed)
        text += " " + std::to_string(i);
    return cut.torn ? text + ", torn at " + std::to_string(cut.torn) : text;
}

void
Cuts::crash(const Cut &cut)
{
    if (!isNew(cut))
        return;
    try {
        judge(cut, crashes++ % killedStarts == 0);
    } catch (const Broken &e) {
        if (++failed <= failuresShown)
            std::cerr << "BROKEN: " << e.what() << "\n  " << text(cut) << "\n  again: simulate --history " << name_ << "\n";
    }
}

/// plays a crash and starts twice after it
/// \param kill whether to kill the first start at each of its requests, too
void
Cuts::judge(const Cut &cut, const bool kill)
{
    build(cut);
    std::vector<Event> events;
    const auto found = after_.startAndWork(history_.expectation(cut.event), kill ? &events : nullptr);
    Expectation same;
    for (uint64_t object = 0; object < historyObjects; ++object) {
        for (const auto &v: history_.versions(object)) {
            if (v.number == found.versions[object])
                same[object].versions.push_back(v);
        }
        same[object].missing = same[object].versions.empty();
    }
    try {
        const auto again = after_.start(same);
        if (!found.torn && (again.objects != found.objects || again.liveBytes != found.liveBytes || again.clustersFree != found.clustersFree))
            throw Broken("the index is another one");
        if (kill)
            killStarts(cut, events, same);
    } catch (const Broken &e) {
        throw Broken(std::string("the next start: ") + e.what());
    }
}

/// cuts the power at each request of a start; the start after that must find the same objects
void
Cuts::killStarts(const Cut &cut, const std::vector<Event> &events, const Expectation &same)
{
    for (size_t event = 0; event < events.size(); ++event) {
        for (const bool all: {false, true}) {
            build(cut);
            for (size_t i = 0; i <= event; ++i) {
                if (events[i].write && (all || events[i].durableFrom <= event))
                    after_.land(events[i], events[i].size);
            }
            (void)after_.start(same);
        }
    }
}

} // namespace
} // namespace Simulate

void
Simulate::Exhaustive::playAll(const unsigned operations, const std::string &first)
{
    // histories that are the same up to the last letter of first that is not the lowest one are played with other first letters
    const auto last = first.find_last_not_of(History::operations[0]);
    for (const std::string beginning: {"", "ABT", "LBT"}) {
        std::vector<size_t> chosen(operations - first.size(), 0);
        size_t known = last == std::string::npos ? 0 : beginning.size() + last;
        for (size_t place = 1; place > 0;) {
            auto name = beginning + first;
            for (const auto i: chosen)
                name += History::operations[i];
            play(name, known);
            // count up; the operations in front of the place that changes were played before
            place = chosen.size();
            while (place > 0 && ++chosen[place - 1] == History::operations.size())
                chosen[--place] = 0;
            known = beginning.size() + first.size() + place - 1;
        }
    }
}

void
Simulate::Exhaustive::play(const std::string &operations, const size_t known)
{
    ManualClock clock;
    MemoryDevice formatted(clock, History::deviceBytes, 512);
    std::string error;
    if (formatDevice(formatted, History::Settings(), 1, error) != Status::ok)
        throw Broken("format: " + error);
    ++histories_;
    try {
        const History history(formatted, operations + "T");
        Cuts cuts(formatted, history, operations);
        cuts.play(history.beginOf(known));
        crashes_ += cuts.crashes;
        starts_ += cuts.starts();
        failed_ += cuts.failed;
    } catch (const Broken &e) {
        std::cerr << "BROKEN: " << e.what() << "\n  again: simulate --history " << operations << "\n";
        ++failed_;
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* A trace's figures, to be held against those that the papers give of theirs. */

#include "Trace.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace Papers {
namespace {

/// The sets that Hummingbird 2.1 found: the first visit of a page makes its set,
/// later ones tell how much of it is asked for again.
class Sets
{
public:
    explicit Sets(const Trace &trace): trace_(trace), open_(trace.clients) {
        for (const auto &e: trace.events)
            add(e);
        for (auto &set: open_)
            close(set);
    }

    /// share of the first sets that have at most that many bytes
    double upTo(const uint64_t bytes) const {
        const auto n = std::count_if(bytes_.begin(), bytes_.end(), [&](const uint64_t b) { return b <= bytes; });
        return bytes_.empty() ? 0 : static_cast<double>(n) / static_cast<double>(bytes_.size());
    }

    double meanObjects() const { return bytes_.empty() ? 0 : static_cast<double>(objects_) / static_cast<double>(bytes_.size()); }
    double again() const { return visitsAgain_ ? again_ / static_cast<double>(visitsAgain_) : 0; }
    size_t count() const { return bytes_.size(); }

private:
    struct Set {
        uint32_t page = Hint::none;
        std::vector<uint32_t> members;
    };

    void add(const Event &e) {
        auto &set = open_[e.client];
        if (e.html) {
            close(set);
            set.page = e.object;
        }
        if (set.page != Hint::none && std::find(set.members.begin(), set.members.end(), e.object) == set.members.end())
            set.members.push_back(e.object);
    }

    void close(Set &set) {
        if (set.page != Hint::none) {
            auto &first = first_[set.page];
            if (first.empty())
                count(set, first);
            else
                compare(set, first);
        }
        set.members.clear();
    }

    void count(const Set &set, std::unordered_set<uint32_t> &first) {
        uint64_t bytes = 0;
        for (const auto m: set.members)
            bytes += trace_.sizes[m];
        first.insert(set.members.begin(), set.members.end());
        bytes_.push_back(bytes);
        objects_ += set.members.size();
    }

    void compare(const Set &set, const std::unordered_set<uint32_t> &first) {
        const auto n = std::count_if(set.members.begin(), set.members.end(), [&](const uint32_t m) { return first.count(m) > 0; });
        again_ += static_cast<double>(n) / static_cast<double>(first.size());
        ++visitsAgain_;
    }

    const Trace &trace_;
    std::vector<Set> open_; ///< by client
    std::unordered_map<uint32_t, std::unordered_set<uint32_t>> first_; ///< by page
    std::vector<uint64_t> bytes_; ///< of the first sets
    uint64_t objects_ = 0; ///< in them
    double again_ = 0;
    uint64_t visitsAgain_ = 0;
};

} // namespace

static void
describeSizes(const Trace &trace, Json &json)
{
    std::vector<uint32_t> sizes;
    sizes.reserve(trace.events.size());
    for (const auto &e: trace.events)
        sizes.push_back(trace.sizes[e.object]);
    std::sort(sizes.begin(), sizes.end());
    double bytes = 0;
    double largeBytes = 0;
    for (const auto s: sizes) {
        bytes += s;
        largeBytes += s > (1U << 20) ? s : 0;
    }
    const auto n = static_cast<double>(sizes.size());
    const auto above = [&](const uint32_t limit) {
        return static_cast<double>(sizes.end() - std::upper_bound(sizes.begin(), sizes.end(), limit)) / n;
    };
    json["bytes"] = bytes;
    json["requestMedian"] = sizes[sizes.size() / 2];
    json["requestMean"] = bytes / n;
    json["requestsUpTo8K"] = 1 - above(8192);
    json["requestsAbove64K"] = above(65536);
    json["requestsAbove1M"] = above(1U << 20);
    json["bytesAbove1M"] = largeBytes / bytes;
}

Json
Trace::describe() const
{
    Json json;
    json["source"] = source;
    json["requests"] = events.size();
    json["clients"] = clients;
    json["objects"] = sizes.size();
    std::vector<bool> seen(sizes.size());
    uint64_t found = 0;
    uint64_t html = 0;
    uint64_t stale = 0;
    double uniqueBytes = 0;
    for (const auto &e: events) {
        found += seen[e.object];
        html += e.html;
        stale += e.stale;
        uniqueBytes += seen[e.object] ? 0 : sizes[e.object];
        seen[e.object] = true;
    }
    describeSizes(*this, json);
    const auto n = static_cast<double>(events.size());
    json["uniqueBytes"] = uniqueBytes;
    json["htmlShare"] = static_cast<double>(html) / n;
    json["staleShare"] = static_cast<double>(stale) / n;
    json["unlimitedHitRatio"] = static_cast<double>(found) / n;
    const Sets sets(*this);
    json["sets"] = {
        {"count", sets.count()}, {"meanObjects", sets.meanObjects()}, {"upTo32K", sets.upTo(32 << 10)}, {"upTo64K", sets.upTo(64 << 10)},
        {"upTo96K", sets.upTo(96 << 10)}, {"upTo128K", sets.upTo(128 << 10)}, {"askedForAgain", sets.again()}
    };
    return json;
}

} // namespace Papers

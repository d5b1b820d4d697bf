// SPDX-License-Identifier: GPL-2.0-or-later
/* A sequence of requests, as a proxy or a web server saw them. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_TRACE_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_TRACE_H

#include "Store.h"

#include <cstdint>
#include <string>
#include <vector>

namespace Papers {

/// one request
struct Event {
    uint32_t object; ///< number, dense
    uint32_t client : 30; ///< number, dense
    uint32_t html : 1; ///< a page, that others may belong to
    uint32_t stale : 1; ///< what was stored is out of date
};

/// All requests of an experiment, in memory.
struct Trace {
    static constexpr uint32_t maxObjects = 1U << 28;
    static constexpr size_t maxEvents = size_t(1) << 28;
    static constexpr uint32_t maxClients = 1U << 24;
    static constexpr uint64_t maxBytes = 1U << 30; ///< of an object
    static constexpr uint32_t bytesLeast = Content::headerBytes;

    std::vector<uint32_t> sizes; ///< bytes, by object
    std::vector<Event> events;
    uint32_t clients = 0;
    std::string source; ///< where it comes from, for the report

    /// mean size of an object
    uint64_t meanBytes() const;

    /// Reads a file of lines "client object bytes kind": whole numbers with one
    /// blank between; an object's number is at most one larger than all before,
    /// and likewise a client's; kind is html or other, with -stale behind it when
    /// what is stored must be replaced. An object keeps its first size.
    /// \returns false with the reason in error
    bool load(const std::string &path, std::string &error);

    /// what can be compared with the papers' figures
    Json describe() const;

private:
    bool addLine(const std::string &line, std::string &error);
};

/// Works out what belongs together as Hummingbird's workload generator did: a
/// page, and whatever its client asks for until its next page.
class Grouping
{
public:
    explicit Grouping(const uint32_t clients): pages_(clients, Hint::none) {}

    Hint hintOf(const Event &e) {
        auto &page = pages_[e.client];
        if (e.html)
            page = e.object;
        Hint hint;
        hint.group = page;
        hint.client = e.client;
        hint.container = e.html;
        return hint;
    }

private:
    std::vector<uint32_t> pages_; ///< the newest, by client
};

} // namespace Papers

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Visits, made to an engine on a modelled device. */

#ifndef CLUSTERFS_BENCH_POLICY_RUN_H
#define CLUSTERFS_BENCH_POLICY_RUN_H

#include "tools/base/Random.h"
#include "tools/bench/policy/References.h"
#include "tools/bench/policy/Settings.h"
#include "tools/replay/Proxy.h"

#include <array>
#include <unordered_map>

namespace PolicyBench {

/// what an object is to the page that asks for it
enum class Part : uint8_t { page, own, shared, single };
constexpr unsigned partCount = 4;
const char *nameOf(Part);

/// What some visits came to.
struct Figures {
    uint64_t visits = 0;
    uint64_t requests = 0;
    uint64_t bytes = 0;
    uint64_t hits = 0;
    uint64_t hitBytes = 0;
    uint64_t seenHits = 0; ///< of a cache that drops nothing
    uint64_t refused = 0; ///< stores
    std::array<uint64_t, partCount> reads{}; ///< disk reads that a request waited for
    std::array<uint64_t, partCount> groupReads{}; ///< those of them that brought the group
    double seconds = 0; ///< of the device and the visitors
    ClusterFs::Stats before; ///< the engine's, at the start
    ClusterFs::Stats after; ///< and at the end
    uint64_t deviceReads = 0;
    uint64_t deviceReadBytes = 0;
    uint64_t deviceWrittenBytes = 0;
};

/// An engine and who uses it. Objects have no contents here: what is checked
/// elsewhere is not checked again.
class Run
{
public:
    explicit Run(const Settings &);

    /// \returns false with the reason in error
    bool start(bool format, std::string &error) { return proxy_.start(format, error); }
    /// the proxy ends cleanly
    void stop() { proxy_.stop(); }

    /// makes visits until there are no more, or as many as most, or storedBytes were stored
    Figures visit(WebBench::Workload &, uint64_t most, uint64_t storedBytes = UINT64_MAX);

    /// what replacement over objects had of the last visits
    const References &references() const { return references_; }

    /// makes visits and prints each of their requests, and those of the disk
    void show(WebBench::Workload &, uint64_t visits);

private:
    struct User {
        WebBench::Visit visit;
        size_t next = 0; ///< item
    };

    bool beginVisit(WebBench::Workload &, uint32_t user, User &);
    void request(uint32_t user, const WebBench::Item &);
    void say(uint32_t user, const WebBench::Item &, uint64_t since, const char *outcome) const;

    const Settings &settings_;
    Replay::Proxy proxy_;
    References references_; ///< with as many bytes as the device
    std::unordered_map<ClusterFs::Key, uint32_t, ClusterFs::KeyHash> seen_; ///< the numbers that references_ has for them
    Tools::Random random_{7};
    Figures figures_;
    bool showing_ = false;
};

} // namespace PolicyBench

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* What starts make of a device after a crash. */

#ifndef CLUSTERFS_TEST_SIMULATE_AFTERMATH_H
#define CLUSTERFS_TEST_SIMULATE_AFTERMATH_H

#include "test-suite/simulate/History.h"
#include "tools/models/ManualClock.h"

#include <utility>
#include <vector>

namespace Simulate {

/// what a start has found
struct Found {
    std::array<uint64_t, historyObjects> versions{}; ///< numbers; 0 = nothing that can be read
    bool torn = false; ///< something is found that can't be read
    uint64_t objects = 0;
    uint64_t liveBytes = 0;
    uint64_t clustersFree = 0;
};

/// A device after a history was cut short, and engines that are started on it.
class Aftermath
{
public:
    /// \param formatted as the history found it
    Aftermath(const ClusterFs::MemoryDevice &formatted, const History &);

    /// a write that is on the device from now on, in all cases
    void keep(const Event &);
    /// forgets all but what keep() was told
    void restore();
    /// a write that is on the device until restore(), or only its first bytes
    void land(const Event &, uint32_t bytes);

    /// Starts an engine, sees what it finds, and kills it.
    /// \param expected what may be found
    /// \throws Broken
    Found start(const Expectation &expected);
    /// the same; lets the engine do first what it does after a crash
    /// \param events receives what it did to the device, unless nil
    Found startAndWork(const Expectation &expected, std::vector<Event> *events);

    uint64_t starts() const { return starts_; }

private:
    Found start(const Expectation &, bool work, std::vector<Event> *);
    void look(ClusterFs::Engine &, Recorder &, const Expectation &, Found &);

    const History &history_;
    ClusterFs::ManualClock clock_;
    ClusterFs::MemoryDevice kept_;
    ClusterFs::MemoryDevice media_;
    std::vector<std::pair<uint64_t, uint32_t>> touched_; ///< where they may differ: offset, bytes
    uint64_t starts_ = 0;
};

} // namespace Simulate

#endif

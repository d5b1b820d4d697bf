// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts on a device after a crash. */

#ifndef CLUSTERFS_TEST_SIMULATE_AFTERMATH_H
#define CLUSTERFS_TEST_SIMULATE_AFTERMATH_H

#include "test-suite/simulate/History.h"
#include "tools/models/ManualClock.h"

#include <utility>
#include <vector>

namespace Simulate {

/// the result of a start
struct Found {
    std::array<uint64_t, historyObjects> versions{}; ///< by object: number of its version; 0 = none that can be read
    bool torn = false; ///< an object is found that can't be read
    uint64_t objects = 0;
    uint64_t liveBytes = 0;
    uint64_t clustersFree = 0;
};

/// A device after a history was cut short, and engines that are started on it.
class Aftermath
{
public:
    /// \param formatted the device as it was when the history began
    Aftermath(const ClusterFs::MemoryDevice &formatted, const History &);

    /// a write is on the device from now on, in all cases
    void keep(const Event &);
    /// takes all writes off the device but those of keep()
    void restore();
    /// the first bytes of a write are on the device until restore()
    void land(const Event &, uint32_t bytes);

    /// Starts an engine, looks all objects up, and kills it.
    /// \param expected the versions that may be found
    /// \throws Broken
    Found start(const Expectation &expected);
    /// the same, but the engine may write its checkpoint after a crash before it is killed
    /// \param events receives its writes and flushes, unless nil
    Found startAndWork(const Expectation &expected, std::vector<Event> *events);

    uint64_t starts() const { return starts_; }

private:
    Found start(const Expectation &, bool work, std::vector<Event> *);
    void look(ClusterFs::Engine &, Recorder &, const Expectation &, Found &);

    const History &history_;
    ClusterFs::ManualClock clock_;
    ClusterFs::MemoryDevice kept_; ///< the device with the writes of keep() only
    ClusterFs::MemoryDevice media_; ///< the device with all writes
    std::vector<std::pair<uint64_t, uint32_t>> touched_; ///< places where the two may differ: offset, bytes
    uint64_t starts_ = 0;
};

} // namespace Simulate

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* A device that remembers its writes and flushes, so that each crash can be played. */

#ifndef CLUSTERFS_TEST_SIMULATE_RECORDER_H
#define CLUSTERFS_TEST_SIMULATE_RECORDER_H

#include "tools/models/ManualClock.h"
#include "tools/models/MemoryDevice.h"

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace Simulate {

/// a write or a flush, in the order in which they were handed to the device
struct Event {
    static constexpr size_t never = std::numeric_limits<size_t>::max();

    bool write = false; ///< else a flush
    uint64_t offset = 0; ///< bytes
    uint32_t size = 0; ///< bytes, 0 for a flush
    std::string bytes; ///< of a write, when they are kept
    /// From that event on, no power cut undoes this write: a flush that was
    /// submitted after its answer has been answered.
    size_t durableFrom = never;
    size_t lostFrom = never; ///< from that event on, a power cut has undone this write
};

/// Carries out each request at once on a device in memory and answers it from the
/// next poll(). A write survives a power cut only if Device::submit() promises it: if
/// a flush was submitted after its answer, and has been answered.
class Recorder final : public ClusterFs::Device
{
public:
    /// \param media outlives this; nobody else may use it meanwhile; its present bytes
    /// are durable
    /// \param clock wait() moves it on
    /// \param keepBytes whether events keep the written bytes
    Recorder(ClusterFs::MemoryDevice &media, ClusterFs::ManualClock &clock, bool keepBytes);

    void wait(unsigned milliseconds) override;

    /// undoes all writes that are not durable; only when the bytes are kept
    void cutPower();

    const std::vector<Event> &events() const { return events_; }
    uint64_t reads() const { return reads_; } ///< how many reads there were

    /// called with each write or flush before it is performed
    std::function<void(const ClusterFs::Io &)> onEvent;

private:
    bool start(Request *) override;
    void reap() override {}
    void note(ClusterFs::Io &);
    void answered(size_t event, const std::vector<size_t> &covered);

    ClusterFs::MemoryDevice &media_;
    ClusterFs::ManualClock &time_;
    std::unique_ptr<ClusterFs::MemoryDevice> first_; ///< the media at first; nil unless the bytes are kept
    std::vector<Event> events_;
    std::vector<size_t> answered_; ///< writes that a flush submitted now covers
    uint64_t reads_ = 0;
};

} // namespace Simulate

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* A short history of one store, with all writes and flushes of its device. */

#ifndef CLUSTERFS_TEST_SIMULATE_HISTORY_H
#define CLUSTERFS_TEST_SIMULATE_HISTORY_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/recovery/Format.h"
#include "test-suite/simulate/Oracle.h"
#include "test-suite/simulate/Recorder.h"
#include "tools/models/ManualClock.h"

#include <array>
#include <memory>
#include <string>

namespace Simulate {

/// the versions of an object that a start may find after a power cut
struct Allowed {
    std::vector<Version> versions; ///< any of these
    bool missing = true; ///< whether it may find none
};

constexpr uint64_t historyObjects = 2;
using Expectation = std::array<Allowed, historyObjects>;

/// Operations, a letter each, on a small formatted device:
/// A, B: store an object, or store it again; L: store the first one with so many bytes
/// that it spans clusters; a, b: delete it; H: replace the header of the first one;
/// C: begin a checkpoint; T: let so much time pass that all is packed, logged and
/// flushed; R: close and open again; K: kill the engine and start again; P: the same
/// after a power cut that loses all that is not flushed. Behind the first seven, the
/// next operation comes while the device still works.
class History
{
public:
    /// all letters
    static const std::string operations;
    static ClusterFs::Config Settings();
    static constexpr uint64_t deviceBytes = (6 << 20) + 16 * 16384; ///< regions and 16 clusters

    /// plays it
    /// \param formatted deviceBytes that formatDevice() wrote
    /// \throws Broken
    History(const ClusterFs::MemoryDevice &formatted, const std::string &operations);

    const std::vector<Event> &events() const { return device_.events(); }
    /// the versions that may be found after a power cut while an event was under
    /// way; with the number of all events: after the last one
    const Expectation &expectation(const size_t event) const { return expectations_[event]; }
    /// the first event of the nth operation; the opening belongs to the first one
    size_t beginOf(const size_t n) const { return begins_[n]; }
    /// all versions of an object
    const std::vector<Version> &versions(const uint64_t object) const { return oracle_.all().at(object); }

private:
    void open();
    void act(char operation);
    void store(uint64_t object, uint64_t size);
    void remove(uint64_t object);
    void replaceHead(uint64_t object);
    void passTime();
    void close();
    void restart(bool powerCut);
    void adopt();
    void turn(unsigned times);
    Expectation expected() const;
    bool isSafe(uint64_t since, uint32_t seconds) const;

    ClusterFs::ManualClock clock_;
    ClusterFs::MemoryDevice media_;
    Recorder device_;
    std::unique_ptr<ClusterFs::Engine> engine_;
    Oracle oracle_;
    uint64_t settled_ = 0; ///< no crash may change the state that the store had then, microseconds; 0 = never
    std::vector<Expectation> expectations_; ///< one for each event, and one for the end
    std::vector<size_t> begins_; ///< see beginOf()
};

} // namespace Simulate

#endif

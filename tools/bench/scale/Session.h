// SPDX-License-Identifier: GPL-2.0-or-later
/* An engine on a made store, from its start to its end. */

#ifndef CLUSTERFS_BENCH_SCALE_SESSION_H
#define CLUSTERFS_BENCH_SCALE_SESSION_H

#include "fs/cluster/api/Engine.h"
#include "tools/bench/scale/HollowDevice.h"
#include "tools/bench/scale/MadeStore.h"
#include "tools/bench/scale/Turns.h"

#include <random>

namespace ScaleBench {

/// how a start went
struct Start {
    double seconds = 0; ///< from open() to the whole index
    double firstHit = 0; ///< seconds until an object was there, with all its bytes
    uint64_t residentBytes = 0; ///< that the process took meanwhile
    Turns turns;
};

/// Calls an engine as Squid would, measures each call. What goes wrong, a hit with wrong bytes
/// included, is thrown as std::runtime_error.
class Session
{
public:
    /// \param store must outlive this
    explicit Session(const MadeStore &store);

    /// opens the store; returns with the whole index
    Start start();

    /// Stores objects one after the other, as fast as they are taken, and reads one that was there
    /// before for each eight; returns when all are packed.
    /// \param number of the first one; each has the store's size of objects
    void store(uint64_t number, uint64_t count, Turns &);

    /// Forgets objects, or gives them new times.
    void remove(uint64_t number, Turns &);
    void update(uint64_t number, Turns &);
    /// waits until all deletes are in the journal
    void writeDeletes(Turns &);

    /// what a checkpoint came to
    struct Checkpoint {
        uint64_t bytes = 0; ///< of the index log
        double seconds = 0;
        double processorSeconds = 0; ///< of all calls meanwhile
        Turns turns;
    };
    /// one checkpoint, while nothing else happens
    Checkpoint checkpoint();

    /// waits until no checkpoint is due that a start owes
    void settle(Turns &);

    /// \returns bytes written to the device while nothing was asked of it
    uint64_t idle(unsigned seconds, Turns &);

    /// \returns seconds that it took
    double stop();

    ClusterFs::Stats stats() const { return engine_->stats(); }
    ClusterFs::Engine &engine() { return *engine_; }

    static uint64_t ResidentBytes(); ///< of this process

private:
    struct Hit;

    void poll(Turns &, unsigned waitMilliseconds);
    bool moveOn(Hit &, Turns &);
    bool moveHits(Turns &);
    bool tryHit(uint64_t number, Turns &);
    static ClusterFs::Config Options(uint32_t clusterKb);

    const MadeStore &store_;
    ClusterFs::SystemClock clock_;
    std::unique_ptr<ClusterFs::AioDevice> file_;
    HollowDevice device_;
    ClusterFs::Config config_;
    std::unique_ptr<ClusterFs::Engine> engine_; ///< from start() on
    std::vector<std::shared_ptr<Hit>> hits_; ///< being read
    std::mt19937_64 random_{1};
    std::vector<char> payload_;
};

} // namespace ScaleBench

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* What all experiments share: a store, phases, counts. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_BENCH_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_BENCH_H

#include "Attendant.h"
#include "Options.h"
#include "Store.h"

#include "tools/base/LatencyHistogram.h"

#include <atomic>
#include <functional>
#include <memory>

namespace Papers {

using Tools::LatencyHistogram;

/// operations by outcome, from all threads
struct Tally {
    std::atomic<uint64_t> checked{0}; ///< objects that were read, and were right
    std::atomic<uint64_t> bad{0};
    std::atomic<uint64_t> missing{0};
    std::atomic<uint64_t> refused{0};

    void count(const Outcome o, const bool reading) {
        checked += reading && o == Outcome::done;
        bad += o == Outcome::bad;
        missing += o == Outcome::missing;
        refused += o == Outcome::refused;
    }
};

/// One run of one experiment. Errors are thrown as std::runtime_error.
class Bench
{
public:
    /// the options that every experiment with a store takes
    static void Declare(CommandLine &, Options &);

    /// Opens the store that the options name.
    /// \param meanBytes of an object
    /// \param ownMemory bytes of the memory that a files store leaves to the caller
    Bench(const Options &, Calls, uint32_t objects, uint64_t meanBytes, uint64_t ownMemory = 0);

    /// All tables are there, and all caches are empty: the memory limit can be set.
    void ready();

    /// Runs work(thread) in the threads and waits until all is on the disk.
    /// \param add receives more values about the phase
    void phase(const std::string &name, unsigned threads, const std::function<void(unsigned)> &work,
               const std::function<void(Json &)> &add);

    /// Empties all caches.
    void dropMemory();

    /// settings, phases, checks and the store's own figures
    /// \returns whether all that was read was right
    bool report(Json &) const;

    /* store operations with their times, counted */
    Outcome create(const Item &, const Hint &, LatencyHistogram &);
    Outcome read(const Item &, const Hint &, LatencyHistogram &, uint32_t &version);
    Outcome remove(uint32_t id, LatencyHistogram &);

    Store &store() { return *store_; }
    Tally tally;

private:
    StoreOrder order_;
    Content content_;
    Attendant attendant_;
    std::unique_ptr<Store> store_;
    Json phases_ = Json::array();
    unsigned threads_ = 1; ///< most of a phase
};

} // namespace Papers

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine as a store of the experiments. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_ENGINESTORE_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_ENGINESTORE_H

#include "SteppedClock.h"
#include "Store.h"

#include "fs/cluster/engine/Open.h"
#include "fs/cluster/device/AioDevice.h"

#include <condition_variable>
#include <functional>
#include <mutex>

namespace Papers {

/// The engine for one thread or several. It is single-threaded, so calls take a
/// lock, which is released while a thread waits for the disk (as Hummingbird
/// does). One of the waiting threads runs the engine for all.
class EngineStore final : public Store
{
public:
    /// formats the device. \returns nil with the reason in error
    static std::unique_ptr<EngineStore> Open(const StoreOrder &, const Content &, std::string &error);

    ~EngineStore() override;

    Outcome create(const Item &, const Hint &) override;
    Outcome read(const Item &, const Hint &, uint32_t &version) override;
    Outcome remove(uint32_t id) override;
    void idle() override;
    bool sync(std::string &error) override;
    bool dropMemory(std::string &error) override;
    uint64_t memoryToCome() const override;
    Json describe() const override;

    /* for experiments on the engine alone, from one thread */
    ClusterFs::Engine &engine() { return *engine_; }
    ClusterFs::Device &device() { return *device_; }
    ClusterFs::Key keyOf(uint32_t id) const;

private:
    using Lock = std::unique_lock<std::mutex>;
    using Condition = std::function<bool()>;

    EngineStore(const StoreOrder &, const Content &);

    bool plan(std::string &error);
    bool start(std::string &error);
    bool openEngine(std::string &error);
    void turn(Lock &);
    bool await(Lock &, const Condition &);
    void sometimes();
    void tell(const ClusterFs::Key &, const Hint &);
    std::unique_ptr<ClusterFs::Writer> startWriting(Lock &, const Item &, const ClusterFs::Key &);
    Outcome readAll(Lock &, ClusterFs::Reader &, const Item &, uint32_t &version);

    const StoreOrder order_;
    const Content &content_;
    ClusterFs::SystemClock deviceClock_;
    SteppedClock engineClock_; ///< changed under mutex_ only
    ClusterFs::Config config_;
    std::unique_ptr<ClusterFs::AioDevice> device_;
    std::unique_ptr<ClusterFs::Engine> engine_;
    ClusterFs::Counters before_; ///< of engines that were closed
    std::string trouble_; ///< the newest warning or error of the engine

    std::mutex mutex_; ///< for all that the engine touches
    std::condition_variable turned_; ///< the engine was run
    bool running_ = false; ///< a thread waits for the device on behalf of all
    unsigned calls_ = 0;
};

} // namespace Papers

#endif

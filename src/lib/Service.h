// SPDX-License-Identifier: GPL-2.0-or-later
/* The thread that runs the engine of one device. */

#ifndef CLUSTERFS_SRC_LIB_SERVICE_H
#define CLUSTERFS_SRC_LIB_SERVICE_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/base/Clock.h"
#include "fs/cluster/base/SystemMemory.h"
#include "fs/cluster/device/AioDevice.h"
#include "fs/cluster/engine/EngineView.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace ClusterFs::Library {

/// how far a job has come when it was run
enum class Progress : uint8_t {
    over, ///< its result is there
    goesOn, ///< it has used up its turn, and wants the next one at once
    waits ///< for the device, or for room
};

/// Something that a caller wants of the engine. It is run once when it comes, by the caller's thread or that of its service, and
/// then on the latter, once in each turn of the engine, until it is over.
class Job
{
public:
    virtual ~Job() = default;
    virtual Progress run(Engine &) = 0;

    int64_t result = 0; ///< what the call returns
};
using JobPointer = std::shared_ptr<Job>;

/// A job that needs one turn and has nothing to remember.
/// \param Function takes the engine and returns the result
template <class Function>
class SimpleJob final : public Job
{
public:
    explicit SimpleJob(Function f): function_(std::move(f)) {}
    Progress run(Engine &engine) override {
        result = function_(engine);
        return Progress::over;
    }

private:
    Function function_;
};

/// Objects that belong to a caller's handles and are used by one thread at a time. A handle has a number, so that nothing of the
/// engine is left in a handle that outlives it.
template <class Thing>
class Holdings
{
public:
    static constexpr size_t most = 65536;

    bool full() const { return things_.size() >= most; }
    uint64_t add(std::unique_ptr<Thing> thing) {
        things_.emplace(++last_, std::move(thing));
        return last_;
    }
    /// \returns nil when there is none of that number
    Thing *find(const uint64_t number) const {
        const auto found = things_.find(number);
        return found == things_.end() ? nullptr : found->second.get();
    }
    void remove(const uint64_t number) { things_.erase(number); }
    void clear() { things_.clear(); }

private:
    std::unordered_map<uint64_t, std::unique_ptr<Thing>> things_;
    uint64_t last_ = 0;
};

/// One device, its engine, and a thread that gives the engine its turns. One thread at a time uses the engine: this one, or a
/// caller's, which runs its own job while this one sleeps and no other job is to come before. What such a job does not end is handed over
/// through a queue that has a limit. All public calls may come from any thread.
class Service
{
public:
    static constexpr size_t maxJobs = 1024; ///< jobs that are not over
    static constexpr size_t maxMessages = 64; ///< lines that are kept
    static constexpr size_t maxUses = 4096; ///< objects of readAlone() that the engine has not heard of; of more it hears nothing

    /// Opens the device and the store on it, waits until its index is loaded, and starts the thread.
    /// \param error receives the reason unless 0 is returned
    /// \returns 0 or a negative clusterfs_error
    static int Open(const std::string &path, const Config &, std::unique_ptr<Service> &, std::string &error);

    /// stops as close() does, if nobody has called that
    ~Service();
    Service(const Service &) = delete;
    Service &operator =(const Service &) = delete;

    /// Copies an object that is in memory on the caller's own thread, as workers of Squid do, and tells the engine of it later.
    /// \param most bytes that it may have
    /// \returns false when a job has to look for it
    bool readAlone(const Key &, uint64_t most, EngineView::Copy &);

    /// Engine::peek() on the caller's own thread.
    /// \returns false when a job has to look for the object
    bool peekAlone(const Key &, ObjectInfo &) const;

    /// Hands a job over and waits until it is over; waits for room in the queue, too.
    /// \returns its result, or -CLUSTERFS_CLOSED
    int64_t call(const JobPointer &);

    /// call() for what a function does in one turn. \see SimpleJob
    template <class Function>
    int64_t ask(Function function) {
        return call(std::make_shared<SimpleJob<Function>>(std::move(function)));
    }

    /// Hands a job over.
    /// \param over is called once, maybe before this returns, unless an error is returned
    /// \returns 0, -CLUSTERFS_BUSY when the queue is full, or -CLUSTERFS_CLOSED
    int post(const JobPointer &, std::function<void()> over);

    /// hands over what ends a handle: never refused for want of room, and dropped when the service is closed
    void postEnd(std::function<void(Service &)>);

    /// Ends all jobs with -CLUSTERFS_CLOSED, closes the engine and ends the thread. Waits for that.
    /// \returns 0 or -CLUSTERFS_IO
    int close();

    /// the newest lines of the engine, one below the other
    std::string messages() const;

    uint64_t number() const { return number_; } ///< of the device, made from its UUID

    /* only for jobs */
    Holdings<Reader> readers;
    Holdings<Writer> writers;
    const Device &device() const { return *device_; }
    const Clock &clock() const { return clock_; }

private:
    struct Entry {
        JobPointer job;
        std::function<void()> over;
    };
    using Ends = std::deque<std::function<void(Service &)>>; ///< what handles have left to be done
    using Lock = std::unique_lock<std::mutex>;

    Service();
    int openEngine(const std::string &path, const Config &, std::string &error);
    Log log();
    void start();
    void show();
    void serve();
    void tellUses();
    bool expired(const ObjectInfo &) const;
    bool turn();
    bool takeIncoming(Ends &ends);
    void runEnds(Ends &ends);
    bool isFirst() const;
    bool enter();
    bool runHere(Job &);
    Progress run(Job &);
    Progress runAll(std::list<Entry> &);
    void sleep(Progress, bool deviceIsIdle);
    void wake();
    void wakeForTurn();
    void endAll();
    void enqueue(Entry);

    SystemClock clock_;
    SystemMemory memory_; ///< the thread's
    std::unique_ptr<AioDevice> device_;
    std::unique_ptr<Engine> engine_;
    uint64_t number_ = 0;
    int event_ = -1; ///< eventfd: wakes the thread
    uint32_t fileLifetime_ = 0; ///< seconds; 0 = no limit

    std::unique_ptr<EngineView> view_; ///< for readAlone(); nil when there is none
    std::atomic<bool> shown_{false}; ///< view_ may be used
    std::mutex usesMutex_; ///< for uses_; no other one is taken while it is held
    std::vector<Key> uses_; ///< objects of readAlone() since tellUses()
    std::vector<Key> toTell_; ///< of tellUses()

    std::mutex engineMutex_; ///< for engine_, device_, readers, writers, and all down to ended_; taken before mutex_, or without it
    std::atomic<bool> wanted_{false}; ///< the thread waits for engineMutex_: callers let it go first
    unsigned ranHere_ = 0; ///< jobs that callers have run since the thread was woken
    bool ended_ = false; ///< endAll() was called
    std::list<Entry> pending_; ///< of the thread: jobs that were run and are not over
    std::list<Entry> fresh_; ///< of the thread: jobs that were not run yet

    mutable std::mutex mutex_; ///< for all below
    std::condition_variable room_; ///< jobs_ has become smaller
    std::deque<Entry> incoming_;
    Ends incomingEnds_;
    size_t jobs_ = 0; ///< that are not over
    size_t ends_ = 0; ///< calls of postEnd() whose functions were not called yet
    bool sleeps_ = false; ///< the thread waits, or is about to
    bool stopping_ = false;
    std::deque<std::string> messages_;

    int closeResult_ = 0;
    std::thread thread_;
};

/// \returns the negative clusterfs_error for an answer of the engine; 0 for ok
int errorOf(Status);

} // namespace ClusterFs::Library

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The thread that runs the engine of one device. */

#include "lib/Service.h"

#include "clusterfs/clusterfs.h"
#include "fs/cluster/engine/Open.h"
#include "fs/cluster/layout/Superblock.h"
#include "lib/Threads.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>

namespace ClusterFs::Library {
namespace {

constexpr int idleMilliseconds = 100; ///< the engine wants to be run that often
constexpr int busyMilliseconds = 10; ///< while jobs wait and the device works: it announces its answers
constexpr int pauseMilliseconds = 1; ///< while jobs wait and the device does not: they wait for the engine's timers
constexpr unsigned closeMilliseconds = 600000;
constexpr unsigned tries = 100; ///< to get the engine, a pause of the processor after each: some microseconds, less than a switch of threads
constexpr unsigned mostHere = 64; ///< jobs that callers run before the engine has a turn again

/// tells the processor that this thread looks for a change in a loop
void
pauseProcessor()
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// waits until the service has ended a job
class Waiter
{
public:
    void end() {
        const std::lock_guard<std::mutex> lock(mutex_);
        over_ = true;
        changed_.notify_one(); // with the lock: the waiter may be gone right after it
    }
    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return over_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
};

} // namespace

int
errorOf(const Status status)
{
    switch (status) {
    case Status::ok:
        return 0;
    case Status::notFound:
    case Status::aborted:
        return -CLUSTERFS_NOT_FOUND;
    case Status::busy:
        return -CLUSTERFS_BUSY;
    case Status::full:
        return -CLUSTERFS_NO_ROOM;
    case Status::ioError:
        return -CLUSTERFS_IO;
    case Status::corrupt:
        return -CLUSTERFS_DAMAGED;
    case Status::notOurs:
        return -CLUSTERFS_FOREIGN;
    case Status::unsupported:
        return -CLUSTERFS_UNSUPPORTED;
    case Status::offline:
        return -CLUSTERFS_OFFLINE;
    case Status::pending: // a writer of an engine never says that
        break;
    }
    return -CLUSTERFS_INTERNAL;
}

Service::Service() = default;

Service::~Service()
{
    (void)close();
    if (event_ >= 0)
        ::close(event_);
}

int
Service::Open(const std::string &path, const Config &config, std::unique_ptr<Service> &service, std::string &error)
{
    std::unique_ptr<Service> opened(new Service);
    const int result = opened->openEngine(path, config, error);
    if (result == 0)
        service = std::move(opened);
    return result;
}

/// a log that may be called from any thread
Log
Service::log()
{
    return [this](const LogLevel level, const std::string &line) {
        if (level > LogLevel::warning)
            return;
        const Lock lock(mutex_);
        messages_.push_back(line);
        if (messages_.size() > maxMessages)
            messages_.pop_front();
    };
}

int
Service::openEngine(const std::string &path, const Config &config, std::string &error)
{
    event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_ < 0) {
        error = std::string("no eventfd: ") + strerror(errno);
        return -CLUSTERFS_NO_MEMORY;
    }
    AioDevice::OpenOptions options;
    options.path = path;
    options.depth = config.depth;
    device_ = AioDevice::Open(clock_, options, log(), error);
    if (!device_)
        return -CLUSTERFS_DEVICE;
    const auto status = ClusterFs::openEngine(*device_, clock_, config, log(), engine_, error);
    if (status != Status::ok) {
        error = path + ": " + (error.empty() ? statusText(status) : error);
        return errorOf(status);
    }
    fileLifetime_ = config.fileLifetime;
    uses_.reserve(maxUses);
    toTell_.reserve(maxUses);
    const auto &uuid = engine_->superblock()->uuid;
    memcpy(&number_, uuid.data(), sizeof(number_));
    start();

    /// waits until objects are found and groups are known, or never will be
    class Loading final : public Job
    {
    public:
        Progress run(Engine &engine) override {
            const auto state = engine.state();
            result = state == EngineState::serving ? 0 : -CLUSTERFS_IO;
            text = engine.stateText();
            return state == EngineState::recovering || (state == EngineState::serving && !engine.groupsLoaded()) ? Progress::waits : Progress::over;
        }
        std::string text;
    };
    const auto loading = std::make_shared<Loading>();
    const auto result = static_cast<int>(call(loading));
    if (result == 0) {
        (void)ask([this](const Engine &) {
            show();
            return 0;
        });
    }
    auto said = messages();
    if (!said.empty())
        said.pop_back(); // its newline
    if (result != 0)
        error = path + ": the device is " + loading->text + (said.empty() ? "" : ": " + said);
    return result;
}

void
Service::start()
{
    thread_ = startThread([this] { serve(); });
}

/// Maps the engine's memory once more, to read, for callers. Without it, as where descriptors are short, a job reads each object.
void
Service::show()
{
    SharedTables tables;
    std::string error;
    if (!engine_->share(tables, error))
        return;
    EngineView::Descriptors descriptors;
    for (size_t i = 0; i < descriptors.size(); ++i) {
        const auto fd = tables.memories[i].fd;
        descriptors[i] = Descriptor(fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0));
    }
    auto view = std::make_unique<EngineView>();
    if (!view->map(std::move(descriptors), tables, error))
        return;
    view_ = std::move(view);
    shown_.store(true, std::memory_order_release);
}

/// whether an object is past its lifetime
bool
Service::expired(const ObjectInfo &info) const
{
    return pastLifetime(info.timestamp, fileLifetime_, clock_);
}

bool
Service::peekAlone(const Key &key, ObjectInfo &info) const
{
    return shown_.load(std::memory_order_acquire) && view_->find(key, info) && !expired(info);
}

bool
Service::readAlone(const Key &key, const uint64_t most, EngineView::Copy &copy)
{
    if (!shown_.load(std::memory_order_acquire) || !view_->read(key, most, copy))
        return false;
    if (expired(copy.info))
        return false;
    bool many = false;
    {
        const std::lock_guard<std::mutex> lock(usesMutex_);
        if (uses_.size() < maxUses)
            uses_.push_back(key);
        many = uses_.size() == maxUses / 2;
    }
    if (many)
        wakeForTurn();
    return true;
}

/// tells the engine which objects callers have read by themselves
void
Service::tellUses()
{
    {
        const std::lock_guard<std::mutex> lock(usesMutex_);
        toTell_.swap(uses_);
    }
    for (const auto &key: toTell_) {
        ObjectInfo info;
        if (!engine_->find(key, info))
            continue;
        engine_->touch(key);
        engine_->noteRead(key);
    }
    toTell_.clear();
}

int64_t
Service::call(const JobPointer &job)
{
    if (isFirst() && runHere(*job))
        return job->result;
    Waiter waiter;
    {
        Lock lock(mutex_);
        room_.wait(lock, [this] { return jobs_ < maxJobs || stopping_; });
        if (stopping_)
            return -CLUSTERFS_CLOSED;
        enqueue({job, [&waiter] { waiter.end(); }});
    }
    waiter.wait();
    return job->result;
}

int
Service::post(const JobPointer &job, std::function<void()> over)
{
    if (isFirst() && runHere(*job)) {
        over();
        return 0;
    }
    const Lock lock(mutex_);
    if (stopping_)
        return -CLUSTERFS_CLOSED;
    if (jobs_ >= maxJobs)
        return -CLUSTERFS_BUSY;
    enqueue({job, std::move(over)});
    return 0;
}

/// takes the engine for a caller
/// \returns whether it has it; if not, somebody else uses it for longer
bool
Service::enter()
{
    for (unsigned n = 0; n < tries; ++n) {
        if (!wanted_.load(std::memory_order_relaxed) && engineMutex_.try_lock())
            return true;
        pauseProcessor();
    }
    return false;
}

/// Runs a job on the caller's thread, if nobody uses the engine: to wake the thread, and to be woken by it, takes ten times as long
/// as most jobs.
/// \returns whether it is over; if not, it has to be handed over, begun or not
bool
Service::runHere(Job &job)
{
    if (!enter())
        return false;
    std::unique_lock<std::mutex> engine(engineMutex_, std::adopt_lock);
    if (ended_)
        return false;
    tellUses();
    const bool over = run(job) == Progress::over;
    const bool many = ++ranHere_ >= mostHere;
    if (many)
        ranHere_ = 0;
    engine.unlock();
    if (many)
        wakeForTurn();
    return over;
}

/// runs a job once
Progress
Service::run(Job &job)
{
    try {
        return job.run(*engine_);
    } catch (const std::bad_alloc &) {
        job.result = -CLUSTERFS_NO_MEMORY;
    } catch (...) {
        job.result = -CLUSTERFS_INTERNAL;
    }
    return Progress::over;
}

/// whether nothing that was handed over has to come before what a caller wants now
bool
Service::isFirst() const
{
    const Lock lock(mutex_);
    return !jobs_ && !ends_ && !stopping_;
}

/// the caller has the lock
void
Service::enqueue(Entry entry)
{
    incoming_.push_back(std::move(entry));
    ++jobs_;
    wake();
}

void
Service::postEnd(std::function<void(Service &)> end)
{
    if (isFirst() && enter()) {
        const std::lock_guard<std::mutex> engine(engineMutex_, std::adopt_lock);
        if (!ended_)
            end(*this);
        return;
    }
    const Lock lock(mutex_);
    if (stopping_)
        return;
    incomingEnds_.push_back(std::move(end));
    ++ends_;
    wake();
}

/// the caller has the lock
void
Service::wake()
{
    if (!sleeps_)
        return;
    sleeps_ = false;
    const uint64_t one = 1;
    (void)!write(event_, &one, sizeof(one)); // cannot fail: the counter is far from its end
}

/// callers have done much by themselves: the engine is to hear of it, or to have a turn
void
Service::wakeForTurn()
{
    const Lock lock(mutex_);
    wake();
}

void
Service::serve()
{
    bool sound = true;
    Ends ends;
    while (sound && takeIncoming(ends)) {
        wanted_.store(true, std::memory_order_relaxed);
        std::unique_lock<std::mutex> engine(engineMutex_);
        wanted_.store(false, std::memory_order_relaxed);
        if (!ends.empty())
            runEnds(ends);
        tellUses();
        (void)runAll(fresh_);
        pending_.splice(pending_.end(), fresh_);
        sound = turn();
        const auto progress = runAll(pending_);
        const bool idle = device_->idle();
        ranHere_ = 0;
        engine.unlock();
        sleep(progress, idle);
    }
    wanted_.store(true, std::memory_order_relaxed);
    const std::lock_guard<std::mutex> engine(engineMutex_);
    endAll();
    closeResult_ = sound && engine_->close(closeMilliseconds) == Status::ok ? 0 : -CLUSTERFS_IO;
}

/// \returns false when the engine cannot go on, for which its device is left as after a crash
bool
Service::turn()
{
    std::string what = "unknown";
    try {
        MemoryRoom room;
        if (memory_.look(clock_.micros(), room))
            engine_->noteMemory(room);
        engine_->poll();
        const auto state = engine_->state();
        if (state != EngineState::serving && state != EngineState::readOnly)
            shown_.store(false, std::memory_order_relaxed);
        return true;
    } catch (const std::exception &e) {
        what = e.what();
    } catch (...) {
    }
    shown_.store(false, std::memory_order_relaxed);
    const Lock lock(mutex_);
    messages_.push_back("the engine failed, and its device is not used any more: " + what);
    stopping_ = true;
    return false;
}

/// \param ends receives what handles have left to be done
/// \returns false when the service is to stop
bool
Service::takeIncoming(Ends &ends)
{
    const Lock lock(mutex_);
    sleeps_ = false;
    if (stopping_)
        return false;
    while (!incoming_.empty()) {
        fresh_.push_back(std::move(incoming_.front()));
        incoming_.pop_front();
    }
    ends.swap(incomingEnds_);
    return true;
}

/// does what handles have left to be done
void
Service::runEnds(Ends &ends)
{
    for (const auto &end: ends)
        end(*this);
    const Lock lock(mutex_);
    ends_ -= ends.size();
    ends.clear();
}

/// runs jobs once, and takes those away that are over
/// \returns over when none is left; goesOn when one does; else waits
Progress
Service::runAll(std::list<Entry> &entries)
{
    auto progress = Progress::over;
    size_t over = 0;
    for (auto i = entries.begin(); i != entries.end();) {
        const auto came = run(*i->job);
        if (came != Progress::over) {
            if (progress != Progress::goesOn)
                progress = came;
            ++i;
            continue;
        }
        const auto ended = std::move(i->over);
        i->job.reset();
        i = entries.erase(i);
        ++over;
        ended();
    }
    if (over) {
        const Lock lock(mutex_);
        jobs_ -= over;
        room_.notify_all();
    }
    return progress;
}

/// waits until there is something to do
void
Service::sleep(const Progress progress, const bool deviceIsIdle)
{
    if (progress == Progress::goesOn)
        return;
    {
        const Lock lock(mutex_);
        if (!incoming_.empty() || !incomingEnds_.empty() || stopping_)
            return;
        sleeps_ = true;
    }
    int milliseconds = idleMilliseconds;
    if (progress == Progress::waits)
        milliseconds = deviceIsIdle ? pauseMilliseconds : busyMilliseconds;
    struct pollfd events[] = {{event_, POLLIN, 0}, {device_->wakeupFd(), POLLIN, 0}};
    // a failure ends the sleep early, which does no harm
    if (::poll(events, 2, milliseconds) > 0 && events[0].revents) {
        uint64_t count = 0;
        (void)!read(event_, &count, sizeof(count));
    }
}

/// ends all that callers and handles have here
void
Service::endAll()
{
    shown_.store(false, std::memory_order_relaxed);
    ended_ = true;
    {
        const Lock lock(mutex_);
        for (auto &entry: incoming_)
            fresh_.push_back(std::move(entry));
        incoming_.clear();
        incomingEnds_.clear();
        jobs_ = ends_ = 0;
        room_.notify_all();
    }
    pending_.splice(pending_.end(), fresh_);
    for (auto &entry: pending_) {
        entry.job->result = -CLUSTERFS_CLOSED;
        entry.over();
    }
    pending_.clear();
    readers.clear();
    writers.clear();
}

int
Service::close()
{
    if (!thread_.joinable())
        return closeResult_;
    {
        const Lock lock(mutex_);
        stopping_ = true;
        wake();
    }
    thread_.join();
    engine_.reset();
    device_.reset();
    return closeResult_;
}

std::string
Service::messages() const
{
    const Lock lock(mutex_);
    std::string text;
    for (const auto &line: messages_)
        text += line + "\n";
    return text;
}

} // namespace ClusterFs::Library

// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "base/TextException.h"
#include "debug/Stream.h"
#include "event.h"
#include "fs/cluster/engine/Open.h"
#include "fs/cluster/layout/Superblock.h"
#include "fs/cluster/squid/IoState.h"
#include "fs/cluster/squid/SwapDir.h"
#include "globals.h"
#include "sbuf/SBuf.h"
#include "sbuf/Stream.h"
#include "Store.h"
#include "store_rebuild.h"
#include "time/gadgets.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

/// how long a shutdown may take to write what is in memory
const unsigned CloseMilliseconds = 20000;

/// how long, in seconds, and how often to wait until a device that is out of service owes no answers
const double IdleWait = 0.1;
const unsigned IdleWaitLimit = 50;

/// within so many polls whoever waits for a device that is out of service has heard of it
const unsigned LastPolls = 8;

/// how long to sleep at a time when waiting for recovery (squid -F)
const unsigned WaitMilliseconds = 100;

/// the core counts objects with ints
int
ToInt(const uint64_t n)
{
    return static_cast<int>(std::min<uint64_t>(n, std::numeric_limits<int>::max()));
}

} // namespace

/// the engine's lines in cache.log
ClusterFs::Log
ClusterFs::SwapDir::log() const
{
    const std::string prefix = std::string("cache_dir ") + type() + ' ' + path + ": ";
    return [prefix](const LogLevel level, const std::string &line) {
        switch (level) {
        case LogLevel::error:
            debugs(47, DBG_IMPORTANT, "ERROR: " << prefix << line);
            break;
        case LogLevel::warning:
            debugs(47, DBG_IMPORTANT, "WARNING: " << prefix << line);
            break;
        case LogLevel::notice:
            debugs(47, DBG_IMPORTANT, prefix << line);
            break;
        case LogLevel::debug:
            debugs(47, 3, prefix << line);
            break;
        }
    };
}

void
ClusterFs::SwapDir::init()
{
    assert(!engine_ && !rebuilt_);

    // The configuration is destroyed at exit, when most of what we would need
    // to take an engine down properly is gone already; sync() has done it.
    lock();

    startTime_ = current_time;
    resolveDefaults(config_);
    start();
    // not now: the core resets the counters after all dirs are initialized
    eventAdd("ClusterFs::SwapDir::FinishStart", &FinishStart, this, 0.0, 0, false);
}

/// opens the device, or says once why not
void
ClusterFs::SwapDir::start()
{
    trouble_.clear();
    try {
        std::string error;
        const auto status = open(error);
        if (status != Status::ok)
            trouble_ = error.empty() ? statusText(status) : error;
    } catch (...) {
        trouble_ = ToSBuf(CurrentException).c_str();
    }
    if (trouble_.empty()) {
        joinOthers();
        loop_.start(device_->wakeupFd());
        storeConfigure(); // the sizes are known now
        const auto exposure = exposureOf(path);
        if (!exposure.empty())
            log()(LogLevel::warning, exposure);
        if (opt_store_doublecheck)
            debugs(47, DBG_IMPORTANT, "cache_dir " << type() << ' ' << path << ": -S adds nothing here because each read is checked");
    } else {
        engine_ = nullptr;
        device_ = nullptr;
        trouble_ = named(trouble_) + advice();
        debugs(47, DBG_IMPORTANT, "ERROR: cache_dir " << type() << " is not used: " << trouble_);
    }
}

/// A dir that comes later has missed no share: it goes on with those that had least.
void
ClusterFs::SwapDir::joinOthers()
{
    auto least = std::numeric_limits<double>::infinity();
    ForEach([&](const SwapDir &dir) {
        if (&dir != this && dir.readable())
            least = std::min(least, dir.share());
    });
    received_ = std::isfinite(least) ? static_cast<uint64_t>(least * static_cast<double>(max_size)) : 0;
}

void
ClusterFs::SwapDir::StartAgain(void * const self)
{
    static_cast<SwapDir*>(self)->startAgain();
}

/// Takes a device into service that came back, or was exchanged, since it could
/// not be opened. What Squid has deleted meanwhile does not come back with it.
void
ClusterFs::SwapDir::startAgain()
{
    if (stopped_ || (started() ? readable() : trouble_.empty()))
        return;
    if (started() && !letGo())
        return;
    if (missed_.full()) {
        debugs(47, DBG_IMPORTANT, "ERROR: cache_dir " << type() << " is not used: " << path << ": more was deleted since Squid has "
               "started than it remembers, and may be in there; empty it with clusterfs format --force, and restart Squid");
        return;
    }
    start();
    if (!started())
        return;
    missed_.tell(*engine_, squid_curtime);
    debugs(47, DBG_IMPORTANT, "cache_dir " << type() << ' ' << path << " is in service again");
}

/// Does away with the engine of a device that is out of service.
/// \returns false, and arranges for another try, while the device owes answers:
/// to close it then would hold up Squid
bool
ClusterFs::SwapDir::letGo()
{
    auto idle = !updateBytes_;
    for (unsigned n = 0; idle && n < LastPolls; ++n) {
        loop_.poll();
        idle = device_->idle() && !updateBytes_;
    }
    if (!idle && idleWaits_++ < IdleWaitLimit) {
        eventAdd("ClusterFs::SwapDir::StartAgain", &StartAgain, this, IdleWait, 0, false);
        return false;
    }
    idleWaits_ = 0;
    if (!idle) {
        debugs(47, DBG_IMPORTANT, "ERROR: cache_dir " << type() << " is not used: " << path << ": the device has not answered all of "
               "its requests yet; try squid -k reconfigure later");
        return false;
    }
    // The device may have older versions of what was not written any more.
    for (const auto &key: engine_->removalsPending())
        missed_.note(key);
    handles_.forEach([this](Attachment &attachment) {
        if (!attachment.evicted)
            missed_.note(attachment.key);
        attachment.evicted = true;
        attachment.lost = true;
        attachment.unpublished = nullptr;
    });
    missed_.noteAnyReplaced();
    loop_.stop();
    engine_ = nullptr;
    device_ = nullptr;
    kickProducers();
    return true;
}

/// whether the dir is out of service, or may be some time: what is deleted then may come back with the device
bool
ClusterFs::SwapDir::mayReturn() const
{
    return !trouble_.empty() || (engine_ && !stopped_);
}

/// opens the device and starts the engine
ClusterFs::Status
ClusterFs::SwapDir::open(std::string &error)
{
    AioDevice::OpenOptions options;
    options.path = path;
    options.depth = config_.depth;
    device_ = AioDevice::Open(clock_, options, log(), error);
    if (!device_)
        return Status::ioError;

    const auto status = openEngine(*device_, clock_, config_, log(), engine_, error);
    if (status != Status::ok)
        return status;

    max_size = engine_->superblock()->geometry.deviceBytes;
    const auto formattedMb = max_size >> 20;
    if (sizeMb_ && sizeMb_ != formattedMb) {
        debugs(47, DBG_IMPORTANT, "WARNING: cache_dir " << type() << ' ' << path << " is configured with " << sizeMb_ <<
               " MB, but was formatted with " << formattedMb << " of " << (device_->size() >> 20) <<
               " MB. This can't change without formatting it anew");
    }
    fs.blksize = static_cast<int>(device_->alignment());
    return status;
}

void
ClusterFs::SwapDir::FinishStart(void * const self)
{
    static_cast<SwapDir*>(self)->finishStart();
}

/// the part of init() that needs all other dirs to be initialized
void
ClusterFs::SwapDir::finishStart()
{
    if (opt_foreground_rebuild) {
        while (started() && engine_->state() == EngineState::recovering) {
            device_->wait(WaitMilliseconds);
            loop_.poll();
        }
    }
    noteRebuild();
}

/// what the driver calls
void
ClusterFs::SwapDir::poll()
{
    if (!started())
        return;
    engine_->poll();
    kickProducers();
    noteRebuild();
}

void
ClusterFs::SwapDir::kickWhenDrained(const IoState::Pointer &sio)
{
    congested_.push_back(sio);
}

/// gives those who had to wait another chance; some may come back
void
ClusterFs::SwapDir::kickProducers()
{
    std::vector<IoState::Pointer> waited;
    waited.swap(congested_);
    for (const auto &sio: waited) {
        if (sio->stillCongested())
            congested_.push_back(sio);
        else
            sio->kickProducer();
    }
}

int
ClusterFs::SwapDir::callback()
{
    loop_.poll();
    return 0; // a busy disk is no reason for the core to give up
}

/// tells the core, once, when the index is as complete as it will be
void
ClusterFs::SwapDir::noteRebuild()
{
    if (rebuilt_)
        return;

    StoreRebuildData counts;
    counts.updateStartTime(startTime_);
    if (started()) {
        // A scan of the whole device may take hours. All of Squid waits for us:
        // WCCP, other stores' housekeeping, digests.
        if (engine_->state() == EngineState::recovering && !engine_->indexLoaded()) {
            const auto found = engine_->objectCount();
            const auto part = engine_->recoveryProgress();
            if (found > 0 && part > 0.0)
                storeRebuildProgress(index, ToInt(static_cast<uint64_t>(static_cast<double>(found) / part)), ToInt(found));
            return;
        }
        const auto recovery = engine_->stats().recovery;
        counts.objcount = ToInt(recovery.objects);
        counts.dupcount = ToInt(recovery.dropped);
        counts.cancelcount = ToInt(recovery.deletes);
        counts.scancount = ToInt(recovery.objects + recovery.dropped);
        counts.validations = static_cast<int64_t>(recovery.clustersRead);
    }
    rebuilt_ = true;
    storeRebuildComplete(&counts);
}

void
ClusterFs::SwapDir::sync()
{
    // only called at shutdown, but several times
    if (!started())
        return;
    loop_.stop();
    stopped_ = true; // before close() answers those who can't hear it any more
    const auto status = engine_->close(CloseMilliseconds);
    if (status != Status::ok) {
        debugs(47, DBG_IMPORTANT, "WARNING: cache_dir " << type() << ' ' << path << " was not stopped cleanly: " <<
               statusText(status) << ". The next start will recover it");
    }
    kickProducers();
}

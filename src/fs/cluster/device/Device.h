// SPDX-License-Identifier: GPL-2.0-or-later
/* A disk as the engine sees it: aligned requests, answers later, measured. */

#ifndef SQUID_SRC_FS_CLUSTER_DEVICE_DEVICE_H
#define SQUID_SRC_FS_CLUSTER_DEVICE_DEVICE_H

#include "fs/cluster/base/Clock.h"
#include "fs/cluster/base/Histogram.h"
#include "fs/cluster/base/Types.h"
#include "fs/cluster/device/CostMeter.h"

#include <deque>
#include <functional>

namespace ClusterFs {

/// flush: the disk writes its volatile cache to the media (a disk flush)
enum class IoOp : uint8_t { read, write, flush };
constexpr unsigned ioOpCount = 3;

/// Whether somebody waits for the answer. Background requests use at most half
/// of the depth and go after urgent ones, so that housekeeping holds up no hit.
enum class IoClass : uint8_t { urgent, background };

/// One request. The buffer belongs to the caller and must stay until done().
struct Io {
    IoOp op = IoOp::read;
    IoClass ioClass = IoClass::urgent;
    uint64_t offset = 0; ///< bytes; a multiple of Device::alignment(); unused by flush
    uint32_t size = 0; ///< bytes; a multiple of Device::alignment(); unused by flush
    char *buffer = nullptr; ///< aligned to Device::bufferAlignment(); unused by flush
    std::function<void(Status)> done; ///< called once, from poll(), never from submit()
};

/// counters since opening
struct DeviceStats {
    struct PerOp {
        uint64_t requests = 0; ///< completed, failures included
        uint64_t bytes = 0; ///< moved successfully
        uint64_t errors = 0; ///< of these requests, those that failed
        Histogram latency; ///< microseconds, from handing over to the kernel to completion
        uint64_t busyMicros = 0; ///< sum of the latencies
    };
    PerOp op[ioOpCount];
    uint64_t maxQueued = 0; ///< most requests that ever waited in front of the device
    int lastErrno = 0; ///< of the newest failure, 0 = none

    const PerOp &of(const IoOp o) const { return op[static_cast<unsigned>(o)]; }
};

/// The half of every device that queues and measures; back ends supply start()
/// and reap(). One thread makes all calls. Destroying a device with requests in
/// flight waits for them and drops their answers.
class Device
{
public:
    /// \param size bytes
    /// \param alignment of offsets and sizes, bytes
    /// \param depth most requests in flight, at least 1
    Device(const Clock &, uint64_t size, uint32_t alignment, unsigned depth);
    virtual ~Device();
    Device(const Device &) = delete;
    Device &operator =(const Device &) = delete;

    /// Queues a request; blocks only where the device is not asynchronous().
    /// A read beyond maxQueue queued requests of its class is answered busy, which
    /// says nothing about the disk; a request out of bounds or unaligned is
    /// answered ioError. Both answers come from poll(), too. No write and no flush
    /// is refused because of the queue: those who write bound their own writes.
    /// Requests may overtake each other: a flush covers the writes that were
    /// answered before it was submitted.
    void submit(Io);

    /// Somebody waits for a background read by now: if it is queued, it becomes an urgent one.
    /// \param offset where it begins, bytes
    void hasten(uint64_t offset);

    /// Delivers the answers that have arrived and starts requests that waited for
    /// room. Answers that come up meanwhile wait for the next call, so this ends
    /// even if each done() submits again. Called from a done(), it does nothing.
    /// \returns how many answers were delivered
    unsigned poll();

    /// blocks until poll() has something to do, at most that long
    virtual void wait(unsigned milliseconds) = 0;

    /// readable when poll() should be called, or -1
    virtual int wakeupFd() const { return -1; }

    /// makes wakeupFd() readable: there is work left that no answer will announce
    void pollAgain() { wake(); }

    /// Tells the disk that nothing on it is needed any more (TRIM), where it can make use of that. What is read from it
    /// afterwards may be anything. Blocks, on a large SSD for seconds. No errors: nothing depends on it.
    virtual void discardAll() {}

    /// whether submit() returns while the device still works on the request
    virtual bool asynchronous() const { return true; }

    const Clock &clock() const { return clock_; }
    uint64_t size() const { return size_; } ///< bytes
    uint32_t alignment() const { return alignment_; } ///< of offsets and sizes, bytes
    static constexpr uint32_t bufferAlignment() { return 4096; } ///< of memory, bytes

    unsigned depth() const { return depth_; } ///< most requests in flight
    void setDepth(unsigned); ///< most requests in flight from now on; 0 counts as 1
    size_t inFlight() const { return inFlight_; } ///< requests that the back end has
    size_t queued() const { return urgent_.size() + background_.size(); } ///< requests that are not started
    /// whether every request is answered
    bool idle() const { return inFlight_ == 0 && queued() == 0 && finished_.empty(); }

    const DeviceStats &stats() const { return stats_; }
    /// time since opening in which the back end had at least one request, microseconds; in the rest, the device was idle
    uint64_t activeMicros() const { return activeMicros_ + (inFlight_ ? clock_.micros() - activeSince_ : 0); }
    const CostMeter &readCost() const { return readCost_; } ///< learned from all successful reads

    static constexpr size_t maxQueue = 16384; ///< queued requests of a class from which on its reads are refused

protected:
    /// a request on its way
    struct Request {
        Io io;
        uint64_t started = 0; ///< Clock::micros()
        Device *device = nullptr;
    };

    /// Hands a request to the hardware. The back end owns it until it gives it
    /// to finish(). \returns false when there is no room now (tried again by
    /// the next poll())
    virtual bool start(Request *) = 0;

    /// collects the requests that the hardware has finished, calling finish() for each
    virtual void reap() = 0;

    /// the back end's report; takes ownership back
    void finish(Request *, Status, int errnum);

    /// answers wait that no hardware event will announce; make wakeupFd() readable
    virtual void wake() {}

    bool hasAnswers() const { return !finished_.empty(); } ///< for the next poll()

    const Clock &clock_;

private:
    bool valid(const Io &) const;
    void refuse(Io &, Status, int errnum);
    std::deque<Request *> *nextQueue();
    void startQueued();

    struct Answer {
        std::function<void(Status)> done;
        Status status;
    };

    uint64_t size_;
    uint32_t alignment_;
    unsigned depth_;
    size_t inFlight_ = 0;
    size_t backgroundInFlight_ = 0;
    std::deque<Request *> urgent_;
    std::deque<Request *> background_;
    std::deque<Answer> finished_; ///< to be delivered by poll()
    bool polling_ = false; ///< inside poll(), so that nobody needs to be woken
    bool stalled_ = false; ///< start() had no room; wait for the next poll()
    bool urgentLast_ = false; ///< the newest start was an urgent request
    DeviceStats stats_;
    uint64_t activeMicros_ = 0; ///< of the times that are over, see activeMicros()
    uint64_t activeSince_ = 0; ///< Clock::micros(), while requests are in flight
    CostMeter readCost_;
};

} // namespace ClusterFs

#endif

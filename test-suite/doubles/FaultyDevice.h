// SPDX-License-Identifier: GPL-2.0-or-later
/* A device that fails as a test says, or at random by a seed. */

#ifndef SQUID_TEST_SUITE_DOUBLES_FAULTYDEVICE_H
#define SQUID_TEST_SUITE_DOUBLES_FAULTYDEVICE_H

#include "fs/cluster/device/Device.h"
#include "test-suite/doubles/VolatileMedia.h"
#include "tools/models/ManualClock.h"

#include <random>
#include <string>
#include <vector>

namespace ClusterFs {

/// the ways in which a request can fail; ignored where a kind of request can't fail so
enum class Fault : uint8_t {
    none,
    error, ///< nothing happens, the answer is ioError
    flip, ///< read: some bytes arrive changed
    rot, ///< read: some bytes have changed on the media
    torn, ///< write: only the first sectors land, the answer is ioError
    lost, ///< write, flush: nothing happens, the answer is ok
    misdirected, ///< write: lands somewhere else, the answer is ok
    duplicated, ///< write: lands, and somewhere else, too
    repeated, ///< write: lands, and once more later, over what came there meanwhile
    hang, ///< no answer until the power is cut
    cut ///< the power is cut while the request is performed
};
constexpr unsigned faultCount = 11;

/// Stands in front of another device. The same seed, calls and clock give the
/// same history. Requests are performed when they are answered, in poll().
///
/// To test a crash: cut(), or let the process "die" without a power cut; then
/// destroy this device, so that no answer reaches the dead, and put another one
/// in front of the same media.
class FaultyDevice final : public Device
{
public:
    /// \param inner the media, used by nobody else meanwhile; outlives this
    /// \param clock wait() moves it on
    /// \throws std::invalid_argument when the alignment is no multiple of 512
    FaultyDevice(Device &inner, ManualClock &clock, uint64_t seed);
    /// carries out the requests in flight, as a kernel does for a dead process
    ~FaultyDevice() override;

    /// moves the clock to the next answer, at most that far
    void wait(unsigned milliseconds) override;

    /// the nth request of a kind (from 1, see requests()) fails so
    /// \param onwards all later ones fail so, too
    void script(IoOp, uint64_t nth, Fault, bool onwards = false);
    /// the same, counting all kinds together; no fault if a request of its kind can't fail so
    void script(uint64_t nth, Fault, bool onwards = false);
    /// cuts the power when the nth request of any kind (from 1) starts
    void cutAt(const uint64_t nth) { cutAt_ = nth; }
    /// each request of a kind fails so with a probability (0 to 1)
    void setRate(IoOp, Fault, double probability);
    /// forgets scripts and rates
    void heal();

    /// how long requests take from now on, microseconds
    void setDelay(uint64_t least, uint64_t most);
    /// answers come in random order, and not all that are due at once
    void setShuffle(const bool shuffle) { shuffle_ = shuffle; }

    /// Cuts the power: a random part of the writes in flight and of those not
    /// flushed is lost, sector by sector. From then on, each request gets ioError.
    void cut();
    /// switches the power on again
    void revive() { powered_ = true; }
    bool powered() const { return powered_; }

    uint64_t requests(const IoOp op) const { return requests_[static_cast<unsigned>(op)]; } ///< requests of a kind started so far
    uint64_t requests() const; ///< requests of all kinds started so far
    uint64_t injected(const Fault fault) const { return injected_[static_cast<unsigned>(fault)]; } ///< requests chosen for a fault so far
    uint64_t wakes() const { return wakes_; } ///< calls of pollAgain() so far
    size_t unflushedSectors() const { return volatile_.unflushed(); } ///< sectors that a power cut may undo

private:
    struct Script {
        bool anyOp;
        IoOp op; ///< unless anyOp
        uint64_t nth;
        Fault fault;
        bool onwards;
    };

    /// a request in flight
    struct Pending {
        Request *request;
        Fault fault;
        uint64_t due; ///< Clock::micros()
        uint64_t covers; ///< writes that had been performed when it started
    };

    /// a write that lands again
    struct Echo {
        uint64_t offset;
        std::string bytes;
        uint64_t due; ///< value of requests() from which on it lands
    };

    bool start(Request *) override;
    void reap() override;
    void wake() override { ++wakes_; }

    Fault chooseFault(IoOp);
    size_t nextPending(uint64_t now) const;
    size_t randomPending(uint64_t now);
    void carryOut(const Pending &);
    Status perform(const Pending &);
    Status performRead(const Io &, Fault);
    Status performWrite(const Io &, Fault);
    void performEchoes();
    uint64_t elsewhere(const Io &);
    void damage(char *bytes, uint32_t size);

    uint64_t below(const uint64_t limit) { return random_() % limit; }
    bool chance(double probability);

    Device &media_;
    VolatileMedia volatile_;
    ManualClock &time_;
    std::mt19937_64 random_;

    std::vector<Pending> pending_; ///< in the order of starting
    std::vector<Echo> echoes_; ///< few, because each lands within some requests
    std::vector<Script> scripts_;
    double rates_[ioOpCount][faultCount] = {};
    uint64_t delayLeast_ = 0; ///< microseconds
    uint64_t delayMost_ = 0; ///< microseconds
    uint64_t cutAt_ = 0; ///< see cutAt(); 0 = never
    bool shuffle_ = false;
    bool powered_ = true;

    uint64_t requests_[ioOpCount] = {};
    uint64_t injected_[faultCount] = {};
    uint64_t wakes_ = 0;
};

} // namespace ClusterFs

#endif

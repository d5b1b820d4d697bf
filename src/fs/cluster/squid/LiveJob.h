// SPDX-License-Identifier: GPL-2.0-or-later
/* Work that the cache manager starts, and that goes on beside the requests. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_LIVEJOB_H
#define SQUID_SRC_FS_CLUSTER_SQUID_LIVEJOB_H

#include "fs/cluster/squid/EventWork.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ClusterFs {

/// A purge or a clear. One runs at a time in a process, in small pieces from Squid's events. The last one is kept, so
/// that people can ask what became of it. A shutdown of Squid ends it.
class LiveJob: public EventWork
{
public:
    /// the one that runs or ran last; nil before the first
    static LiveJob *Latest();

    /// why another one cannot start while one runs
    static constexpr const char *busy = "another purge or clear is running: wait for its end, or stop it";

    /// Starts a job, and forgets the one before.
    /// \returns why it cannot start; empty when it did
    static std::string Start(std::unique_ptr<LiveJob>);

    /// report() of the latest one
    static std::string Report();
    /// the same, after it was stopped
    static std::string Stop();

    bool over() const { return state_ != State::running; }

    /// ends it before its time; what it has removed stays removed
    void stop();

    /// lines "name: value"
    std::string report() const;

protected:
    LiveJob();

    /// does a bounded piece of the work
    /// \returns seconds after which to call it again
    virtual double work() = 0;

    /// the job is over, whatever the reason: lets go of what it has taken
    virtual void letGo() = 0;

    /// lines for report()
    virtual std::string describe() const = 0;

    /// all is done
    void finish() { end(State::done, ""); }
    void fail(const std::string &why) { end(State::failed, why); }

private:
    enum class State { running, done, stopped, failed };

    void go() override;
    void end(State, const std::string &why);

    State state_ = State::running;
    std::string why_; ///< it failed
    const int64_t begun_; ///< seconds since 1970
    int64_t ended_ = 0; ///< the same, once it is over
};

} // namespace ClusterFs

#endif

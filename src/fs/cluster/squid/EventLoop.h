// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls of the engine from Squid's main loop. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_EVENTLOOP_H
#define SQUID_SRC_FS_CLUSTER_SQUID_EVENTLOOP_H

#include <functional>

namespace ClusterFs {

/// Calls a function when a descriptor is readable, and ten times a second. The
/// function runs outside of any transaction's code context. An exception that it
/// throws is logged and goes no further.
class EventLoop
{
public:
    explicit EventLoop(std::function<void()> work): work_(std::move(work)) {}
    ~EventLoop() { stop(); }
    EventLoop(EventLoop &&) = delete; // no copying or moving of any kind

    /// begins
    /// \param fd watched until stop(), -1 = none; the caller closes it, and the
    /// function makes it unreadable
    void start(int fd);

    /// ends; does nothing when not started
    void stop();

    /// Calls the function now; does nothing when called by the function.
    void poll();

private:
    static void NoteReadable(int, void *self);
    static void NoteTime(void *self);
    void watch();
    void setTimer();

    std::function<void()> work_;
    int fd_ = -1;
    bool started_ = false;
    bool polling_ = false; ///< work_ is running
    unsigned failures_ = 0; ///< exceptions caught
};

} // namespace ClusterFs

#endif

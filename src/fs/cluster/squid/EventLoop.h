// SPDX-License-Identifier: GPL-2.0-or-later
/* Lets Squid's main loop drive an engine. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_EVENTLOOP_H
#define SQUID_SRC_FS_CLUSTER_SQUID_EVENTLOOP_H

#include <functional>

namespace ClusterFs {

/// Calls a function when a descriptor is readable and ten times a second.
/// The function runs outside of any transaction's code context; what it throws
/// is logged and goes no further.
class EventLoop
{
public:
    explicit EventLoop(std::function<void()> work): work_(std::move(work)) {}
    ~EventLoop() { stop(); }
    EventLoop(EventLoop &&) = delete; // no copying or moving of any kind

    /// \param fd is watched until stop(), -1 = there is none; the caller's to
    /// close, and to make unreadable
    void start(int fd);

    /// does nothing when not started
    void stop();

    /// Calls the function now. Does nothing inside of itself.
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

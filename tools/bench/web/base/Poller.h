// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits for sockets (epoll, level-triggered). */

#ifndef CLUSTERFS_BENCH_WEB_BASE_POLLER_H
#define CLUSTERFS_BENCH_WEB_BASE_POLLER_H

#include "tools/base/Clock.h"
#include "tools/bench/web/base/Socket.h"

#include <cstdint>
#include <string>

namespace WebBench {

using namespace Tools;

/// What is told when a socket is ready.
class PollHandler
{
public:
    virtual ~PollHandler() = default;
    /// \param events of epoll(7). May be stale: of a socket that this handler has closed or replaced since
    virtual void ready(uint32_t events) = 0;
};

/// An epoll instance, for one thread. A handler must outlive the call of wait()
/// in which its socket was closed: its event may be among those at hand.
class Poller
{
public:
    Poller() = default;
    Poller(const Poller &) = delete;
    Poller &operator=(const Poller &) = delete;

    /// \returns false with the reason in error
    bool open(std::string &error);

    /// watches a socket until it is closed \returns false when the system refuses
    bool add(int fd, uint32_t events, PollHandler &);
    void change(int fd, uint32_t events, PollHandler &);

    /// Waits until something is ready, a signal comes or that time has come, and calls the handlers.
    void wait(Nanos until);

private:
    Descriptor epoll_;
};

} // namespace WebBench

#endif

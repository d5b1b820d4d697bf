// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits for sockets (epoll, level-triggered). */

#include "tools/bench/web/base/Poller.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>

namespace WebBench {

bool
Poller::open(std::string &error)
{
    epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
    // the exact wait needs Linux 5.11
    const timespec none{0, 0};
    epoll_event event{};
    if (!epoll_ || epoll_pwait2(epoll_.get(), &event, 1, &none, nullptr) != 0) {
        error = std::string("cannot wait for sockets (epoll_pwait2, Linux 5.11 or later): ") + strerror(errno);
        return false;
    }
    return true;
}

bool
Poller::add(const int fd, const uint32_t events, PollHandler &handler)
{
    epoll_event event{};
    event.events = events;
    event.data.ptr = &handler;
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void
Poller::change(const int fd, const uint32_t events, PollHandler &handler)
{
    epoll_event event{};
    event.events = events;
    event.data.ptr = &handler;
    epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void
Poller::wait(const Nanos until)
{
    constexpr int batch = 128;
    epoll_event events[batch];
    const Nanos span = std::max<Nanos>(until - now(), 0);
    const timespec timeout{span / oneSecond, span % oneSecond};
    const int count = epoll_pwait2(epoll_.get(), events, batch, &timeout, nullptr);
    for (int i = 0; i < count; ++i)
        static_cast<PollHandler *>(events[i].data.ptr)->ready(events[i].events);
}

} // namespace WebBench

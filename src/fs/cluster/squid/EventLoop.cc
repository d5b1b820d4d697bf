// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "base/CodeContext.h"
#include "base/TextException.h"
#include "comm/Loops.h"
#include "debug/Stream.h"
#include "enums.h"
#include "event.h"
#include "fd.h"
#include "fs/cluster/base/Messages.h"
#include "fs/cluster/squid/EventLoop.h"
#include "sbuf/SBuf.h"
#include "sbuf/Stream.h"

namespace {
const double TimerSeconds = 0.1; ///< between calls without events
}

void
ClusterFs::EventLoop::start(const int fd)
{
    assert(!started_);
    started_ = true;
    fd_ = fd;
    if (fd_ >= 0) {
        fd_open(fd_, FD_PIPE, "clusterfs completions");
        watch();
    }
    setTimer();
}

void
ClusterFs::EventLoop::stop()
{
    if (!started_)
        return;
    started_ = false;
    if (eventFind(&NoteTime, this)) // if not, Squid runs it right now
        eventDelete(&NoteTime, this);
    if (fd_ >= 0)
        fd_close(fd_); // forgets the watch, too
    fd_ = -1;
}

void
ClusterFs::EventLoop::poll()
{
    if (polling_)
        return;
    polling_ = true;
    CallService(nullptr, [this] {
        try {
            work_();
        } catch (...) {
            ++failures_;
            const auto popular = !(failures_ & (failures_ - 1)); // 1, 2, 4, 8, ...
            debugs(47, popular ? DBG_IMPORTANT : 3, messageLine<Message::pollFailed>(failures_, ToSBuf(CurrentException).c_str()));
        }
    });
    polling_ = false;
}

/// watches the descriptor; Squid ends that with each call of the handler
void
ClusterFs::EventLoop::watch()
{
    CallService(nullptr, [this] {
        Comm::SetSelect(fd_, COMM_SELECT_READ, &NoteReadable, this, 0);
    });
}

void
ClusterFs::EventLoop::setTimer()
{
    CallService(nullptr, [this] {
        eventAdd("ClusterFs::EventLoop::NoteTime", &NoteTime, this, TimerSeconds, 0, false);
    });
}

void
ClusterFs::EventLoop::NoteReadable(int, void *self)
{
    const auto driver = static_cast<EventLoop*>(self);
    if (!driver->started_)
        return;
    driver->poll();
    if (driver->fd_ >= 0)
        driver->watch();
}

void
ClusterFs::EventLoop::NoteTime(void *self)
{
    const auto driver = static_cast<EventLoop*>(self);
    if (!driver->started_)
        return;
    driver->poll();
    if (driver->started_)
        driver->setTimer();
}

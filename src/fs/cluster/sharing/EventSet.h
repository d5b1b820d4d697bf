// SPDX-License-Identifier: GPL-2.0-or-later
/* The descriptors that a process waits for. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_EVENTSET_H
#define SQUID_SRC_FS_CLUSTER_SHARING_EVENTSET_H

#include "fs/cluster/sharing/Bell.h"
#include "fs/cluster/base/Descriptor.h"

#include <sys/epoll.h>

namespace ClusterFs {

/// A set of descriptors that is itself one (epoll), so that the caller's event loop needs to know no other. It has a bell of
/// its own, for work that no other process tells of.
class EventSet
{
public:
    EventSet(): epoll_(epoll_create1(EPOLL_CLOEXEC)), again_(Bell::Make()), works_(watch(again_.fd())) {}

    /// readable when some descriptor of the set is; -1 when the process has all the descriptors that it may have
    int fd() const { return epoll_.get(); }
    bool works() const { return works_; } ///< whether the process could have the descriptors that it takes

    /// \returns false when the system refuses it
    bool watch(const int fd) {
        epoll_event event = {};
        event.events = EPOLLIN;
        event.data.fd = fd;
        return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
    }
    /// Takes a descriptor out before it is closed. Closing alone would do, if no other process had the same file: a helper
    /// that is just being forked has.
    void unwatch(const int fd) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

    /// makes fd() readable, until the next take()
    void ringAgain() { again_.ring(); }

    /// Calls a function with each descriptor that is readable now, but its own bell, which it hushes. Waits for nothing.
    template <class Function>
    void take(const Function &function) {
        constexpr int most = 64; // the next call has the others
        epoll_event events[most];
        const auto count = epoll_wait(epoll_.get(), events, most, 0);
        for (int i = 0; i < count; ++i) {
            if (events[i].data.fd == again_.fd())
                again_.hush();
            else
                function(events[i].data.fd);
        }
    }

private:
    Descriptor epoll_;
    Bell again_;
    const bool works_;
};

} // namespace ClusterFs

#endif

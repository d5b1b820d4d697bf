// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that is the disk. */

#include "tools/diskmodel/serve/Server.h"

#include "tools/base/Numbers.h"
#include "tools/diskmodel/serve/Signals.h"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace DiskModel {

using namespace Tools;

static constexpr int realtimePriority = 10;
static constexpr unsigned maxAtOnce = 64; ///< requests that are taken before time is looked at
static constexpr Nanos stopCheck = 20000000; ///< how often to see whether the disk is closed, at the end

Server::Server(const ServeOptions &options, Store &store, WriteLog *const log, const std::string &folder,
               const int owner):
    options_(options),
    store_(store),
    log_(log),
    folder_(folder),
    owner_(owner)
{
}

void
Server::say(const std::string &text) const
{
    const auto line = text + "\n";
    if (write(owner_, line.data(), line.size()) < 0)
        fprintf(stderr, "diskmodel: %s", line.c_str());
}

/// makes this process one that wakes up on time and that never waits for itself
static void
prepareProcess()
{
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    // memory it needs must not be had by writing to its own device
    prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
    struct sched_param priority;
    memset(&priority, 0, sizeof(priority));
    priority.sched_priority = realtimePriority;
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) != 0 &&
            setpriority(PRIO_PROCESS, 0, -20) != 0)
        fprintf(stderr, "diskmodel: cannot get a higher priority: answers may be late\n");
}

bool
Server::start()
{
    try {
        signals_ = stopSignals();
        files_ = std::make_unique<FuseFiles>(options_.name, folder_);
        disk_ = std::make_unique<Disk>(store_, log_, *files_, options_.parameters);
        control_ = std::make_unique<Control>(*disk_);
        files_->serve(*disk_, *control_);
    } catch (const BadRequest &error) {
        files_.reset();
        say(error.what());
        return false;
    }
    prepareProcess();
    say("ok");
    return true;
}

void
Server::beginStop()
{
    if (stopBy_ == never)
        stopBy_ = now() + Nanos(options_.patience) * 1000000000;
}

/// \returns whether there are requests
bool
Server::waitForEvent()
{
    const auto event = disk_->nextEvent();
    const auto wake = stopBy_ == never ? event : std::min(event, now() + stopCheck);
    struct timespec time;
    struct timespec *timeout = nullptr;
    if (wake != never) {
        auto left = std::max<Nanos>(wake - now(), 0);
        if (left < disk_->spin())
            left = 0;
        time.tv_sec = left / 1000000000;
        time.tv_nsec = left % 1000000000;
        timeout = &time;
    }
    // once stopping, the owner's end and the signals have nothing more to say
    const int ignore = stopBy_ != never;
    struct pollfd fds[] = {
        {files_->fd(), POLLIN, 0}, {ignore ? -1 : owner_, POLLIN, 0}, {ignore ? -1 : signals_, POLLIN, 0}
    };
    if (ppoll(fds, std::size(fds), timeout, nullptr) <= 0)
        return false;
    if (fds[1].revents || fds[2].revents)
        beginStop();
    return fds[0].revents != 0;
}

void
Server::loop()
{
    while (!files_->ended()) {
        disk_->advance();
        if (stopBy_ != never && (!files_->openDisks() || now() > stopBy_))
            break;
        if (!waitForEvent())
            continue;
        for (unsigned i = 0; i < maxAtOnce && files_->receive(); ++i)
            disk_->advance();
    }
}

int
Server::run()
{
    if (!start())
        return 1;
    loop();
    const bool inUse = files_->openDisks() > 0;
    if (inUse)
        fprintf(stderr, "diskmodel: %s is still open %u s after the end; it fails from now on\n",
                folder_.c_str(), options_.patience);
    files_.reset(); // ends what is still open
    rmdir(folder_.c_str());
    return inUse ? 1 : 0;
}

} // namespace DiskModel

// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals that ask a process to end. */

#include "tools/diskmodel/serve/Signals.h"

#include <sys/signalfd.h>

#include <csignal>
#include <initializer_list>

int
DiskModel::stopSignals()
{
    sigset_t set;
    sigemptyset(&set);
    for (const int s: {SIGTERM, SIGINT, SIGHUP})
        sigaddset(&set, s);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

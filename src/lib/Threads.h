// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads of the library, in a program that is not ours. */

#ifndef CLUSTERFS_SRC_LIB_THREADS_H
#define CLUSTERFS_SRC_LIB_THREADS_H

#include <csignal>
#include <thread>
#include <utility>

namespace ClusterFs::Library {

/// Starts a thread that blocks all signals: they are the business of the program's own threads.
/// \throws std::system_error when there is no thread to be had
template <class Work>
std::thread
startThread(Work work)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread thread(std::move(work));
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return thread;
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
}

} // namespace ClusterFs::Library

#endif

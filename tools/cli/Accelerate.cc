// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs accelerate. */

#include "AcceleratedFolder.h"
#include "Commands.h"
#include "Image.h"

#include "clusterfs/clusterfs.hpp"

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

namespace ClusterFs::Cli {
namespace {

struct AcceleratorEnd {
    void operator ()(clusterfs_accelerator *const a) const { clusterfs_accelerator_free(a); }
};
using AcceleratorPointer = std::unique_ptr<clusterfs_accelerator, AcceleratorEnd>;

clusterfs::Options
optionsOf(const std::vector<std::string> &words)
{
    clusterfs::Options options;
    options.set("list", "off"); // nobody walks through this store
    for (const auto &word: words) {
        const auto equals = word.find('=');
        if (equals == std::string::npos)
            throw BadRequest("--option: '" + word + "' has no =; give NAME=VALUE, such as read-cache=256");
        options.set(word.substr(0, equals), word.substr(equals + 1));
    }
    return options;
}

/// what an administrator is to see of the work so far
void
tell(const clusterfs_accelerator *const accelerator, const clusterfs::Store &store)
{
    clusterfs_accelerator_counts c;
    if (clusterfs_accelerator_count(accelerator, &c, sizeof(c)) != 0)
        return;
    const auto missed = c.opened - c.stored;
    printf("opened %" PRIu64 " files: %" PRIu64 " from the store, %" PRIu64 " from the folder (%" PRIu64 " had changed, %" PRIu64
           " were changed a short while ago, %" PRIu64 " are too large)\n", c.opened, c.stored, missed, c.changed, c.young, c.large);
    printf("read %" PRIu64 " bytes from the store, %" PRIu64 " from the folder; copied %" PRIu64 " files, failed to copy %" PRIu64
           "; the store has lost %" PRIu64 "\n", c.bytes_stored, c.bytes_folder, c.copied, c.failed, c.lost);
    for (size_t device = 0; device < store.devices(); ++device)
        fputs(store.messages(device).c_str(), stdout);
    fflush(stdout);
}

/// tells of the work so far each time that SIGUSR1 comes, which all threads have blocked
class Teller
{
public:
    Teller(const clusterfs_accelerator *const accelerator, const clusterfs::Store &store):
        thread_([this, accelerator, &store] {
            int sign = 0;
            while (sigwait(&Signals(), &sign) == 0 && !stopping_)
                tell(accelerator, store);
        }) {}
    ~Teller() {
        stopping_ = true;
        pthread_kill(thread_.native_handle(), SIGUSR1);
        thread_.join();
    }

    static const sigset_t &Signals() {
        static const sigset_t set = [] {
            sigset_t one;
            sigemptyset(&one);
            sigaddset(&one, SIGUSR1);
            return one;
        }();
        return set;
    }

private:
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

int
runAccelerate(const Words &words)
{
    std::vector<std::string> stores, options;
    std::string mount;
    clusterfs_accelerator_settings settings = CLUSTERFS_ACCELERATOR;
    settings.flags = CLUSTERFS_ACCELERATOR_NO_LINKS; // the kernel follows them, and asks for what they name
    Line line("accelerate");
    line.list("store", stores, "PATH", "a disk, partition or file that clusterfs format has made; several times: they\nshare the files");
    line.text("mount", mount, "FOLDER", "where the files are to be seen; may be the folder itself");
    line.bytes("largest", settings.largest, 0, uint64_t(1) << 40, "files above this size are not copied");
    line.whole("settled", settings.settled, 0, 1000000000, "seconds after its last change from which on a file is copied");
    line.whole("trusted", settings.trusted, 0, 1000000000, "seconds for which a name and its attributes are believed without\nanother look at the folder");
    line.whole("paths", settings.paths, 0, 100000000, "names that are remembered for that, 300 bytes each");
    line.list("option", options, "NAME=VALUE", "an option of cache_dir, such as read-cache=256");
    if (!line.read(words))
        return exitFine;
    if (stores.empty() || mount.empty())
        throw BadRequest(std::string("there is no ") + (stores.empty() ? "--store=PATH" : "--mount=FOLDER"));

    pthread_sigmask(SIG_BLOCK, &Teller::Signals(), nullptr); // before there is a thread
    try {
        clusterfs::Store store(stores, optionsOf(options));
        clusterfs_accelerator *made = nullptr;
        const int result = clusterfs_accelerator_new(store.get(), line.path().c_str(), &settings, &made);
        if (result != 0) {
            complain(line.path() + ": " + (result == -CLUSTERFS_FILE ? strerror(errno) : clusterfs_strerror(result)));
            return exitCannot;
        }
        const AcceleratorPointer accelerator(made);
        AcceleratedFolder folder(accelerator.get(), line.path());
        std::string error;
        if (!folder.mount(mount, error)) {
            complain(error);
            return exitCannot;
        }
        printf("%s is at %s, read-only; SIGTERM or umount ends it, SIGUSR1 tells of its work\n", line.path().c_str(), mount.c_str());
        fflush(stdout);
        bool served = false;
        {
            const Teller teller(accelerator.get(), store);
            served = folder.serve();
        }
        tell(accelerator.get(), store);
        if (!served)
            complain(mount + ": the kernel has ended the connection");
        return served ? exitFine : exitProblems;
    } catch (const clusterfs::Error &e) {
        complain(e.what());
        return exitCannot;
    }
}

} // namespace

extern const Command accelerateCommand = {
    "accelerate", &runAccelerate,
    "FOLDER --store=PATH [--store=PATH]... --mount=FOLDER [--largest=SIZE] [--settled=SECONDS] [--trusted=SECONDS] [--paths=N] [--option=NAME=VALUE]...",
    "Shows the files of a folder at another place, read-only, and keeps copies of those that were read\n"
    "on a disk of its own, side by side. Files that change are copied anew. Goes on until it is ended."
};

} // namespace ClusterFs::Cli

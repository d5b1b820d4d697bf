// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that makes the disk and takes it away again. */

#include "tools/diskmodel/serve/Supervisor.h"

#include "tools/base/Json.h"
#include "tools/base/Numbers.h"
#include "tools/diskmodel/serve/Server.h"
#include "tools/diskmodel/serve/Signals.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace DiskModel {

using namespace Tools;

static constexpr unsigned startSeconds = 20; ///< that the server may take to mount
static constexpr unsigned goneSeconds = 5; ///< that the kernel may take to detach the loop device
static constexpr unsigned pause = 10000; ///< microseconds between two looks

void
Supervisor::checkMachine() const
{
    if (geteuid() != 0)
        throw BadRequest("needs root: it mounts a FUSE file system and attaches a loop device");
    for (const char *const path: {"/dev/fuse", "/dev/loop-control"}) {
        if (path == std::string("/dev/loop-control") && !options_.loop)
            continue;
        const int fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            throw BadRequest(std::string("cannot open ") + path + ": " + strerror(errno) +
                             " (the kernel needs FUSE and loop devices: modprobe fuse loop)");
        close(fd);
    }
}

void
Supervisor::makeFolder()
{
    const char *const base = getenv("TMPDIR");
    folder_ = std::string(base && *base ? base : "/tmp") + "/diskmodel-" + options_.name + "-XXXXXX";
    if (!mkdtemp(&folder_[0])) {
        const auto folder = folder_;
        folder_.clear();
        throw BadRequest("cannot make the folder " + folder + ": " + strerror(errno));
    }
}

void
Supervisor::startServer()
{
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        throw BadRequest(std::string("cannot make a socket: ") + strerror(errno));
    pid_ = fork();
    if (pid_ == 0) {
        close(sockets[0]);
        close(signals_);
        // signals and the end of standard input are the supervisor's business
        setsid();
        const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        _exit(Server(options_, *store_, log_.get(), folder_, sockets[1]).run());
    }
    close(sockets[1]);
    server_ = sockets[0];
    if (pid_ < 0)
        throw BadRequest(std::string("cannot start a process: ") + strerror(errno));
}

/// waits until the server has mounted the folder \throws BadRequest
void
Supervisor::awaitServer() const
{
    std::string line;
    char c = 0;
    struct pollfd fd = {server_, POLLIN, 0};
    while (poll(&fd, 1, startSeconds * 1000) > 0 && read(server_, &c, 1) == 1 && c != '\n')
        line += c;
    if (c != '\n')
        throw BadRequest("the server did not start");
    if (line != "ok")
        throw BadRequest(line);
}

void
Supervisor::attachLoop()
{
    loop_ = std::make_unique<LoopDevice>(folder_ + "/disk", options_.sector);
    const bool spinning = options_.parameters.kind == Kind::hdd;
    auto scheduler = options_.scheduler;
    if (scheduler.empty())
        scheduler = spinning && loop_->hasScheduler("mq-deadline") ? "mq-deadline" : "none";
    loop_->setQueue("scheduler", scheduler);
    loop_->setQueue("rotational", spinning ? "1" : "0");
    // larger requests would be split on their way through FUSE and count twice
    loop_->setQueue("max_sectors_kb", std::to_string(Store::maxRead >> 10));
}

void
Supervisor::announce() const
{
    Json text;
    if (loop_)
        text["device"] = loop_->path();
    text["folder"] = folder_;
    text["file"] = folder_ + "/disk";
    text["server"] = pid_;
    printf("%s\n", jsonText(text).c_str());
    fflush(stdout);
}

void
Supervisor::waitForEnd()
{
    bool input = options_.untilEof;
    while (true) {
        struct pollfd fds[] = {
            {signals_, POLLIN, 0}, {server_, POLLIN, 0}, {input ? STDIN_FILENO : -1, POLLIN, 0}
        };
        if (poll(fds, std::size(fds), -1) < 0)
            continue;
        if (fds[0].revents || fds[1].revents)
            return;
        char ignored[256];
        if (fds[2].revents && read(STDIN_FILENO, ignored, sizeof(ignored)) <= 0)
            return;
    }
}

/// asks the server to end and waits for that \returns whether it ended well
bool
Supervisor::endServer()
{
    close(server_);
    const Nanos limit = now() + Nanos(options_.patience + goneSeconds) * 1000000000;
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(pid_, &status, WNOHANG)) == 0 && now() < limit)
        usleep(pause);
    if (!ended) {
        fprintf(stderr, "diskmodel: the server does not end: it is killed\n");
        kill(pid_, SIGKILL);
        waitpid(pid_, &status, 0);
    }
    if (WIFSIGNALED(status))
        fprintf(stderr, "diskmodel: the server died of signal %d\n", WTERMSIG(status));
    // in case that it could not
    umount2(folder_.c_str(), MNT_DETACH);
    rmdir(folder_.c_str());
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// \returns whether nothing was in the way
bool
Supervisor::cleanUp()
{
    bool clean = true;
    if (loop_) {
        for (const auto &folder: loop_->unmountAll()) {
            fprintf(stderr, "diskmodel: %s was still mounted from %s; unmounted\n", folder.c_str(),
                    loop_->path().c_str());
            clean = false;
        }
        loop_->release();
    }
    if (pid_ > 0 && !endServer())
        clean = false;
    else if (pid_ <= 0 && !folder_.empty())
        rmdir(folder_.c_str());
    const Nanos limit = now() + Nanos(goneSeconds) * 1000000000;
    while (loop_ && !loop_->gone() && now() < limit)
        usleep(pause);
    if (loop_ && !loop_->gone()) {
        fprintf(stderr, "diskmodel: %s is still in use; the kernel detaches it when that ends\n",
                loop_->path().c_str());
        clean = false;
    }
    return clean;
}

int
Supervisor::run()
{
    checkMachine();
    store_ = options_.store.empty() ?
             Store::Nameless(options_.storeFolder, options_.size, options_.overcommit) :
             Store::Named(options_.store, options_.size, options_.overcommit);
    if (!options_.record.empty())
        log_ = std::make_unique<WriteLog>(options_.record, options_.recordLimit, options_.size, store_->blank());
    signals_ = stopSignals();
    try {
        makeFolder();
        startServer();
        awaitServer();
        if (options_.loop)
            attachLoop();
    } catch (const BadRequest &) {
        cleanUp();
        throw;
    }
    announce();
    waitForEnd();
    return cleanUp() ? 0 : 1;
}

} // namespace DiskModel

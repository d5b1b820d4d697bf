// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects of one process's engine, for another process. */

#include "tools/bench/workers/Exchange.h"

#include "fs/cluster/sharing/Owner.h"
#include "fs/cluster/sharing/RemoteStore.h"
#include "tools/base/Clock.h"
#include "tools/base/LatencyHistogram.h"
#include "tools/bench/engine/DirectEngine.h"

#include <sys/mman.h>
#include <sys/poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

using namespace ClusterFs;

namespace {

double
processorMicros()
{
    rusage use;
    getrusage(RUSAGE_SELF, &use);
    const auto micros = [](const timeval &t) { return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec); };
    return micros(use.ru_utime) + micros(use.ru_stime);
}

/// what the worker's process tells the owner's
struct Blackboard {
    enum Step : int { starting, working, done, failed };
    std::atomic<int> step;
    std::atomic<double> micros; ///< of processor time
    std::atomic<double> latency; ///< median, microseconds
    std::atomic<uint64_t> wakeUps;
};

/// a load in the process of a worker
class Worker
{
public:
    Worker(const std::string &path, const Bench::Load &load, const uint64_t bytes, Key (*const key)(uint64_t)):
        load_(load), keyOf_(key), bytes_(bytes, '\0'), store_(path, clock_), tasks_(load.depth) {}

    /// \returns false when something is not as it should be
    bool run(const uint64_t round, Blackboard &board) {
        while (!store_.connected() || store_.state() != EngineState::serving)
            turn();
        const auto begin = processorMicros();
        const auto before = store_.link().wakeUps();
        board.step = Blackboard::working;
        next_ = round * load_.times;
        end_ = next_ + load_.times;
        for (auto &task: tasks_)
            start(task);
        while ((running_ || !ended_.empty()) && !failed_)
            turn();
        board.micros = processorMicros() - begin;
        board.wakeUps = store_.link().wakeUps() - before;
        board.latency = static_cast<double>(nanos_.percentile(0.5)) / 1000;
        return !failed_;
    }

private:
    /// one object on its way
    struct Task {
        std::unique_ptr<Reader> reader;
        std::unique_ptr<Writer> writer;
        uint64_t at = 0;
        Tools::Nanos begun = 0;
    };

    void turn() {
        if (ended_.empty()) {
            struct pollfd event = {store_.fd(), POLLIN, 0};
            poll(&event, 1, 100);
        }
        store_.poll();
        for (auto *const task: std::exchange(ended_, {})) {
            task->reader = nullptr;
            task->writer = nullptr;
            start(*task);
        }
    }

    void start(Task &task) {
        if (next_ >= end_)
            return;
        ++running_;
        const auto key = keyOf_(load_.object(next_++));
        task.begun = Tools::now();
        task.at = 0;
        if (!load_.stores) {
            task.reader = store_.read(key);
            if (task.reader)
                copy(task);
            else
                end(task, false);
            return;
        }
        task.writer = store_.create(key, ObjectInfo(), static_cast<int64_t>(bytes_.size()));
        if (!task.writer)
            return end(task, false);
        task.writer->append(bytes_.data(), bytes_.size());
        const auto done = [this, &task](const Status s) { end(task, s == Status::ok); };
        const auto status = task.writer->finish(done);
        if (status != Status::pending)
            done(status);
    }

    void copy(Task &task) {
        while (task.at < bytes_.size()) {
            const auto copied = task.reader->copy(task.at, &bytes_[task.at], bytes_.size() - task.at);
            if (copied < 0)
                return fetch(task);
            task.at += static_cast<uint64_t>(copied);
        }
        end(task, true);
    }

    void fetch(Task &task) {
        task.reader->fetch(task.at, [this, &task](const Status status) {
            if (status == Status::ok || status == Status::busy)
                copy(task);
            else
                end(task, false);
        });
    }

    void end(Task &task, const bool well) {
        nanos_.add(Tools::now() - task.begun);
        failed_ = failed_ || !well;
        --running_;
        ended_.push_back(&task); // turn() destroys the reader or writer, which may be the caller
    }

    const SystemClock clock_;
    const Bench::Load &load_;
    Key (*const keyOf_)(uint64_t);
    std::string bytes_;
    RemoteStore store_;
    std::vector<Task> tasks_;
    std::vector<Task *> ended_; ///< whose object was read or stored
    uint64_t next_ = 0;
    uint64_t end_ = 0;
    unsigned running_ = 0;
    bool failed_ = false;
    Tools::LatencyHistogram nanos_;
};

/// the owner's loop: sleeps until a worker or the disk has something for it
void
serve(Bench::DirectEngine &direct, Owner &owner)
{
    struct pollfd events[] = {{owner.fd(), POLLIN, 0}, {direct.device().wakeupFd(), POLLIN, 0}};
    poll(events, 2, 10);
    direct.engine().poll();
    owner.poll();
}

} // namespace

Bench::ExchangeCosts
Bench::exchange(const std::string &path, const Load &load, const uint64_t bytes, const uint64_t rounds, Key (*const keyOf)(uint64_t))
{
    char folder[] = "/tmp/bench-workers-XXXXXX";
    if (!mkdtemp(folder))
        throw std::runtime_error("no folder in /tmp");
    const auto socket = std::string(folder) + "/owner";
    const auto shared = mmap(nullptr, sizeof(Blackboard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        throw std::runtime_error("no shared memory");
    ExchangeCosts costs;
    bool well = true;
    {
        DirectEngine direct(path);
        const SystemClock clock;
        std::string error;
        const auto owner = Owner::Open(direct.engine(), clock, socket, error);
        if (!owner)
            throw std::runtime_error(error);
        for (uint64_t round = 0; round < rounds && well; ++round) {
            auto &board = *new (shared) Blackboard();
            const auto child = fork();
            if (child < 0)
                throw std::runtime_error("no process for a worker");
            if (child == 0) {
                alarm(600);
                const auto right = Worker(socket, load, bytes, keyOf).run(round, board);
                board.step = right ? Blackboard::done : Blackboard::failed;
                _exit(0);
            }
            while (board.step == Blackboard::starting)
                serve(direct, *owner);
            const auto begin = processorMicros();
            const auto before = owner->wakeUps();
            while (board.step == Blackboard::working)
                serve(direct, *owner);
            const auto times = static_cast<double>(load.times);
            costs.ownerMicros.push_back((processorMicros() - begin) / times);
            costs.workerMicros.push_back(board.micros / times);
            costs.latency.push_back(board.latency);
            costs.wakeUps.push_back(static_cast<double>(owner->wakeUps() - before + board.wakeUps) / times);
            well = board.step == Blackboard::done;
            (void)waitpid(child, nullptr, 0);
            direct.finish();
        }
    }
    (void)rmdir(folder);
    munmap(shared, sizeof(Blackboard));
    if (!well)
        throw std::runtime_error(std::string(load.name) + ": an object was not there, or not stored");
    return costs;
}

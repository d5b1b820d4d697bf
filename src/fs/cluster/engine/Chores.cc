// SPDX-License-Identifier: GPL-2.0-or-later
/* Housekeeping that callers have asked for. */

#include "fs/cluster/engine/Chores.h"

#include <algorithm>
#include <iterator>
#include <utility>

ClusterFs::Chores::Chores(StoreContext &context, const Parts &parts):
    context_(context),
    parts_(parts)
{
}

void
ClusterFs::Chores::begin(const Chore chore, const uint64_t bytes, std::function<void(Status)> done)
{
    context_.device.pollAgain();
    if (tasks_.size() >= most) {
        context_.later.emplace_back([done] { done(Status::busy); });
        return;
    }
    Task task{};
    task.chore = chore;
    task.bytes = chore == Chore::sync ? 0 : bytes;
    task.done = std::move(done);
    switch (chore) {
    case Chore::sync:
        task.ticket = parts_.journal.issued();
        parts_.journal.hurry();
        [[fallthrough]];
    case Chore::pack:
    case Chore::packFromHead:
        task.step = Step::pack;
        gather(task);
        break;
    case Chore::freeMemory:
        task.step = Step::freeMemory;
        break;
    case Chore::freeDisk:
        task.step = Step::freeDisk;
        task.limit = context_.counters.evictedClusters + context_.geometry.clusterCount;
        break;
    case Chore::checkpoint:
        task.step = Step::checkpoint;
        task.run = parts_.checkpointer.runs() + 1;
        parts_.checkpointer.request();
        break;
    }
    tasks_.push_back(std::move(task));
    demand();
}

/// notes the objects that are finished and not all on the device
void
ClusterFs::Chores::gather(Task &task) const
{
    const auto &staging = context_.catalog.staging();
    const auto add = [&](const StageNo s) {
        task.objects.push_back({s, staging[s].id, Staging::MemoryOf(staging[s].size)});
        task.staged += task.objects.back().memory;
    };
    // in the order of packing; new objects are packed before those that were moved
    for (const bool moved: {false, true}) {
        for (auto s = staging.leastRecent(moved); s != noStage; s = staging.moreRecent(s))
            add(s);
    }
    if (task.chore != Chore::packFromHead)
        std::reverse(task.objects.begin(), task.objects.end());
    for (StageNo s{0}; s < staging.slotsTouched(); ++s) {
        if (staging[s].state != StageState::complete && isStaged({s, staging[s].id, 0}))
            add(s);
    }
}

/// whether it is finished, and its bytes are not all on the device
bool
ClusterFs::Chores::isStaged(const Awaited &object) const
{
    const auto &o = context_.catalog.staging()[object.stage];
    if (o.id != object.id)
        return false;
    // an object whose parts are still being written is finished, and not complete
    return o.state == StageState::complete || o.state == StageState::packing || (o.state == StageState::writing && o.record != noSlot);
}

void
ClusterFs::Chores::poll()
{
    if (stopped_ || tasks_.empty())
        return;
    const auto level = context_.health.level;
    for (auto i = tasks_.begin(); i != tasks_.end() && !stopped_;) {
        const auto task = i++;
        const bool ownAnswer = task->step == Step::flush; // the device has it
        if (level == Health::Level::good || task->step == Step::freeMemory)
            advance(task);
        else if (!ownAnswer)
            answer(task, level == Health::Level::gone ? Status::offline : Status::ioError);
    }
    if (!stopped_)
        demand();
}

/// tells the parts what is wanted of them
void
ClusterFs::Chores::demand() const
{
    auto packing = Packer::All::no;
    uint64_t downTo = ~uint64_t(0), room = 0;
    for (const auto &task: tasks_) {
        if (task.step == Step::pack && packing == Packer::All::no)
            packing = task.chore == Chore::packFromHead ? Packer::All::fromHead : Packer::All::fromTail;
        if (task.step == Step::pack)
            downTo = std::min(downTo, task.bytes);
        if (task.step == Step::freeDisk)
            room = std::max(room, task.bytes);
    }
    parts_.packer.packAll(packing, downTo);
    parts_.evictor.want(room);
}

void
ClusterFs::Chores::advance(const Tasks::iterator task)
{
    switch (task->step) {
    case Step::pack:
        if (!isPacked(*task))
            return;
        if (task->chore != Chore::sync)
            return answer(task, Status::ok);
        task->step = Step::record;
        [[fallthrough]];
    case Step::record:
        // the journal idles without having written all when it had to drop records
        if (parts_.journal.written() >= task->ticket || parts_.journal.idle())
            flush(task);
        return;
    case Step::flush:
        return;
    case Step::freeMemory:
        return freeMemory(task);
    case Step::freeDisk:
        return freeDisk(task);
    case Step::checkpoint:
        return checkpoint(task);
    }
}

/// whether no more of the objects are staged than may be
bool
ClusterFs::Chores::isPacked(Task &task) const
{
    auto &objects = task.objects;
    while (!objects.empty() && task.staged > task.bytes && !isStaged(objects.back())) {
        task.staged -= objects.back().memory;
        objects.pop_back();
    }
    // where objects from the middle of the list went, it counts too much
    const bool enough = task.bytes && context_.catalog.staging().completeBytes() <= task.bytes && parts_.packer.nothingInFlight();
    return task.staged <= task.bytes || enough;
}

void
ClusterFs::Chores::flush(const Tasks::iterator task)
{
    task->step = Step::flush;
    Io io;
    io.op = IoOp::flush;
    io.ioClass = IoClass::urgent; // somebody waits
    const auto alive = context_.alive;
    io.done = [this, alive, task](const Status status) {
        if (!*alive)
            return;
        context_.health.writeDone(status, context_.log);
        answer(task, status);
    };
    context_.device.submit(std::move(io));
}

void
ClusterFs::Chores::freeMemory(const Tasks::iterator task)
{
    auto &windows = parts_.windows;
    const auto before = windows.bytes();
    const auto room = windows.limit() - std::min(task->bytes, windows.limit());
    if (windows.makeRoom(room))
        return answer(task, Status::ok);
    if (windows.bytes() == before)
        return answer(task, Status::busy); // what is left is in use
    context_.device.pollAgain();
}

void
ClusterFs::Chores::freeDisk(const Tasks::iterator task)
{
    const uint64_t clusterBytes = context_.geometry.clusterBytes;
    if (parts_.allocator.available() * clusterBytes >= task->bytes)
        return answer(task, Status::ok);
    const bool isTooMuch = task->bytes > (context_.geometry.clusterCount - context_.logClusters) * clusterBytes;
    if (isTooMuch || context_.counters.evictedClusters >= task->limit || parts_.evictor.stuck())
        answer(task, Status::full);
}

void
ClusterFs::Chores::checkpoint(const Tasks::iterator task)
{
    const auto &checkpointer = parts_.checkpointer;
    if (checkpointer.runs() >= task->run && !checkpointer.running())
        answer(task, checkpointer.lastFailed() ? Status::ioError : Status::ok);
}

void
ClusterFs::Chores::answer(const Tasks::iterator task, const Status status)
{
    const auto done = std::move(task->done);
    tasks_.erase(task);
    if (!stopped_)
        demand();
    done(status); // last: it may close the engine
}

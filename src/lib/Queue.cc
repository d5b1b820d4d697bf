// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers of calls that do not wait. */

#include "lib/Queue.h"

#include "lib/Handles.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

namespace ClusterFs::Library {

std::shared_ptr<Queue>
Queue::Make(std::shared_ptr<Store> store, const size_t limit)
{
    std::shared_ptr<Queue> queue(new Queue(std::move(store), limit));
    queue->event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return queue->event_ < 0 ? nullptr : queue;
}

Queue::~Queue()
{
    for (auto &answer: answers_)
        clusterfs_release(answer.object);
    if (event_ >= 0)
        close(event_);
}

/// counts a request
/// \returns nil when the limit is reached
Queue::SlipPointer
Queue::begin(const uint64_t tag, const int operation)
{
    auto slip = std::make_shared<Slip>(1);
    slip->front().tag = tag;
    slip->front().operation = operation;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (underWay_ + answers_.size() >= limit_)
        return nullptr;
    ++underWay_;
    return slip;
}

/// \param posted the result of handing it over
/// \returns that; uncounts the request when it is an error
int
Queue::begun(const int posted)
{
    if (posted != 0) {
        const std::lock_guard<std::mutex> lock(mutex_);
        --underWay_;
        changed_.notify_all();
    }
    return posted;
}

void
Queue::arrived(Slip &slip)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    if (answers_.empty()) {
        const uint64_t one = 1;
        (void)!::write(event_, &one, sizeof(one)); // cannot fail: it was 0
    }
    answers_.splice(answers_.end(), slip);
    --underWay_;
    changed_.notify_all();
}

int
Queue::post(Service &service, const JobPointer &job, const SlipPointer &slip)
{
    return begun(service.post(job, [self = shared_from_this(), job, slip] {
        slip->front().result = static_cast<int>(job->result);
        self->arrived(*slip);
    }));
}

int
Queue::write(const uint64_t tag, const std::string &name, const void *const data, const size_t size, const uint64_t group)
{
    auto t = store_->target(name);
    const auto job = std::make_shared<WriteJob>(t.service, t.key, std::move(t.label), data, size, group);
    const auto slip = begin(tag, CLUSTERFS_OP_WRITE);
    return slip ? post(t.service, job, slip) : -CLUSTERFS_BUSY;
}

int
Queue::remove(const uint64_t tag, const std::string &name)
{
    const auto t = store_->target(name);
    const auto gone = [key = t.key](Engine &engine) { return engine.remove(key) ? 0 : -CLUSTERFS_NOT_FOUND; };
    const auto job = std::make_shared<SimpleJob<decltype(gone)>>(gone);
    const auto slip = begin(tag, CLUSTERFS_OP_REMOVE);
    return slip ? post(t.service, job, slip) : -CLUSTERFS_BUSY;
}

int
Queue::read(const uint64_t tag, const std::string &name)
{
    auto t = store_->target(name);
    auto &service = t.service;
    const auto labelBytes = t.label.size();
    std::unique_ptr<clusterfs_object> object;
    EngineView::Copy copy;
    if (Store::readAlone(t, copy))
        object = std::make_unique<clusterfs_object>(std::make_unique<Object>(store_, service, labelBytes, std::move(copy)));
    const auto slip = begin(tag, CLUSTERFS_OP_READ);
    if (!slip)
        return -CLUSTERFS_BUSY;
    if (object) {
        slip->front().object = object.release();
        arrived(*slip);
        return 0;
    }
    const auto job = std::make_shared<ReadJob>(service, t.key, std::move(t.label), true);
    return begun(service.post(job, [self = shared_from_this(), job, slip, &service, labelBytes] {
        auto &answer = slip->front();
        answer.result = static_cast<int>(job->result);
        if (answer.result == 0) {
            try {
                answer.object = new clusterfs_object(std::make_unique<Object>(self->store_, service, labelBytes, *job));
            } catch (...) {
                answer.result = -CLUSTERFS_NO_MEMORY;
            }
        }
        self->arrived(*slip);
    }));
}

int
Queue::sync(const uint64_t tag)
{
    struct Parts {
        std::atomic<size_t> left;
        std::atomic<int> error{0};
    };
    const auto parts = std::make_shared<Parts>();
    parts->left = store_->devices();
    const auto slip = begin(tag, CLUSTERFS_OP_SYNC);
    if (!slip)
        return -CLUSTERFS_BUSY;
    const auto ended = [self = shared_from_this(), parts, slip](const int result) {
        if (result != 0)
            parts->error = result;
        if (--parts->left)
            return;
        slip->front().result = parts->error;
        self->arrived(*slip);
    };
    for (size_t n = 0; n < store_->devices(); ++n) {
        const auto job = std::make_shared<ChoreJob>(Chore::sync);
        const int posted = store_->service(n).post(job, [ended, job] { ended(static_cast<int>(job->result)); });
        if (posted != 0 && n == 0)
            return begun(posted);
        if (posted != 0)
            ended(posted);
    }
    return 0;
}

int
Queue::wait(clusterfs_answer *const answers, const size_t most, const int milliseconds)
{
    std::unique_lock<std::mutex> lock(mutex_);
    const auto ready = [this] { return !answers_.empty() || !underWay_; };
    if (milliseconds < 0)
        changed_.wait(lock, ready);
    else
        changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), ready);
    int count = 0;
    for (; static_cast<size_t>(count) < most && count < static_cast<int>(maxLimit) && !answers_.empty(); ++count) {
        answers[count] = answers_.front();
        answers_.pop_front();
    }
    if (count && answers_.empty()) {
        uint64_t one = 0;
        (void)!::read(event_, &one, sizeof(one));
    }
    return count;
}

void
Queue::drain()
{
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !underWay_; });
}

} // namespace ClusterFs::Library

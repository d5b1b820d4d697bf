// SPDX-License-Identifier: GPL-2.0-or-later
/* Replacement over single objects. */

#include "tools/bench/policy/References.h"

#include <cmath>

namespace PolicyBench {

bool
LruReference::request(const uint32_t object, const uint64_t bytes)
{
    const bool hit = cache_.find(object);
    cache_.add(object, bytes);
    return hit;
}

S3FifoReference::Fifo &
S3FifoReference::of(const Queue queue)
{
    return queue == Queue::small ? small_ : queue == Queue::main ? main_ : ghost_;
}

void
S3FifoReference::put(const uint32_t object, const Queue queue)
{
    auto &o = objects_[object];
    auto &fifo = of(queue);
    o.queue = queue;
    o.uses = 0;
    fifo.objects.push_front(object);
    o.place = fifo.objects.begin();
    fifo.bytes += o.bytes;
}

void
S3FifoReference::remove(const uint32_t object)
{
    auto &o = objects_[object];
    auto &fifo = of(o.queue);
    fifo.objects.erase(o.place);
    fifo.bytes -= o.bytes;
    o.queue = Queue::none;
}

bool
S3FifoReference::request(const uint32_t object, const uint64_t bytes)
{
    if (object >= objects_.size())
        objects_.resize(size_t(object) + 1);
    auto &o = objects_[object];
    if (o.queue == Queue::small || o.queue == Queue::main) {
        if (o.uses < maxUses)
            ++o.uses;
        return true;
    }
    const bool known = o.queue == Queue::ghost;
    if (known)
        remove(object);
    if (bytes > limit_)
        return false;
    o.bytes = bytes;
    while (small_.bytes + main_.bytes + bytes > limit_)
        evict();
    put(object, known ? Queue::main : Queue::small);
    return false;
}

void
S3FifoReference::evict()
{
    if (!small_.objects.empty() && (small_.bytes >= limit_ / 10 || main_.objects.empty()))
        evictSmall();
    else
        evictMain();
}

void
S3FifoReference::evictSmall()
{
    const auto object = small_.objects.back();
    const bool used = objects_[object].uses > 0;
    remove(object);
    put(object, used ? Queue::main : Queue::ghost);
    while (ghost_.bytes > limit_ - limit_ / 10)
        remove(ghost_.objects.back());
}

void
S3FifoReference::evictMain()
{
    const auto object = main_.objects.back();
    const auto uses = objects_[object].uses;
    remove(object);
    if (!uses)
        return;
    put(object, Queue::main);
    objects_[object].uses = static_cast<uint8_t>(uses - 1);
}

bool
GdsfReference::request(const uint32_t object, const uint64_t bytes)
{
    if (object >= objects_.size())
        objects_.resize(size_t(object) + 1);
    if (bytes > limit_)
        return false;
    auto &o = objects_[object];
    const bool hit = o.bytes != 0;
    if (hit) {
        byValue_.erase({o.value, object});
    } else {
        o.bytes = bytes;
        used_ += bytes;
    }
    ++o.uses;
    o.value = age_ + static_cast<double>(o.uses) / std::pow(static_cast<double>(bytes), power_);
    byValue_.insert({o.value, object});
    while (used_ > limit_) {
        const auto [value, least] = *byValue_.begin();
        byValue_.erase(byValue_.begin());
        age_ = value;
        used_ -= objects_[least].bytes;
        objects_[least] = Object();
    }
    return hit;
}

References::References(const uint64_t bytes)
{
    const auto add = [this](const char *const name, std::unique_ptr<Reference> policy) { lines_.push_back({name, std::move(policy)}); };
    add("LRU", std::make_unique<LruReference>(bytes));
    add("S3-FIFO", std::make_unique<S3FifoReference>(bytes));
    add("LFUDA", std::make_unique<GdsfReference>(bytes, 0));
    add("GDSF, size^0.15", std::make_unique<GdsfReference>(bytes, 0.15));
    add("GDSF, size^0.25", std::make_unique<GdsfReference>(bytes, 0.25));
    add("GDSF, size^0.5", std::make_unique<GdsfReference>(bytes, 0.5));
    add("GDSF", std::make_unique<GdsfReference>(bytes, 1));
}

void
References::request(const uint32_t object, const uint64_t bytes)
{
    for (auto &line: lines_) {
        if (!line.policy->request(object, bytes))
            continue;
        ++line.hits;
        line.hitBytes += bytes;
    }
}

void
References::clear()
{
    for (auto &line: lines_)
        line.hits = line.hitBytes = 0;
}

} // namespace PolicyBench

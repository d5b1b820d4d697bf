// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads that bring windows into memory. */

#include "fs/cluster/cache/WindowLoader.h"

#include <algorithm>
#include <utility>

namespace ClusterFs {
namespace {
constexpr uint64_t nextShare = 4; ///< parts that were read ahead and not asked for yet may take one part of so many of the limit
} // namespace
} // namespace ClusterFs

ClusterFs::WindowLoader::WindowLoader(Device &device, Catalog &catalog, const Geometry &geometry, WindowStore &windows,
                                      UseMeter &use, const ReadPolicy &policy):
    device_(device),
    catalog_(catalog),
    geometry_(geometry),
    windows_(windows),
    use_(use),
    policy_(policy)
{
}

ClusterFs::WindowLoader::~WindowLoader()
{
    *alive_ = false;
}

/// \returns the read under way that brings the bytes, or nil
ClusterFs::WindowLoader::Load *
ClusterFs::WindowLoader::coming(const ClusterRange &r) const
{
    const auto found = underWay_.find(r.cluster);
    if (found == underWay_.end())
        return nullptr;
    for (const auto &load: found->second) {
        if (load->range.covers(r))
            return load.get();
    }
    return nullptr;
}

bool
ClusterFs::WindowLoader::has(const ClusterRange &r) const
{
    return windows_.peek(r) || coming(r);
}

bool
ClusterFs::WindowLoader::join(const ClusterRange &r, const IoClass ioClass, Done &done)
{
    const auto load = coming(r);
    if (!load)
        return false;
    load->waiters.push_back(std::move(done));
    if (ioClass == IoClass::urgent && load->ioClass == IoClass::background) {
        load->ioClass = ioClass; // if it is deferred
        device_.hasten(geometry_.clusterOffset(load->range.cluster) + load->range.start);
    }
    return true;
}

void
ClusterFs::WindowLoader::load(const ClusterRange &r, const ClusterNo pin, const IoClass ioClass, Done done)
{
    if (!join(r, ioClass, done))
        begin(enqueue(r, pin, ioClass, std::move(done)));
}

bool
ClusterFs::WindowLoader::pays(const unsigned mates, const uint64_t bytes) const
{
    return policy_.readsGroup(device_.readCost(), use_.ofMates(), mates, bytes, use_.savedBy(bytes));
}

bool
ClusterFs::WindowLoader::mayReadGroup(const Catalog::Run &run)
{
    if (run.objects < 2)
        return true; // it is soon looked at, and replicas may follow it
    return pays(run.objects - 1, (run.to - run.from) / 2) || use_.groupIsDue();
}

bool
ClusterFs::WindowLoader::loadWithGroup(const ClusterRange &extent, const Catalog::Run &run, Done done)
{
    const auto bytes = run.to - run.from;
    const auto mates = run.objects - 1;
    // The extent of an object that was deleted meanwhile may lie outside of the run.
    // And a window must not push everything else out of memory.
    const bool inside = extent.start >= run.from && uint64_t(extent.start) + extent.size <= run.to;
    const bool fits = inside && run.objects > 1 && bytes > extent.size && bytes < maxPrefetch();
    const auto more = bytes - extent.size;
    if (!fits || !(pays(mates, more) || use_.isTimeForGroup())) {
        begin(enqueue(extent, extent.cluster, IoClass::urgent, std::move(done)));
        return false;
    }
    const auto load = enqueue({extent.cluster, extent.sequence, run.from, bytes}, extent.cluster, IoClass::urgent, std::move(done));
    load->extra.mates = mates;
    use_.groupRead(mates, more);
    begin(load);
    return true;
}

bool
ClusterFs::WindowLoader::prefetch(const ClusterRange &r, const uint32_t objects, const uint64_t client)
{
    if (r.size > maxPrefetch() || !deferred_.empty())
        return false;
    if (!policy_.prefetches(use_.ofPrefetches(client)) && !use_.isTimeToPrefetch(client))
        return false;
    const auto load = enqueue(r, r.cluster, IoClass::urgent, [](Status) {});
    load->extra.prefetched = objects;
    load->extra.client = client;
    use_.prefetched(objects);
    begin(load);
    return true;
}

bool
ClusterFs::WindowLoader::readAhead(const ClusterRange &r, const ClusterNo pin)
{
    if (!deferred_.empty() || device_.queued() >= maxQueued || windows_.unaskedBytes() + r.size > windows_.limit() / nextShare)
        return false;
    if (has(r) || !windows_.makeRoomFromIdle(r.size))
        return false;
    const auto load = enqueue(r, pin, IoClass::urgent, [](Status) {});
    load->extra.unasked = true;
    begin(load);
    return true;
}

ClusterFs::WindowLoader::LoadPointer
ClusterFs::WindowLoader::enqueue(const ClusterRange &r, const ClusterNo pin, const IoClass ioClass, Done done)
{
    auto load = std::make_shared<Load>();
    load->range = r;
    load->range.start = static_cast<uint32_t>(roundDown(r.start, device_.alignment()));
    load->range.size = static_cast<uint32_t>(roundUp(uint64_t(r.start) + r.size, device_.alignment()) - load->range.start);
    load->pin = pin;
    load->ioClass = ioClass;
    load->waiters.push_back(std::move(done));
    underWay_[r.cluster].push_back(load);
    catalog_.pin(pin);
    return load;
}

bool
ClusterFs::WindowLoader::mayStart(const Load &load)
{
    return device_.queued() < maxQueued && windows_.makeRoom(load.range.size);
}

void
ClusterFs::WindowLoader::begin(const LoadPointer &load)
{
    if (deferred_.empty() && mayStart(*load))
        start(load);
    else
        deferred_.push_back(load);
}

void
ClusterFs::WindowLoader::start(const LoadPointer &load)
{
    const auto &range = load->range;
    const auto window = windows_.expect(range, load->extra);
    Io io;
    io.op = IoOp::read;
    io.ioClass = load->ioClass;
    io.offset = geometry_.clusterOffset(range.cluster) + range.start;
    io.size = range.size;
    io.buffer = window->buffer->data();
    const auto alive = alive_;
    io.done = [this, alive, load, window](const Status status) {
        if (*alive)
            loaded(load, window, status);
    };
    device_.submit(std::move(io));
}

void
ClusterFs::WindowLoader::loaded(const LoadPointer &load, const WindowPointer &window, const Status status)
{
    auto &others = underWay_[load->range.cluster];
    others.erase(std::remove(others.begin(), others.end(), load), others.end());
    if (others.empty())
        underWay_.erase(load->range.cluster);

    windows_.arrived(window, status == Status::ok);
    // this function holds the window until all waiters have copied from it
    const auto waiters = std::move(load->waiters);
    for (const auto &done: waiters)
        done(status);
    if (window->forgotten)
        windows_.drop(window);
    catalog_.unpin(load->pin);
    startDeferred();
}

void
ClusterFs::WindowLoader::poll()
{
    (void)windows_.makeRoom(0); // memory may be above its limit: buffers take whole pages, and written windows wait for no room
    startDeferred();
}

void
ClusterFs::WindowLoader::startDeferred()
{
    while (!deferred_.empty()) {
        const auto load = deferred_.front();
        if (!mayStart(*load))
            return;
        deferred_.pop_front();
        start(load);
    }
}

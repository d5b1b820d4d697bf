// SPDX-License-Identifier: GPL-2.0-or-later
/* The read cache. */

#include "fs/cluster/cache/ReadCache.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace ClusterFs {
namespace {
constexpr uint64_t recentShare = 4; ///< of the limit, one part came in since a window that counts as recent was used
constexpr uint64_t leastBytes = 4096; ///< smaller windows are worth no more
constexpr uint64_t nextShare = 4; ///< of the limit, one part is for next parts of large objects
constexpr unsigned maxEvictions = 1024; ///< windows that leave memory for one request; more go in the next turn
constexpr unsigned maxBits = 32; ///< of the size of a window

/// whether keeping so many bytes of a window is worth it
constexpr bool isClearlyLess(const uint64_t bytes, const uint64_t all) { return bytes * 4 <= all * 3; }
} // namespace
} // namespace ClusterFs

const ClusterFs::Window::Piece *
ClusterFs::Window::pieceOf(const uint32_t from, const uint32_t bytes) const
{
    for (const auto &p: pieces) {
        if (from >= p.start && uint64_t(from) + bytes <= uint64_t(p.start) + p.size)
            return &p;
    }
    return nullptr;
}

void
ClusterFs::Window::use(const uint32_t from, const uint32_t bytes)
{
    const auto is = [from](const Piece &p) { return p.start == from; };
    // from the end: most often it is the last one again
    if (reduced || std::any_of(pieces.rbegin(), pieces.rend(), is))
        return;
    const auto padded = std::min<uint64_t>(roundUp(bytes, extentAlignment), uint64_t(start) + size - from);
    pieces.push_back({from, static_cast<uint32_t>(padded), 0});
}

unsigned
ClusterFs::ReadCache::Places::BitsOf(const uint32_t size)
{
    unsigned bits = 0;
    while (bits < maxBits && size >> bits)
        ++bits;
    return bits;
}

void
ClusterFs::ReadCache::Places::add(const Windows::iterator w)
{
    const auto bits = BitsOf(w->second->size);
    sizes |= uint64_t(1) << bits;
    all.emplace(PlaceOf(bits, w->second->start), w);
}

void
ClusterFs::ReadCache::Places::remove(const Windows::iterator w)
{
    auto at = all.lower_bound(PlaceOf(BitsOf(w->second->size), w->second->start));
    while (at != all.end() && at->second != w)
        ++at;
    assert(at != all.end());
    all.erase(at);
}

ClusterFs::ReadCache::ReadCache(Device &device, Catalog &catalog, const Geometry &geometry, const uint64_t most):
    device_(device),
    catalog_(catalog),
    geometry_(geometry),
    limit_(most)
{
}

ClusterFs::ReadCache::~ReadCache()
{
    *alive_ = false;
}

/// \returns where the window that covers the bytes is noted, or nil
ClusterFs::ReadCache::Windows::iterator *
ClusterFs::ReadCache::covering(const ClusterNo cluster, const Sequence sequence, const uint32_t start, const uint32_t size)
{
    const auto found = byCluster_.find(cluster);
    if (found == byCluster_.end())
        return nullptr;
    auto &places = found->second;
    for (unsigned bits = 0; bits <= maxBits; ++bits) {
        if (!(places.sizes >> bits & 1))
            continue;
        const auto least = Places::PlaceOf(bits, start - std::min(start, uint32_t((uint64_t(1) << bits) - 1)));
        auto at = places.all.upper_bound(Places::PlaceOf(bits, start));
        while (at != places.all.begin() && (--at)->first >= least) {
            const auto &w = at->second->second;
            if (!w->loading && w->sequence == sequence && w->covers(start, size))
                return &at->second;
        }
    }
    return nullptr;
}

ClusterFs::WindowPointer
ClusterFs::ReadCache::find(const ClusterNo cluster, const Sequence sequence, const uint32_t start, const uint32_t size)
{
    const auto at = covering(cluster, sequence, start, size);
    if (!at) {
        ++misses;
        return nullptr;
    }
    ++hits;
    noteAsked(*(*at)->second);
    *at = give(*at, worth(*(*at)->second), clock_);
    return (*at)->second;
}

void
ClusterFs::ReadCache::putFirst(const ClusterNo cluster, const Sequence sequence, const uint32_t start, const uint32_t size)
{
    if (const auto at = covering(cluster, sequence, start, size))
        *at = give(*at, 0, 0);
}

/// \returns the read under way that brings the bytes, or nil
ClusterFs::ReadCache::Load *
ClusterFs::ReadCache::coming(const ClusterNo cluster, const Sequence sequence, const uint32_t from, const uint32_t size)
{
    const auto found = underWay_.find(cluster);
    if (found == underWay_.end())
        return nullptr;
    for (const auto &load: found->second) {
        if (load->sequence == sequence && from >= load->start && uint64_t(from) + size <= uint64_t(load->start) + load->size)
            return load.get();
    }
    return nullptr;
}

bool
ClusterFs::ReadCache::has(const ClusterNo cluster, const Sequence sequence, const uint32_t from, const uint32_t size)
{
    return covering(cluster, sequence, from, size) || coming(cluster, sequence, from, size);
}

bool
ClusterFs::ReadCache::join(const ClusterNo cluster, const Sequence sequence, const uint32_t from, const uint32_t size, Done &done)
{
    const auto load = coming(cluster, sequence, from, size);
    if (load)
        load->waiters.push_back(std::move(done));
    return load;
}

ClusterFs::ReadCache::LoadPointer
ClusterFs::ReadCache::enqueue(const ClusterNo cluster, const Sequence sequence, const uint32_t from, const uint32_t size,
                              const ClusterNo pin, const IoClass ioClass, Done done)
{
    const auto load = std::make_shared<Load>();
    load->cluster = cluster;
    load->sequence = sequence;
    load->start = static_cast<uint32_t>(roundDown(from, device_.alignment()));
    load->size = static_cast<uint32_t>(roundUp(uint64_t(from) + size, device_.alignment()) - load->start);
    load->pin = pin;
    load->ioClass = ioClass;
    load->waiters.push_back(std::move(done));
    underWay_[cluster].push_back(load);
    catalog_.pin(pin);
    return load;
}

bool
ClusterFs::ReadCache::mayStart(const Load &load)
{
    return device_.queued() < maxQueued && makeRoom(load.size);
}

void
ClusterFs::ReadCache::begin(const LoadPointer &load)
{
    if (deferred_.empty() && mayStart(*load))
        start(load);
    else
        deferred_.push_back(load);
}

void
ClusterFs::ReadCache::load(const ClusterNo cluster, const Sequence sequence, const uint32_t from, const uint32_t size,
                           const ClusterNo pin, const IoClass ioClass, Done done)
{
    if (!join(cluster, sequence, from, size, done))
        begin(enqueue(cluster, sequence, from, size, pin, ioClass, std::move(done)));
}

bool
ClusterFs::ReadCache::loadWithGroup(const ClusterNo cluster, const Sequence sequence, const uint32_t from, const uint32_t alone,
                                    const Catalog::Run &run, Done done)
{
    const auto bytes = run.to - run.from;
    // an object that was deleted may lie beyond its run; and a window must not
    // push everything else out of memory
    const bool inside = from >= run.from && uint64_t(from) + alone <= run.to;
    const bool fits = inside && run.objects > 1 && bytes > alone && bytes < limit_ / 8;
    const auto mates = run.objects - 1;
    if (!fits || !(policy_.readsGroup(device_.readCost(), use_.ofMates(), mates, bytes - alone) || use_.isTimeForGroup())) {
        begin(enqueue(cluster, sequence, from, alone, cluster, IoClass::urgent, std::move(done)));
        return false;
    }
    const auto load = enqueue(cluster, sequence, run.from, bytes, cluster, IoClass::urgent, std::move(done));
    load->mates = mates;
    use_.groupRead(mates, bytes - alone);
    begin(load);
    return true;
}

bool
ClusterFs::ReadCache::loadAhead(const ClusterNo cluster, const Sequence sequence, const uint32_t from, const uint32_t size,
                                const uint32_t objects, const uint64_t client)
{
    if (size > maxAhead() || !deferred_.empty())
        return false;
    if (!policy_.readsAhead(use_.ofAhead(client)) && !use_.isTimeForAhead(client))
        return false;
    const auto load = enqueue(cluster, sequence, from, size, cluster, IoClass::urgent, [](Status) {});
    load->ahead = objects;
    load->client = client;
    use_.aheadRead(objects);
    begin(load);
    return true;
}

bool
ClusterFs::ReadCache::loadNext(const ClusterNo cluster, const Sequence sequence, const uint32_t from, const uint32_t size, const ClusterNo pin)
{
    if (!deferred_.empty() || device_.queued() >= maxQueued || unaskedBytes_ + size > limit_ / nextShare)
        return false;
    if (has(cluster, sequence, from, size))
        return false;
    evict(size, false);
    if (counted() + size > limit_)
        return false; // all that is there was used lately
    const auto load = enqueue(cluster, sequence, from, size, pin, IoClass::urgent, [](Status) {});
    load->unasked = true;
    begin(load);
    return true;
}

void
ClusterFs::ReadCache::noteAsked(Window &window)
{
    if (std::exchange(window.unasked, false))
        unaskedBytes_ -= window.buffer->size();
}

void
ClusterFs::ReadCache::start(const LoadPointer &load)
{
    const auto window = add(load->cluster, load->sequence, load->start, load->size, std::make_shared<Buffer>(load->size));
    window->loading = true;
    window->mates = load->mates;
    window->ahead = load->ahead;
    window->client = load->client;
    window->unasked = load->unasked;
    unaskedBytes_ += window->unasked ? window->buffer->size() : 0;
    Io io;
    io.op = IoOp::read;
    io.ioClass = load->ioClass;
    io.offset = geometry_.clusterOffset(load->cluster) + load->start;
    io.size = load->size;
    io.buffer = window->buffer->data();
    const auto alive = alive_;
    io.done = [this, alive, load, window](const Status status) {
        if (*alive)
            loaded(load, window, status);
    };
    device_.submit(std::move(io));
}

void
ClusterFs::ReadCache::loaded(const LoadPointer &load, const WindowPointer &window, const Status status)
{
    window->loading = false;
    auto &others = underWay_[load->cluster];
    others.erase(std::remove(others.begin(), others.end(), load), others.end());
    if (others.empty())
        underWay_.erase(load->cluster);

    if (status != Status::ok) {
        window->mates = window->ahead = 0; // nobody could have used them
        remove(window);
    }
    // the window is in use until all waiters have copied what they came for
    const auto waiters = std::move(load->waiters);
    for (const auto &done: waiters)
        done(status);
    if (window->forgotten)
        remove(window);
    catalog_.unpin(load->pin);
    startDeferred();
}

void
ClusterFs::ReadCache::poll()
{
    if (counted() > limit_)
        makeRoom(0); // buffers take whole pages, and written bytes did not wait for room
    startDeferred();
}

void
ClusterFs::ReadCache::startDeferred()
{
    while (!deferred_.empty()) {
        const auto load = deferred_.front();
        if (!mayStart(*load))
            return;
        deferred_.pop_front();
        start(load);
    }
}

ClusterFs::WindowPointer
ClusterFs::ReadCache::insert(const ClusterNo cluster, const Sequence sequence, BufferPointer buffer, const uint32_t size)
{
    const auto window = add(cluster, sequence, 0, size, std::move(buffer));
    window->trusted = true;
    window->writing = true;
    writingBytes_ += window->buffer->size();
    return window;
}

void
ClusterFs::ReadCache::written(Window &window)
{
    if (std::exchange(window.writing, false))
        writingBytes_ -= window.buffer->size();
}

ClusterFs::WindowPointer
ClusterFs::ReadCache::add(const ClusterNo cluster, const Sequence sequence, const uint32_t from, const uint32_t size, BufferPointer buffer)
{
    const auto window = std::make_shared<Window>();
    window->cluster = cluster;
    window->sequence = sequence;
    window->start = from;
    window->size = size;
    window->buffer = std::move(buffer);
    bytes_ += window->buffer->size();
    clock_ += window->buffer->size();
    window->used = clock_;
    byCluster_[cluster].add(windows_.emplace(worth(*window), window));
    return window;
}

/// what a byte of that many costs to read again, in the cost of transferring one
double
ClusterFs::ReadCache::costOf(const uint64_t bytes) const
{
    const auto &cost = device_.readCost();
    return cost.requestMicros() / cost.byteMicros() / static_cast<double>(std::max(bytes, leastBytes));
}

/// what a window is worth when it is used now
double
ClusterFs::ReadCache::worth(const Window &w) const
{
    return age_ + 1 + costOf(w.buffer->size());
}

/// puts a window in its place among the others
ClusterFs::ReadCache::Windows::iterator
ClusterFs::ReadCache::give(const Windows::iterator at, const double worth, const uint64_t used)
{
    auto node = windows_.extract(at);
    node.key() = worth;
    node.mapped()->used = used;
    return windows_.insert(std::move(node));
}

bool
ClusterFs::ReadCache::recent(const Window &w) const
{
    return clock_ - w.used < limit_ / recentShare;
}

void
ClusterFs::ReadCache::evict(const uint64_t wanted, const bool recentToo)
{
    unsigned left = maxEvictions;
    for (auto at = windows_.begin(); counted() + wanted > limit_ && at != windows_.end() && left;) {
        const auto victim = at++;
        if (victim->second.use_count() > 1 || (!recentToo && recent(*victim->second)))
            continue;
        --left;
        age_ = std::max(age_, victim->first);
        reduce(victim);
    }
}

bool
ClusterFs::ReadCache::makeRoom(const uint64_t wanted)
{
    evict(wanted, false);
    evict(wanted, true);
    // a single window must always find room, however small the limit
    return counted() + wanted <= limit_ || counted() == 0;
}

/// leaves what was used of a window in its place, as old as it was, or nothing
void
ClusterFs::ReadCache::reduce(const Windows::iterator victim)
{
    const auto whole = victim->second;
    const auto since = victim->first - costOf(whole->buffer->size());
    const bool unwanted = victim->first <= 0; // somebody has said so
    remove(victim);
    uint32_t bytes = 0;
    for (const auto &p: whole->pieces)
        bytes += static_cast<uint32_t>(roundUp(p.size, extentAlignment));
    const auto size = roundUp(bytes, Device::bufferAlignment());
    if (!bytes || whole->reduced || unwanted || !isClearlyLess(size, whole->buffer->size()))
        return;
    const auto part = std::make_shared<Window>(*whole);
    part->reduced = true;
    part->mates = part->ahead = 0; // they have been counted
    part->buffer = std::make_shared<Buffer>(size);
    uint32_t at = 0;
    for (auto &p: part->pieces) {
        p.at = at;
        memcpy(part->buffer->data() + at, whole->at(p.start), p.size);
        at += static_cast<uint32_t>(roundUp(p.size, extentAlignment));
    }
    bytes_ += size;
    byCluster_[part->cluster].add(windows_.emplace(since + costOf(size), part));
}

void
ClusterFs::ReadCache::remove(const Windows::iterator victim)
{
    const auto found = byCluster_.find(victim->second->cluster);
    assert(found != byCluster_.end());
    found->second.remove(victim);
    if (found->second.all.empty())
        byCluster_.erase(found);
    bytes_ -= victim->second->buffer->size() - victim->second->splitOff;
    written(*victim->second);
    noteAsked(*victim->second);
    noteDrop(*victim->second);
    windows_.erase(victim);
}

/// \returns where a window is noted, or nil when it has left memory before
ClusterFs::ReadCache::Windows::iterator *
ClusterFs::ReadCache::placeOf(const WindowPointer &window)
{
    const auto found = byCluster_.find(window->cluster);
    if (found == byCluster_.end())
        return nullptr;
    const auto same = found->second.all.equal_range(Places::PlaceOf(Places::BitsOf(window->size), window->start));
    const auto at = std::find_if(same.first, same.second, [&](const auto &i) { return i.second->second == window; });
    return at == same.second ? nullptr : &at->second;
}

/// \returns false when it has left memory before
bool
ClusterFs::ReadCache::remove(const WindowPointer &window)
{
    const auto at = placeOf(window);
    if (at)
        remove(*at);
    return at;
}

/// learns from what became of what was read along or ahead
void
ClusterFs::ReadCache::noteDrop(const Window &window)
{
    if (window.ahead && !window.loading)
        use_.aheadLeaves(window.client, window.ahead, static_cast<unsigned>(window.pieces.size()));
    if (window.mates && !window.checked.empty()) // else it never arrived
        use_.groupLeaves(window.mates, static_cast<unsigned>(window.checked.size()) - 1);
}

/// removes the windows of a cluster that are void and that nobody holds
template <class IsVoid>
void
ClusterFs::ReadCache::removeIf(const ClusterNo cluster, IsVoid &&isVoid)
{
    const auto found = byCluster_.find(cluster);
    if (found == byCluster_.end())
        return;
    std::vector<Windows::iterator> list; // remove() changes the original
    for (const auto &place: found->second.all)
        list.push_back(place.second);
    for (const auto at: list) {
        if (isVoid(*at->second) && at->second.use_count() == 1)
            remove(at);
    }
}

void
ClusterFs::ReadCache::forget(const ClusterNo cluster)
{
    removeIf(cluster, [](Window &window) {
        window.forgotten = !window.loading; // goes when those have copied who wait for it
        return true;
    });
}

void
ClusterFs::ReadCache::forgetUnused(const ClusterNo cluster)
{
    if (!catalog_.offsetsIn(cluster, offsets_))
        return; // they leave memory when their time has come
    const auto sequence = catalog_.clusters[cluster].sequence;
    removeIf(cluster, [&](const Window &w) {
        const auto first = std::lower_bound(offsets_.begin(), offsets_.end(), w.start);
        return w.sequence != sequence || first == offsets_.end() || *first - w.start >= w.size;
    });
}

bool
ClusterFs::ReadCache::split(const WindowPointer &whole, const std::pair<uint32_t, uint32_t> &run)
{
    if (!placeOf(whole))
        return false;
    const auto size = run.second - run.first;
    const auto moved = std::min<uint64_t>(size, whole->buffer->size() - whole->splitOff);
    whole->splitOff += moved;
    bytes_ -= moved;
    const auto buffer = std::make_shared<Buffer>(size);
    memcpy(buffer->data(), whole->at(run.first), size);
    const auto part = add(whole->cluster, whole->sequence, run.first, size, buffer);
    part->trusted = true;
    return true;
}

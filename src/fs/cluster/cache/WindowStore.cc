// SPDX-License-Identifier: GPL-2.0-or-later
/* The windows in memory. */

#include "fs/cluster/cache/WindowStore.h"

#include "fs/cluster/base/PagePool.h"
#include "fs/cluster/device/Device.h"
#include "fs/cluster/layout/Cluster.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace ClusterFs {
namespace {
constexpr uint64_t recentShare = 4; ///< a window was used recently if less than one part of so many of the limit came in since
constexpr uint64_t leastBytes = 4096; ///< smaller windows are worth no more, since each takes a page
constexpr unsigned maxEvictions = 1024; ///< windows that leave memory in one call of evict(); more go in the next turn
constexpr uint64_t addressesForByte = 3; ///< of windows that others see: gaps between these cost addresses, but no memory
constexpr uint64_t leastAddresses = 64 << 20; ///< bytes
constexpr unsigned maxBits = 32; ///< bits that the size of a window can have

/// whether so many bytes of a window are few enough to keep only them
constexpr bool isClearlyLess(const uint64_t bytes, const uint64_t all) { return bytes * 4 <= all * 3; }

/// \returns bytes of a buffer that are of a PagePool
uint64_t
pooled(const Buffer &buffer)
{
    return PagePool::Gives(buffer.size() / PagePool::pageBytes) ? buffer.size() : 0;
}

} // namespace
} // namespace ClusterFs

unsigned
ClusterFs::WindowStore::Places::BitsOf(const uint32_t size)
{
    unsigned bits = 0;
    while (bits < maxBits && size >> bits)
        ++bits;
    return bits;
}

void
ClusterFs::WindowStore::Places::add(const Windows::iterator w)
{
    const auto &range = w->second->range;
    const auto bits = BitsOf(range.size);
    sizes |= uint64_t(1) << bits;
    all.emplace(PlaceOf(bits, range.start), w);
}

void
ClusterFs::WindowStore::Places::remove(const Windows::iterator w)
{
    const auto &range = w->second->range;
    auto at = all.lower_bound(PlaceOf(BitsOf(range.size), range.start));
    while (at != all.end() && at->second != w)
        ++at;
    assert(at != all.end());
    all.erase(at);
}

ClusterFs::WindowStore::WindowStore(const CostMeter &cost, UseMeter &use, const uint64_t limit):
    cost_(cost),
    use_(use),
    limit_(limit)
{
}

/* sharing */

bool
ClusterFs::WindowStore::share(const uint64_t most, std::string &error)
{
    auto pages = std::make_shared<SharedPages>();
    if (!pages->make(addressesForByte * roundUp(most, PagePool::pageBytes) + leastAddresses, error))
        return false;
    auto shown = std::make_unique<SharedWindows>(most);
    if (shown->memory().fd() < 0) {
        error = "no file descriptor for the table of what is in memory";
        return false;
    }
    pages_ = std::move(pages);
    shown_ = std::move(shown);
    return true;
}

/// calls a function with each range that a window has whole, and where others see it
template <class Change>
void
ClusterFs::WindowStore::changeShown(const Window &window, const Change &change)
{
    const auto at = static_cast<uint64_t>(window.buffer->sharedAt());
    const auto &range = window.range;
    if (!window.reduced)
        return change(range, at);
    for (const auto &piece: window.pieces)
        change(ClusterRange{range.cluster, range.sequence, piece.start, piece.size}, at + piece.at);
}

/// lets other processes see a window whose bytes stay as they are until it leaves memory
void
ClusterFs::WindowStore::show(Window &window)
{
    if (!shown_ || window.buffer->sharedAt() < 0)
        return;
    window.shown = true;
    changeShown(window, [this](const ClusterRange &range, const uint64_t at) { shown_->enter(range, at); });
}

void
ClusterFs::WindowStore::hide(Window &window)
{
    if (std::exchange(window.shown, false))
        changeShown(window, [this](const ClusterRange &range, const uint64_t at) { shown_->withdraw(range, at); });
}

/* finding */

/// \returns the entry, in Places, of a window that covers the bytes and has arrived; or nil
ClusterFs::WindowStore::Windows::iterator *
ClusterFs::WindowStore::covering(const ClusterRange &r)
{
    const auto found = byCluster_.find(r.cluster);
    if (found == byCluster_.end())
        return nullptr;
    auto &places = found->second;
    for (unsigned bits = 0; bits <= maxBits; ++bits) {
        if (!(places.sizes >> bits & 1))
            continue;
        const auto least = Places::PlaceOf(bits, r.start - std::min(r.start, uint32_t((uint64_t(1) << bits) - 1)));
        auto at = places.all.upper_bound(Places::PlaceOf(bits, r.start));
        while (at != places.all.begin() && (--at)->first >= least) {
            const auto &w = *at->second->second;
            if (!w.loading && w.covers(r))
                return &at->second;
        }
    }
    return nullptr;
}

ClusterFs::WindowPointer
ClusterFs::WindowStore::find(const ClusterRange &r)
{
    const auto at = covering(r);
    if (!at) {
        ++misses_;
        return nullptr;
    }
    ++hits_;
    touch(*at);
    return (*at)->second;
}

ClusterFs::WindowPointer
ClusterFs::WindowStore::peek(const ClusterRange &r) const
{
    const auto at = const_cast<WindowStore *>(this)->covering(r); // covering() changes nothing
    return at ? (*at)->second : nullptr;
}

void
ClusterFs::WindowStore::touch(const ClusterRange &r)
{
    if (const auto at = covering(r))
        touch(*at);
}

void
ClusterFs::WindowStore::touch(Windows::iterator &at)
{
    noteAsked(*at->second);
    at = give(at, worth(*at->second), clock_);
}

void
ClusterFs::WindowStore::putFirst(const ClusterRange &r)
{
    if (const auto at = covering(r))
        *at = give(*at, 0, 0);
}

std::vector<ClusterFs::ClusterRange>
ClusterFs::WindowStore::hottest(const size_t most) const
{
    std::vector<ClusterRange> ranges;
    for (auto at = windows_.rbegin(); at != windows_.rend() && at->first > 0 && ranges.size() < most; ++at) {
        const auto &window = *at->second;
        if (window.loading || window.forgotten || window.writing)
            continue;
        if (!window.reduced)
            ranges.push_back(window.range);
        for (const auto &piece: window.pieces) {
            if (window.reduced && ranges.size() < most)
                ranges.push_back({window.range.cluster, window.range.sequence, piece.start, piece.size});
        }
    }
    return ranges;
}

void
ClusterFs::WindowStore::noteAsked(Window &window)
{
    if (std::exchange(window.extra.unasked, false))
        unaskedBytes_ -= window.buffer->size();
}

/* coming */

ClusterFs::WindowPointer
ClusterFs::WindowStore::add(const ClusterRange &range, BufferPointer buffer)
{
    auto window = std::make_shared<Window>();
    window->range = range;
    window->buffer = std::move(buffer);
    bytes_ += window->buffer->size();
    pooledBytes_ += pooled(*window->buffer);
    clock_ += window->buffer->size();
    window->used = clock_;
    byCluster_[range.cluster].add(windows_.emplace(worth(*window), window));
    return window;
}

ClusterFs::WindowPointer
ClusterFs::WindowStore::expect(const ClusterRange &range, const Window::Extra &extra)
{
    auto window = add(range, std::make_shared<Buffer>(range.size, pages_));
    window->loading = true;
    window->extra = extra;
    unaskedBytes_ += extra.unasked ? window->buffer->size() : 0;
    return window;
}

void
ClusterFs::WindowStore::arrived(const WindowPointer &window, const bool well)
{
    window->loading = false;
    if (well) {
        show(*window);
        return;
    }
    window->extra.mates = window->extra.prefetched = 0; // nothing is learned from objects that never came
    drop(window);
}

ClusterFs::WindowPointer
ClusterFs::WindowStore::insert(const ClusterNo cluster, const Sequence sequence, BufferPointer buffer, const uint32_t size)
{
    auto window = add({cluster, sequence, 0, size}, std::move(buffer));
    window->trusted = true;
    window->writing = true;
    writingBytes_ += window->buffer->size();
    return window;
}

void
ClusterFs::WindowStore::written(Window &window)
{
    if (std::exchange(window.writing, false))
        writingBytes_ -= window.buffer->size();
}

bool
ClusterFs::WindowStore::split(const WindowPointer &whole, const std::pair<uint32_t, uint32_t> &run)
{
    if (!placeOf(whole))
        return false;
    const auto size = run.second - run.first;
    const auto moved = std::min<uint64_t>(size, whole->buffer->size() - whole->splitOff);
    whole->splitOff += moved;
    bytes_ -= moved;
    const auto buffer = std::make_shared<Buffer>(size, pages_);
    memcpy(buffer->data(), whole->at(run.first), size);
    const auto part = add({whole->range.cluster, whole->range.sequence, run.first, size}, buffer);
    part->trusted = true;
    show(*part);
    return true;
}

/* worth */

/// The share of one byte in the request that reads so many bytes again, in units of the cost of transferring a byte.
/// Each byte's own transfer, 1, is not in it.
double
ClusterFs::WindowStore::costOf(const uint64_t bytes) const
{
    return cost_.requestMicros() / cost_.byteMicros() / static_cast<double>(std::max(bytes, leastBytes));
}

/// the worth of a window that is used now
double
ClusterFs::WindowStore::worth(const Window &w) const
{
    return age_ + 1 + costOf(w.buffer->size());
}

/// gives a window another worth, and so another place among all
ClusterFs::WindowStore::Windows::iterator
ClusterFs::WindowStore::give(const Windows::iterator at, const double worth, const uint64_t used)
{
    auto node = windows_.extract(at);
    node.key() = worth;
    node.mapped()->used = used;
    return windows_.insert(std::move(node));
}

bool
ClusterFs::WindowStore::recent(const Window &w) const
{
    return clock_ - w.used < limit_ / recentShare;
}

/* leaving */

void
ClusterFs::WindowStore::evict(const uint64_t wanted, const bool recentToo)
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
ClusterFs::WindowStore::makeRoom(const uint64_t wanted)
{
    evict(wanted, false);
    evict(wanted, true);
    // a single window must always find room, however small the limit
    return counted() + wanted <= limit_ || counted() == 0;
}

bool
ClusterFs::WindowStore::makeRoomFromIdle(const uint64_t wanted)
{
    evict(wanted, false);
    return counted() + wanted <= limit_;
}

/// Takes a window out of memory. If the pieces that were used are clearly less, they stay as a smaller window, whose worth
/// counts from the same last use.
void
ClusterFs::WindowStore::reduce(const Windows::iterator victim)
{
    const auto whole = victim->second;
    const auto since = victim->first - costOf(whole->buffer->size());
    const bool unwanted = victim->first <= 0; // putFirst() was called
    remove(victim);
    uint32_t bytes = 0;
    for (const auto &p: whole->pieces)
        bytes += static_cast<uint32_t>(roundUp(p.size, extentAlignment));
    const auto size = roundUp(bytes, Device::bufferAlignment());
    if (!bytes || whole->reduced || unwanted || !isClearlyLess(size, whole->buffer->size()))
        return;
    const auto part = std::make_shared<Window>(*whole);
    part->reduced = true;
    part->extra = Window::Extra(); // remove() has counted it
    part->again = false;
    part->buffer = std::make_shared<Buffer>(size, pages_);
    uint32_t at = 0;
    for (auto &p: part->pieces) {
        p.at = at;
        memcpy(part->buffer->data() + at, whole->at(p.start), p.size);
        at += static_cast<uint32_t>(roundUp(p.size, extentAlignment));
    }
    bytes_ += size;
    pooledBytes_ += pooled(*part->buffer);
    show(*part);
    byCluster_[part->range.cluster].add(windows_.emplace(since + costOf(size), part));
}

void
ClusterFs::WindowStore::remove(const Windows::iterator victim)
{
    auto &window = *victim->second;
    const auto found = byCluster_.find(window.range.cluster);
    assert(found != byCluster_.end());
    hide(window);
    found->second.remove(victim);
    if (found->second.all.empty())
        byCluster_.erase(found);
    bytes_ -= window.buffer->size() - window.splitOff;
    pooledBytes_ -= pooled(*window.buffer);
    written(window);
    noteAsked(window);
    noteLeaving(window);
    windows_.erase(victim);
}

/// tells the meter how many of the mates, or of the prefetched objects, were used
void
ClusterFs::WindowStore::noteLeaving(const Window &window)
{
    const auto &extra = window.extra;
    if (extra.prefetched && !window.loading)
        use_.prefetchLeaves(extra.client, extra.prefetched, static_cast<unsigned>(window.pieces.size()));
    if (extra.mates && !window.checked.empty()) // if nothing was checked, no reader has come to it
        use_.groupLeaves(extra.mates, static_cast<unsigned>(window.checked.size()) - 1);
    if (!extra.mates && !extra.prefetched && !window.loading)
        use_.windowLeaves(window.buffer->size(), window.again);
}

/// \returns the entry of a window in Places, or nil when it has left memory
ClusterFs::WindowStore::Windows::iterator *
ClusterFs::WindowStore::placeOf(const WindowPointer &window)
{
    const auto found = byCluster_.find(window->range.cluster);
    if (found == byCluster_.end())
        return nullptr;
    const auto same = found->second.all.equal_range(Places::PlaceOf(Places::BitsOf(window->range.size), window->range.start));
    const auto at = std::find_if(same.first, same.second, [&](const auto &i) { return i.second->second == window; });
    return at == same.second ? nullptr : &at->second;
}

void
ClusterFs::WindowStore::drop(const WindowPointer &window)
{
    if (const auto at = placeOf(window))
        remove(*at);
}

/// removes the windows of a cluster that are void and that nobody holds
template <class IsVoid>
void
ClusterFs::WindowStore::removeIf(const ClusterNo cluster, IsVoid &&isVoid)
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
ClusterFs::WindowStore::forget(const ClusterNo cluster)
{
    removeIf(cluster, [](Window &window) {
        window.forgotten = !window.loading; // if somebody holds it, the loader drops it later
        return true;
    });
}

void
ClusterFs::WindowStore::forgetUnused(const ClusterNo cluster, const Sequence sequence, const std::vector<uint32_t> &offsets)
{
    removeIf(cluster, [&](const Window &w) {
        const auto first = std::lower_bound(offsets.begin(), offsets.end(), w.range.start);
        return w.range.sequence != sequence || first == offsets.end() || *first - w.range.start >= w.range.size;
    });
}

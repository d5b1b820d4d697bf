// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbered things in the order of their use, and a cache that keeps those used last. */

#ifndef CLUSTERFS_TOOLS_BASE_LRU_H
#define CLUSTERFS_TOOLS_BASE_LRU_H

#include <cstdint>
#include <mutex>
#include <vector>

namespace Tools {

/// A list of ids, used last first. It takes memory for all ids up to the largest.
class Recency
{
public:
    static constexpr uint32_t none = 0xffffffffU;

    /// \param ids how many there will be, so that all memory is there from the start; there may be more
    explicit Recency(const uint32_t ids = 0): links_(ids) {}

    void add(const uint32_t id) {
        if (id >= links_.size())
            links_.resize(size_t(id) + 1);
        links_[id] = {none, newest_};
        (newest_ != none ? links_[newest_].newer : oldest_) = id;
        newest_ = id;
    }

    void remove(const uint32_t id) {
        const auto link = links_[id];
        (link.newer != none ? links_[link.newer].older : newest_) = link.older;
        (link.older != none ? links_[link.older].newer : oldest_) = link.newer;
    }

    uint32_t oldest() const { return oldest_; } ///< or none
    uint32_t newer(const uint32_t id) const { return links_[id].newer; } ///< or none

private:
    struct Link {
        uint32_t newer = none;
        uint32_t older = none;
    };

    std::vector<Link> links_;
    uint32_t newest_ = none;
    uint32_t oldest_ = none;
};

/// Knows which objects a cache would hold that drops the one used least recently.
/// Keeps no bytes of them. Several threads may call it.
class LruCache
{
public:
    /// \param limit bytes of all objects
    /// \param ids as of Recency
    explicit LruCache(const uint64_t limit, const uint32_t ids = 0): recency_(ids), bytes_(ids), limit_(limit) {}

    /// \returns whether the object is here; if so, it was used
    bool find(const uint32_t id) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!has(id))
            return false;
        recency_.remove(id);
        recency_.add(id);
        return true;
    }

    /// what is here already, or too large, changes nothing
    /// \param bytes not 0
    void add(const uint32_t id, const uint64_t bytes) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (has(id) || bytes > limit_)
            return;
        while (used_ + bytes > limit_)
            drop(recency_.oldest());
        recency_.add(id);
        if (id >= bytes_.size())
            bytes_.resize(size_t(id) + 1);
        bytes_[id] = bytes;
        used_ += bytes;
    }

    void remove(const uint32_t id) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (has(id))
            drop(id);
    }

private:
    bool has(const uint32_t id) const { return id < bytes_.size() && bytes_[id]; }

    void drop(const uint32_t id) {
        recency_.remove(id);
        used_ -= bytes_[id];
        bytes_[id] = 0;
    }

    std::mutex mutex_;
    Recency recency_;
    std::vector<uint64_t> bytes_; ///< 0 = not here
    uint64_t limit_;
    uint64_t used_ = 0;
};

} // namespace Tools

#endif

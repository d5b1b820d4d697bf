// SPDX-License-Identifier: GPL-2.0-or-later
/* Replacement over single objects: what a cache of as many bytes could have. */

#ifndef CLUSTERFS_BENCH_POLICY_REFERENCES_H
#define CLUSTERFS_BENCH_POLICY_REFERENCES_H

#include "tools/base/Lru.h"

#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace PolicyBench {

/// A cache that keeps or drops each object by itself, without any cost of disk or memory for
/// its own use. It holds no bytes. Objects have numbers from 0 on, without large gaps.
class Reference
{
public:
    virtual ~Reference() = default;

    /// An object is asked for; when it is not here, it is stored.
    /// \param bytes the same each time, not 0
    /// \returns whether it was here
    virtual bool request(uint32_t object, uint64_t bytes) = 0;
};

/// the object that was not used for longest goes
class LruReference final : public Reference
{
public:
    explicit LruReference(uint64_t bytes): cache_(bytes) {}
    bool request(uint32_t object, uint64_t bytes) override;

private:
    Tools::LruCache cache_;
};

/// S3-FIFO (Yang, Zhang, Qiu, Yue and Vigfusson, SOSP 2023): what is new has a tenth of the bytes and goes unless it is
/// used there; who comes back soon after that is kept like what was used. Uses of what is kept give it another round each.
class S3FifoReference final : public Reference
{
public:
    explicit S3FifoReference(uint64_t bytes): limit_(bytes) {}
    bool request(uint32_t object, uint64_t bytes) override;

private:
    enum class Queue : uint8_t { none, small, main, ghost };
    static constexpr uint8_t maxUses = 3;

    struct Object {
        uint64_t bytes = 0;
        Queue queue = Queue::none;
        uint8_t uses = 0; ///< since it came into its queue
        std::list<uint32_t>::iterator place{}; ///< in it
    };
    /// objects, the newest first
    struct Fifo {
        std::list<uint32_t> objects{};
        uint64_t bytes = 0;
    };

    Fifo &of(Queue);
    void put(uint32_t object, Queue);
    void remove(uint32_t object);
    void evict();
    void evictSmall();
    void evictMain();

    uint64_t limit_;
    std::vector<Object> objects_;
    Fifo small_;
    Fifo main_;
    Fifo ghost_; ///< of what was evicted from small_: the keys
};

/// GreedyDual-Size with Frequency (Cherkasova, HPL-98-69R1, 1998): the object of the least value goes, which is its uses
/// divided by a power of its size, and what the last one that went was worth when it was used. What is new may be the one
/// that goes. A power of 1 is Squid's heap GDSF, 0 its heap LFUDA; between them it weighs requests against bytes.
class GdsfReference final : public Reference
{
public:
    GdsfReference(const uint64_t bytes, const double power): limit_(bytes), power_(power) {}
    bool request(uint32_t object, uint64_t bytes) override;

private:
    struct Object {
        uint64_t bytes = 0; ///< 0 = not here
        uint64_t uses = 0;
        double value = 0;
    };

    uint64_t limit_;
    double power_;
    uint64_t used_ = 0;
    double age_ = 0;
    std::vector<Object> objects_;
    std::set<std::pair<double, uint32_t>> byValue_;
};

/// All of them beside each other, and what each of them has found.
class References
{
public:
    struct Line {
        std::string name;
        std::unique_ptr<Reference> policy;
        uint64_t hits = 0; ///< since the last clear()
        uint64_t hitBytes = 0;
    };

    /// \param bytes that each may hold
    explicit References(uint64_t bytes);

    void request(uint32_t object, uint64_t bytes);
    /// forgets what was counted, and none of the objects
    void clear();

    /// the first is LRU
    const std::vector<Line> &lines() const { return lines_; }

private:
    std::vector<Line> lines_;
};

} // namespace PolicyBench

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory for the engine's large tables and its I/O buffers. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_MEMORY_H
#define SQUID_SRC_FS_CLUSTER_BASE_MEMORY_H

#include "fs/cluster/base/Id.h"
#include "fs/cluster/base/SharedMemory.h"
#include "fs/cluster/base/SharedPages.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ClusterFs {

/// A mapping that is filled with zeros. The kernel finds a page for it when the
/// page is touched. Tables in it are arrays that refer to each other by number,
/// never by pointer, so that several processes can map the same one.
class Region
{
public:
    enum class Use {
        stays, ///< nobody can map it to write any more
        comesAndGoes ///< release() works, which the kernel refuses for what it has sealed against writing; others get a descriptor to read
    };

    /// \param name of memory that other processes may map, see fd(); nil = none of them does
    /// \throws std::bad_alloc when the process may not map so much
    explicit Region(size_t bytes, const char *name = nullptr, Use = Use::stays);
    ~Region();
    Region(const Region &) = delete;
    Region &operator =(const Region &) = delete;

    char *data() const { return data_; }
    size_t size() const { return size_; }
    /// for SharedMemory::map() in another process, to read; -1 = none: it has no name, or the process may not have another descriptor
    int fd() const { return shared_.fd(); }

    /// Gives the memory of whole pages back to the system: they are zeros when they are used next.
    /// \param from, bytes multiples of PagePool::pageBytes, but for the end of the region
    /// \returns false when the system does not take it
    bool release(size_t from, size_t bytes);

private:
    SharedMemory shared_; ///< empty unless other processes may map it
    char *data_;
    size_t size_;
};

/// An array of plain records in a Region, all zeros at first. Bounds are not checked.
/// \param Number the type of the position: an Id where the records describe things that have one
template <class T, class Number = size_t>
class Table
{
public:
    /// \param name see Region
    explicit Table(const size_t count, const char *const name = nullptr): region_(count * sizeof(T), name), count_(count) {}

    T &operator [](const Number i) { return reinterpret_cast<T *>(region_.data())[Place(i)]; }
    const T &operator [](const Number i) const { return reinterpret_cast<const T *>(region_.data())[Place(i)]; }
    size_t count() const { return count_; }
    const Region &region() const { return region_; }

private:
    static constexpr size_t Place(const size_t i) { return i; }
    template <class Tag, class N>
    static constexpr size_t Place(const Id<Tag, N> i) { return i.value(); }

    Region region_;
    size_t count_;
};

/// memory for direct I/O: aligned to 4096 bytes, its content undefined
class Buffer
{
public:
    /// When the kernel finds the pages of a large buffer. All at once takes less
    /// time in sum, but takes it here, and that may be milliseconds.
    enum class Pages { atOnce, whenUsed };

    /// \param size bytes; rounded up to whole pages of 4096
    /// \throws std::bad_alloc when there is no memory
    explicit Buffer(size_t size, Pages = Pages::atOnce);
    /// \param from which its memory comes, unless they have none left, or it is nil
    Buffer(size_t size, std::shared_ptr<SharedPages> from);
    ~Buffer();
    Buffer(const Buffer &) = delete;
    Buffer &operator =(const Buffer &) = delete;

    char *data() const { return data_; }
    size_t size() const { return size_; }
    /// where it begins in the memory that other processes read; -1 = it is not there
    int64_t sharedAt() const { return source_ == Source::Shared ? data_ - shared_->data() : -1; }

private:
    enum class Source { Heap, Pool, Mapping, Shared };
    void findMemory(Pages);

    char *data_;
    size_t size_;
    Source source_;
    std::shared_ptr<SharedPages> shared_; ///< where the buffer is from; else nil
};
using BufferPointer = std::shared_ptr<Buffer>;

inline uint64_t
roundUp(const uint64_t value, const uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

inline uint64_t
roundDown(const uint64_t value, const uint64_t unit)
{
    return value / unit * unit;
}

} // namespace ClusterFs

#endif

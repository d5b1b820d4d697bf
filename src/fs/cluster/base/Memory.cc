// SPDX-License-Identifier: GPL-2.0-or-later
/* Mappings and aligned buffers. */

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/PagePool.h"

#include <cstdlib>
#include <new>
#include <string>
#include <sys/mman.h>
#include <utility>

namespace ClusterFs {
namespace {

/// the pool of this process; never destroyed, because a buffer may outlive everything else
PagePool &
pool()
{
    static const auto instance = new PagePool;
    return *instance;
}

} // namespace
} // namespace ClusterFs

ClusterFs::Region::Region(const size_t bytes, const char *const name, const Use use):
    data_(nullptr),
    size_(bytes)
{
    if (!size_)
        return;
    std::string error; // without a descriptor, this process can work all the same
    if (name && shared_.make(name, size_, error)) {
        if (use == Use::stays)
            shared_.sealWrites();
        else
            (void)shared_.openToRead(); // if not, nobody else sees it: fd() is none
        data_ = shared_.data();
        return;
    }
    const auto p = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        throw std::bad_alloc();
    data_ = static_cast<char *>(p);
    madvise(data_, size_, MADV_DONTDUMP); // gigabytes that say little about a crash
}

ClusterFs::Region::~Region()
{
    if (data_ && !shared_.data())
        munmap(data_, size_);
}

bool
ClusterFs::Region::release(const size_t from, const size_t bytes)
{
    return madvise(data_ + from, bytes, MADV_REMOVE) == 0; // both kinds of mapping are shared ones
}

ClusterFs::Buffer::Buffer(const size_t size, const Pages when):
    data_(nullptr),
    size_(roundUp(size ? size : 1, PagePool::pageBytes)),
    source_(Source::Heap)
{
    findMemory(when);
}

ClusterFs::Buffer::Buffer(const size_t size, std::shared_ptr<SharedPages> from):
    data_(nullptr),
    size_(roundUp(size ? size : 1, PagePool::pageBytes)),
    source_(Source::Heap),
    shared_(std::move(from))
{
    data_ = shared_ ? shared_->take(size_ / PagePool::pageBytes) : nullptr;
    if (data_) {
        source_ = Source::Shared;
        return;
    }
    shared_ = nullptr;
    findMemory(Pages::atOnce);
}

void
ClusterFs::Buffer::findMemory([[maybe_unused]] const Pages when)
{
#ifndef __SANITIZE_ADDRESS__ // the sanitizer guards the ends of heap memory only
    // Why not the heap: large buffers of all sizes, freed in any order, made it
    // grow to three times the bytes in use, and those of a few pages to 1.7 times.
    const auto pages = size_ / PagePool::pageBytes;
    if (PagePool::Gives(pages)) {
        data_ = pool().take(pages);
        source_ = Source::Pool;
    } else {
        const auto populate = when == Pages::atOnce ? MAP_POPULATE : 0;
        const auto p = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | populate, -1, 0);
        data_ = p == MAP_FAILED ? nullptr : static_cast<char *>(p);
        source_ = Source::Mapping;
    }
#endif
    if (data_)
        return;
    // a process may have 65,530 mappings (vm.max_map_count); beyond, the heap has to do
    void *p = nullptr;
    if (posix_memalign(&p, PagePool::pageBytes, size_) != 0)
        throw std::bad_alloc();
    data_ = static_cast<char *>(p);
    source_ = Source::Heap;
}

ClusterFs::Buffer::~Buffer()
{
    switch (source_) {
    case Source::Heap:
        free(data_);
        break;
    case Source::Pool:
        pool().giveBack(data_, size_ / PagePool::pageBytes);
        break;
    case Source::Mapping:
        // The kernel joins mappings beside each other. To take one out of the middle makes two of them, which fails
        // when the process has all the mappings that it may have. Then the addresses are lost, but not the memory.
        if (munmap(data_, size_) != 0)
            madvise(data_, size_, MADV_DONTNEED);
        break;
    case Source::Shared:
        shared_->giveBack(data_, size_ / PagePool::pageBytes);
        break;
    }
}

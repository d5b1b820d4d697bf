// SPDX-License-Identifier: GPL-2.0-or-later
/* Mappings and aligned buffers. */

#include "fs/cluster/base/Memory.h"

#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace ClusterFs {
namespace {
constexpr size_t mappedFrom = 64 * 1024; ///< bytes of a buffer that is not from the heap
} // namespace
} // namespace ClusterFs

ClusterFs::Region::Region(const size_t bytes):
    data_(nullptr),
    size_(bytes)
{
    if (!size_)
        return;
    const auto p = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        throw std::bad_alloc();
    data_ = static_cast<char *>(p);
}

ClusterFs::Region::~Region()
{
    if (data_)
        munmap(data_, size_);
}

ClusterFs::Buffer::Buffer(const size_t size):
    data_(nullptr),
    size_(roundUp(size ? size : 1, 4096))
{
    void *p = nullptr;
    // large ones of all sizes, freed in any order, leave the heap in pieces that
    // fit nobody: measured, it grew to three times of what was in use
    if (size_ >= mappedFrom) {
        p = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        mapped_ = p != MAP_FAILED;
    }
    // a process may have 65,530 mappings at most (vm.max_map_count): better the heap than an end
    if (!mapped_ && posix_memalign(&p, 4096, size_) != 0)
        throw std::bad_alloc();
    data_ = static_cast<char *>(p);
}

ClusterFs::Buffer::~Buffer()
{
    if (mapped_)
        munmap(data_, size_);
    else
        free(data_);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory for buffers that other processes read. */

#include "fs/cluster/base/SharedPages.h"

#include "fs/cluster/base/SystemError.h"

#include <iterator>
#include <sys/mman.h>

bool
ClusterFs::SharedPages::make(const uint64_t bytes, std::string &error)
{
    if (!memory_.make("clusterfs-windows", bytes, error))
        return false;
    if (!memory_.openToRead()) {
        error = systemError("no file descriptor for shared memory");
        return false;
    }
    add(0, bytes);
    return true;
}

char *
ClusterFs::SharedPages::take(const size_t pages)
{
    return PagePool::Gives(pages) ? pool_.take(pages) : map(pages * PagePool::pageBytes);
}

void
ClusterFs::SharedPages::giveBack(char *const at, const size_t pages)
{
    if (PagePool::Gives(pages))
        pool_.giveBack(at, pages);
    else
        (void)unmap(at, pages * PagePool::pageBytes);
}

char *
ClusterFs::SharedPages::map(const size_t bytes)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto best = bySize_.lower_bound({bytes, 0});
    if (best == bySize_.end())
        return nullptr;
    const auto [all, from] = *best;
    take(free_.find(from));
    if (all > bytes)
        add(from + bytes, all - bytes);
    return memory_.data() + from;
}

/// gives the memory back, and joins the run with its free neighbours
bool
ClusterFs::SharedPages::unmap(char *const at, size_t bytes)
{
    (void)release(at, bytes); // where that fails, the next user of the addresses has the memory
    const std::lock_guard<std::mutex> lock(mutex_);
    auto from = static_cast<size_t>(at - memory_.data());
    const auto behind = free_.lower_bound(from);
    if (behind != free_.begin()) {
        const auto before = std::prev(behind);
        if (before->first + before->second == from) {
            from = before->first;
            bytes += before->second;
            take(before);
        }
    }
    if (behind != free_.end() && from + bytes == behind->first) {
        bytes += behind->second;
        take(behind);
    }
    add(from, bytes);
    return true;
}

bool
ClusterFs::SharedPages::release(char *const at, const size_t bytes)
{
    return madvise(at, bytes, MADV_REMOVE) == 0;
}

void
ClusterFs::SharedPages::add(const size_t from, const size_t bytes)
{
    free_.emplace(from, bytes);
    bySize_.emplace(bytes, from);
}

/// takes a run out of the free ones
void
ClusterFs::SharedPages::take(const std::map<size_t, size_t>::iterator run)
{
    bySize_.erase({run->second, run->first});
    free_.erase(run);
}

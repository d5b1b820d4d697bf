// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory for buffers that other processes read. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_SHAREDPAGES_H
#define SQUID_SRC_FS_CLUSTER_BASE_SHAREDPAGES_H

#include "fs/cluster/base/PagePool.h"
#include "fs/cluster/base/SharedMemory.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace ClusterFs {

/// Gives out runs of whole pages of one mapping that other processes map to read. Runs of a few pages come from a PagePool;
/// larger ones, and the chunks of that pool, are the best fit among the free runs. The mapping is large, so that gaps cost
/// addresses and no memory: that of a run goes back to the system with the run. It can't be sealed against writing, because
/// the kernel takes no page out of memory that is; others get a descriptor that is open to read. May be used from several
/// threads.
class SharedPages final: private PageSource
{
public:
    SharedPages(): pool_(*this) {}

    /// Makes the mapping, once.
    /// \param bytes of addresses, a multiple of PagePool::pageBytes; memory is taken as it is used
    /// \param error receives the reason when it fails
    bool make(uint64_t bytes, std::string &error);

    /// \returns the address of that many pages in a row, whose content is undefined; nil when there are none
    char *take(size_t pages);
    /// gives back what take() gave, whole
    void giveBack(char *, size_t pages);

    const char *data() const { return memory_.data(); } ///< the beginning, from which others count
    size_t size() const { return memory_.size(); } ///< bytes of addresses
    int fd() const { return memory_.fd(); } ///< for SharedMemory::map() in another process, to read

private:
    /* PageSource: chunks for the pool */
    char *map(size_t bytes) override;
    bool unmap(char *, size_t bytes) override;
    bool release(char *, size_t bytes) override;

    void add(size_t from, size_t bytes);
    void take(std::map<size_t, size_t>::iterator);

    SharedMemory memory_;
    std::mutex mutex_; ///< of the free runs
    std::map<size_t, size_t> free_; ///< bytes of free runs, by where they begin
    std::set<std::pair<size_t, size_t>> bySize_; ///< the same: bytes, beginning
    PagePool pool_;
};

} // namespace ClusterFs

#endif

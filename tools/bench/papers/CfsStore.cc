// SPDX-License-Identifier: GPL-2.0-or-later
/* CFS's calls as a store of the experiments. */

#include "CfsStore.h"

#include "clusterfs/cfs.h"

namespace Papers {

CfsStore::~CfsStore()
{
    (void)clusterfs_cfs_end();
}

bool
CfsStore::open(std::string &error)
{
    if (!LibraryStore::open(error))
        return false;
    const int result = clusterfs_cfs_begin(store_);
    if (result == 0)
        return true;
    error = std::string("CFS's calls get no store: ") + clusterfs_strerror(result);
    return false;
}

bool
CfsStore::close(std::string &error)
{
    const int result = clusterfs_cfs_end();
    if (result == 0)
        return LibraryStore::close(error);
    error = std::string("CFS's calls do not give the store back: ") + clusterfs_strerror(result);
    return false;
}

Outcome
CfsStore::create(const Item &item, const Hint &)
{
    auto *const bytes = scratch(item.size);
    content().fill(item, 0, bytes, item.size);
    const int begun = clusterfs_cfs_create(NameOf(item.id).c_str(), bytes, static_cast<int>(item.size));
    return OutcomeOf(begun == 0 ? clusterfs_cfs_sync() : begun);
}

Outcome
CfsStore::read(const Item &item, const Hint &, uint32_t &version)
{
    const auto name = NameOf(item.id);
    const int size = clusterfs_cfs_length(name.c_str());
    if (size < 0)
        return OutcomeOf(size);
    auto *const bytes = scratch(static_cast<size_t>(size));
    int result = clusterfs_cfs_read(name.c_str(), bytes);
    if (result == 0)
        result = clusterfs_cfs_sync();
    return result == 0 ? check(item, bytes, static_cast<uint64_t>(size), version) : OutcomeOf(result);
}

Outcome
CfsStore::remove(const uint32_t id)
{
    return OutcomeOf(clusterfs_cfs_remove(NameOf(id).c_str()));
}

} // namespace Papers

// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls of clusterfs.h as a store of the experiments. */

#include "PlainStore.h"

namespace Papers {

Outcome
PlainStore::create(const Item &item, const Hint &)
{
    auto *const bytes = scratch(item.size);
    content().fill(item, 0, bytes, item.size);
    const auto name = NameOf(item.id);
    return OutcomeOf(clusterfs_write(store_, name.data(), name.size(), bytes, item.size, nullptr));
}

Outcome
PlainStore::read(const Item &item, const Hint &, uint32_t &version)
{
    const auto name = NameOf(item.id);
    auto *const bytes = scratch(item.size);
    const auto size = clusterfs_read_into(store_, name.data(), name.size(), bytes, item.size);
    return size < 0 ? OutcomeOf(size) : check(item, bytes, static_cast<uint64_t>(size), version);
}

Outcome
PlainStore::remove(const uint32_t id)
{
    const auto name = NameOf(id);
    return OutcomeOf(clusterfs_remove(store_, name.data(), name.size()));
}

} // namespace Papers

// SPDX-License-Identifier: GPL-2.0-or-later
/* Translates between Squid's and the engine's properties of objects. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_CONVERT_H
#define SQUID_SRC_FS_CLUSTER_SQUID_CONVERT_H

#include "fs/cluster/base/Types.h"
#include "store/forward.h"

namespace ClusterFs {

/// a copy of a store key
/// \param key must not be nil
Key keyOf(const cache_key *key);

/// the key as Squid's functions take it; valid as long as the argument
inline const cache_key *
squidKey(const Key &k)
{
    return k.bytes.data();
}

/// times and flags of an entry; the size remains 0
ObjectInfo infoOf(const StoreEntry &);

/// whether two objects have the same times and flags
bool sameBasics(const ObjectInfo &, const ObjectInfo &);

/// Whether an entry, whose header is in memory, is no response: Squid stores the names of Vary's headers in it.
bool isVaryMarker(const StoreEntry &);

/// Sets times, size, flags and reference count of an entry. The entry of a doubtful
/// object gets the flag that makes Squid revalidate it before each hit.
void exportInfo(const ObjectInfo &, StoreEntry &);

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* A number in memory that another process reads while this one writes it. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_SHAREDWORD_H
#define SQUID_SRC_FS_CLUSTER_BASE_SHAREDWORD_H

namespace ClusterFs {

/// A number that is never seen half written. A counter beside it says whether several numbers belong together.
template <class Number>
Number
loadShared(const Number &from)
{
    return __atomic_load_n(&from, __ATOMIC_RELAXED);
}

template <class Number>
void
storeShared(Number &to, const Number value)
{
    __atomic_store_n(&to, value, __ATOMIC_RELAXED);
}

} // namespace ClusterFs

#endif

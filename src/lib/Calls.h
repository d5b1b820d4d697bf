// SPDX-License-Identifier: GPL-2.0-or-later
/* What all calls of the C interface have in common. */

#ifndef CLUSTERFS_SRC_LIB_CALLS_H
#define CLUSTERFS_SRC_LIB_CALLS_H

#include "clusterfs/clusterfs.h"

#include <algorithm>
#include <new>
#include <system_error>

namespace ClusterFs::Library {

/// calls a function that returns a number; nothing is thrown through C
template <class Function>
auto
guarded(Function f) -> decltype(f())
{
    try {
        return f();
    } catch (const std::bad_alloc &) {
        return -CLUSTERFS_NO_MEMORY;
    } catch (const std::system_error &) {
        return -CLUSTERFS_NO_MEMORY; // no thread
    } catch (...) {
        return -CLUSTERFS_INTERNAL;
    }
}

/// Whether a structure can be taken: a newer version may have members behind those that are known here, if they are 0.
/// There is no older version yet, which would be shorter.
template <class Structure>
bool
known(const Structure &given)
{
    const auto *const bytes = reinterpret_cast<const char *>(&given);
    const auto size = given.struct_size;
    return size >= sizeof(given) && std::all_of(bytes + sizeof(given), bytes + size, [](const char c) { return c == 0; });
}

} // namespace ClusterFs::Library

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of any length on an engine whose keys have 16 bytes. */

#ifndef CLUSTERFS_SRC_LIB_NAME_H
#define CLUSTERFS_SRC_LIB_NAME_H

#include "fs/cluster/base/Types.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ClusterFs::Library {

/// makes a key of the bytes of a name; tests have one that collides
using KeyMaker = Key (*)(const void *name, size_t size);

/// \returns the MD5 digest of a name, \throws std::bad_alloc when the library of digests refuses
Key digestOf(const void *name, size_t size);

/// What the library stores of an object: a label, with the whole name, and behind it the object's bytes. A label:
/// 4 bytes "cfn" and 1, 4 bytes little-endian with the length of the name, the name.
class Label
{
public:
    static constexpr size_t frontBytes = 8; ///< in front of the name
    static constexpr uint64_t maxName = 0xffffffffU; ///< bytes

    /// \returns the label for a name of at most maxName bytes
    static std::string Of(const std::string &name);

    /// Reads the front of a label. \returns false when there is none
    static bool NameSize(const char *front, uint32_t &size);
};

} // namespace ClusterFs::Library

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Keys and bytes for tests, the same for the same numbers. */

#ifndef SQUID_TEST_SUITE_DOUBLES_CONTENT_H
#define SQUID_TEST_SUITE_DOUBLES_CONTENT_H

#include "fs/cluster/base/Types.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ClusterFs {
namespace Testing {

/// a number that looks random, the same for the same seed
uint64_t mix(uint64_t);

/// a key made of two numbers, as Key::high() and Key::low() give them back
Key keyFrom(uint64_t high, uint64_t low);

/// the nth key of the tests
Key keyOf(uint64_t n);

/// bytes that differ from seed to seed and from place to place
std::string bytesOf(uint64_t seed, size_t size);

} // namespace Testing
} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* What the fuzzers share: how they are found, and how they take their input apart. */

#ifndef CLUSTERFS_TEST_SUITE_FUZZ_TARGET_H
#define CLUSTERFS_TEST_SUITE_FUZZ_TARGET_H

#include "fs/cluster/base/Bytes.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace Fuzz {

/// what libFuzzer has thought out; reads as zeros behind its end
using Input = ClusterFs::ByteReader;

/// A part of the project that takes bytes from outside. One static object in
/// the target's own file; the program's --target option chooses among them.
class Target
{
public:
    /// tries one input. What it finds wrong it tells by require(); crashes,
    /// endless loops and memory without limit are found by libFuzzer.
    using Run = void (*)(Input);
    /// \returns inputs to begin with
    using Seeds = std::vector<std::string> (*)();

    Target(const char *aName, Run aRun, Seeds aSeeds): name(aName), run(aRun), seeds(aSeeds) { All().push_back(this); }

    /// all there are, in no order
    static std::vector<const Target *> &All();

    const char *const name;
    const Run run;
    const Seeds seeds;
};

/// ends the program when a promise does not hold, so that libFuzzer keeps the input
inline void
require(const bool holds, const char *const promise)
{
    if (holds)
        return;
    fprintf(stderr, "BROKEN: %s\n", promise);
    abort();
}

/// The next bytes, zeros behind the end of the input. They get memory of just
/// that size, so that AddressSanitizer sees each access beyond it.
inline std::vector<char>
take(Input &in, const size_t size)
{
    std::vector<char> bytes(size);
    if (const auto there = std::min(size, in.left()))
        in.bytes(bytes.data(), there);
    return bytes;
}

/// all that is left
inline std::vector<char>
takeRest(Input &in)
{
    return take(in, in.left());
}

/// whether two rows of bytes agree in a part
inline bool
agree(const std::vector<char> &a, const std::vector<char> &b, const size_t from, const size_t to)
{
    return to <= a.size() && to <= b.size() && std::equal(a.begin() + static_cast<std::ptrdiff_t>(from),
            a.begin() + static_cast<std::ptrdiff_t>(to), b.begin() + static_cast<std::ptrdiff_t>(from));
}

/// a seed: a first byte, then others, without the zeros at the end
inline std::string
seedOf(const uint8_t first, std::string bytes)
{
    bytes.resize(bytes.find_last_not_of('\0') + 1);
    return static_cast<char>(first) + bytes;
}

} // namespace Fuzz

#endif

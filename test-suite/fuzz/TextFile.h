// SPDX-License-Identifier: GPL-2.0-or-later
/* A file in memory, for parsers that open a path. */

#ifndef CLUSTERFS_TEST_SUITE_FUZZ_TEXTFILE_H
#define CLUSTERFS_TEST_SUITE_FUZZ_TEXTFILE_H

#include "test-suite/fuzz/Target.h"

#include <sys/mman.h>
#include <unistd.h>

namespace Fuzz {

/// gone with this object
class TextFile
{
public:
    explicit TextFile(const std::vector<char> &bytes): file_(memfd_create("input", MFD_CLOEXEC)) {
        require(file_ >= 0 && write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "there is room for the input");
    }
    ~TextFile() { close(file_); }
    TextFile(const TextFile &) = delete;
    TextFile &operator =(const TextFile &) = delete;

    std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

private:
    const int file_;
};

} // namespace Fuzz

#endif

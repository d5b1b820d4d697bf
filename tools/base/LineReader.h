// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a text file, compressed or not, line by line. */

#ifndef CLUSTERFS_TOOLS_BASE_LINEREADER_H
#define CLUSTERFS_TOOLS_BASE_LINEREADER_H

#include <cstdint>
#include <string>

struct gzFile_s;

namespace Tools {

/// The lines of a file (plain or gzip), with their numbers for messages.
class LineReader
{
public:
    LineReader() = default;
    ~LineReader();
    LineReader(const LineReader &) = delete;
    LineReader &operator=(const LineReader &) = delete;

    /// \returns false with the reason in error
    bool open(const std::string &path, std::string &error);

    /// Reads the next line, without its end.
    /// \returns false at the end of the file, or with the reason in error: the
    /// file is damaged, or the line is longer than 64 KB
    bool next(std::string &line, std::string &error);

    /// "PATH: line N: ", of the line read last
    std::string place() const { return path_ + ": line " + std::to_string(number_) + ": "; }

private:
    static constexpr unsigned longest = 65536;

    std::string path_;
    gzFile_s *file_ = nullptr;
    uint64_t number_ = 0;
};

} // namespace Tools

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a text file, compressed or not, line by line. */

#include "tools/base/LineReader.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <zlib.h>

namespace Tools {

LineReader::~LineReader()
{
    if (file_)
        gzclose(file_);
}

bool
LineReader::open(const std::string &path, std::string &error)
{
    path_ = path;
    struct stat info;
    if (stat(path.c_str(), &info) != 0) {
        error = path + ": " + strerror(errno);
        return false;
    }
    if (S_ISDIR(info.st_mode)) {
        error = path + " is a folder; name a file";
        return false;
    }
    errno = 0;
    file_ = gzopen(path.c_str(), "rb");
    if (!file_) {
        error = path + ": " + (errno ? strerror(errno) : "not enough memory to read it");
        return false;
    }
    gzbuffer(file_, 1 << 17);
    return true;
}

bool
LineReader::next(std::string &line, std::string &error)
{
    char piece[4096];
    line.clear();
    while (gzgets(file_, piece, sizeof(piece))) {
        line += piece;
        if (!line.empty() && line.back() == '\n') {
            line.pop_back();
            if (!line.empty() && line.back() == '\r')
                line.pop_back();
            break;
        }
        if (line.size() > longest) {
            ++number_;
            error = place() + "longer than " + std::to_string(longest) + " bytes; is this a text file?";
            return false;
        }
        if (strlen(piece) + 1 < sizeof(piece) && !gzeof(file_)) {
            ++number_;
            error = place() + "has a NUL byte; is this a text file?";
            return false;
        }
    }
    int code = Z_OK;
    const char *reason = gzerror(file_, &code);
    if (code != Z_OK && code != Z_STREAM_END) {
        error = path_ + ": after line " + std::to_string(number_) + ": "
                + (code == Z_ERRNO ? strerror(errno) : reason) + (code == Z_BUF_ERROR ? " (the file is cut short)" : "");
        return false;
    }
    ++number_;
    return !line.empty() || !gzeof(file_);
}

} // namespace Tools

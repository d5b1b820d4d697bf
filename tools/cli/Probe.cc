// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs probe. */

#include "Commands.h"
#include "Image.h"

#include "fs/cluster/device/PathCheck.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ClusterFs::Cli {
namespace {

/// Reads one copy of the superblock.
/// \returns what Superblock::decode() returns, or ioError; error receives the reason unless it is ok
Status
readCopy(const int fd, const unsigned copy, Superblock &superblock, std::string &error)
{
    std::array<char, superblockBytes> bytes{};
    const auto done = pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(superblockOffset(copy)));
    if (done == static_cast<ssize_t>(bytes.size()))
        return superblock.decode(bytes.data(), error);
    error = done < 0 ? strerror(errno) : done == 0 ? "it has no space for a superblock" : "it is too short";
    return done < 0 ? Status::ioError : Status::notOurs;
}

/// Reads the first copy that is whole, or that another version has written. Takes no lock, so that it never waits for a
/// Squid or a tool.
/// \param error receives the reason unless ok or unsupported is returned
Status
probe(const std::string &path, Superblock &superblock, std::string &error)
{
    struct stat found;
    if (!checkPath(path, found, error))
        return Status::ioError;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        error = path + ": cannot open: " + strerror(errno);
        return Status::ioError;
    }
    auto result = Status::notOurs;
    std::string reason;
    for (unsigned copy = 0; copy < 2; ++copy) {
        std::string why;
        const auto status = readCopy(fd, copy, superblock, why);
        if (status == Status::ok || status == Status::unsupported) {
            result = status;
            break;
        }
        if (reason.empty() || status == Status::corrupt) {
            result = status;
            reason = why;
        }
    }
    close(fd);
    error = path + (result == Status::notOurs ? ": not a clusterfs device: " : ": ") + reason;
    return result;
}

int
runProbe(const Words &words)
{
    bool udev = false;
    Line line("probe");
    line.flag("udev", udev, "print NAME=VALUE lines, for IMPORT{program} in a rule of udev");
    if (!line.read(words))
        return exitFine;
    Superblock superblock;
    std::string error;
    const auto status = probe(line.path(), superblock, error);
    if (status != Status::ok && status != Status::unsupported) {
        complain(error);
        return status == Status::corrupt ? exitProblems : exitCannot;
    }
    const auto uuid = uuidText(superblock.uuid);
    if (udev) {
        printf("ID_FS_TYPE=clusterfs\nID_FS_USAGE=other\nID_FS_VERSION=%u\nID_FS_UUID=%s\nCLUSTERFS_UUID=%s\n", superblock.version,
               uuid.c_str(), uuid.c_str());
    } else {
        printf("%s: a clusterfs cache, format version %u, UUID %s\n", line.path().c_str(), superblock.version, uuid.c_str());
    }
    return exitFine;
}

} // namespace

extern const Command probeCommand = {
    "probe", &runProbe,
    "PATH [--udev]",
    "Says whether a device or file holds a clusterfs cache, also while Squid uses it. Reads\n"
    "8 KB at most, and changes nothing."
};

} // namespace ClusterFs::Cli

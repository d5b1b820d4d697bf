// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs grow. */

#include "Commands.h"
#include "Objects.h"

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/device/Preallocation.h"
#include "fs/cluster/recovery/Format.h"

#include <sys/stat.h>

#include <cinttypes>
#include <cstdio>

namespace ClusterFs::Cli {
namespace {

uint64_t
megabytes(const uint64_t bytes)
{
    return bytes >> 20;
}

/// lengthens a file that is too short; image keeps everybody else away
/// \param file remembers what it was
/// \returns false with the reason in error
bool
lengthen(const Image &image, const uint64_t bytes, Preallocation &file, std::string &error)
{
    struct stat found;
    if (lstat(image.path().c_str(), &found) != 0 || !S_ISREG(found.st_mode) || static_cast<uint64_t>(found.st_size) >= bytes)
        return true; // whoever grows the store says whether it fits
    return file.extend(image.path(), FileId(found), bytes, error);
}

/// \param before bytes that were used
int
describe(const std::string &path, const uint64_t before, const Geometry &g)
{
    if (g.deviceBytes == before) {
        printf("%s: uses %" PRIu64 " MB already, and there is no room for a further cluster\n", path.c_str(), megabytes(before));
        return exitFine;
    }
    printf("%s: grown from %" PRIu64 " to %" PRIu64 " MB: %u clusters of %u KB, planned for %" PRIu64 " objects\n", path.c_str(),
           megabytes(before), megabytes(g.deviceBytes), g.clusterCount, g.clusterBytes / 1024, g.objectsExpected);
    return exitFine;
}

int
runGrow(const Words &words)
{
    std::string size, error;
    Line line("grow");
    line.text("size", size, "MB", "use that much of it; a file is made longer for it.\nDefault: all there is");
    if (!line.read(words))
        return exitFine;
    const uint64_t bytes = size.empty() ? 0 : Tools::wholeFrom("--size", size, smallestDevice >> 20, uint64_t(1) << 40) << 20;

    auto image = openOurs(line.path(), true);
    Superblock superblock;
    if (!image)
        return exitCannot;
    auto status = image->choose(superblock, error);
    const auto before = superblock.geometry.deviceBytes;
    auto wanted = superblock.geometry;
    if (status != Status::ok || (bytes && !wanted.grow(bytes, error))) {
        complain(line.path() + ": " + error);
        return exitCannot;
    }
    Preallocation file;
    if (bytes && !lengthen(*image, bytes, file, error)) {
        complain(error);
        return exitCannot;
    }
    image.reset(); // a device knows the size that it was opened with
    image = openOurs(line.path(), true);
    if (!image)
        return exitCannot; // somebody else has it now, and may use what is longer
    status = growDevice(image->device(), superblock, error, bytes);
    if (status == Status::ok)
        return describe(line.path(), before, superblock.geometry);
    complain(line.path() + ": " + error);
    // after any other failure, a superblock may say already that the file is longer
    if (status == Status::unsupported && !file.undo())
        complain(line.path() + ": the file stays longer than it was");
    return exitCannot;
}

} // namespace

extern const Command growCommand = {
    "grow", &runGrow,
    "PATH [--size=MB]",
    "Lets a cache use more of its device, which has become larger. What it holds stays."
};

} // namespace ClusterFs::Cli

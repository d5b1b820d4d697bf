// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a device may be taken: its content, and who uses it. */

#include "fs/cluster/device/DeviceCheck.h"

#include "fs/cluster/base/Descriptor.h"
#include "fs/cluster/device/DeviceInUse.h"
#include "fs/cluster/device/Disk.h"
#include "fs/cluster/device/PathCheck.h"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace ClusterFs {

namespace {

constexpr uint64_t mebibyte = 1 << 20;
const char wayOut[] = "; if nothing on it is needed, wipe it with wipefs -a, or format with clusterfs format --force";

/// fills the buffer; \returns false on errors, with errno
bool
readFully(const int fd, const uint64_t offset, char *const buffer, const size_t size)
{
    size_t done = 0;
    while (done < size) {
        const auto result = pread(fd, buffer + done, size - done, static_cast<off_t>(offset + done));
        if (result < 0 && errno == EINTR)
            continue;
        if (result == 0)
            errno = EIO;
        if (result <= 0)
            return false;
        done += static_cast<size_t>(result);
    }
    return true;
}

/// \param found receives whether a superblock of ours begins there
/// \returns false on errors, with errno
bool
hasMagic(const int fd, const uint64_t offset, bool &found)
{
    static const char magic[] = "clusterfs device"; // as in layout/Superblock.h
    char bytes[sizeof(magic) - 1];
    if (!readFully(fd, offset, bytes, sizeof(bytes)))
        return false;
    found = memcmp(bytes, magic, sizeof(bytes)) == 0;
    return true;
}

/// Looks at both ends and at samples between them: a sparsely filled database
/// of somebody else may have empty ends.
/// \param blank receives whether all that was read is zeros
/// \returns false on errors, with errno
bool
isBlank(const int fd, const uint64_t size, bool &blank)
{
    constexpr uint64_t samples = 64;
    constexpr size_t sampleSize = 4096;
    std::vector<char> buffer(mebibyte);
    const auto zeros = [&](const uint64_t offset, const size_t length) {
        if (!readFully(fd, offset, buffer.data(), length))
            return false;
        blank = blank && std::all_of(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(length), [](const char c) { return c == 0; });
        return true;
    };

    blank = true;
    const auto end = std::min(size, mebibyte);
    bool readable = zeros(0, end) && zeros(size - end, end);
    for (uint64_t i = 1; readable && blank && size > 2 * end && i < samples; ++i)
        readable = zeros(size / samples * i, sampleSize);
    return readable;
}

/// a value that libblkid found, or an empty text
std::string
probed(const blkid_probe probe, const char *name)
{
    const char *value = nullptr;
    if (blkid_probe_lookup_value(probe, name, &value, nullptr) != 0 || !value)
        return std::string();
    return value;
}

/// words for the results of libblkid
std::string
describe(const blkid_probe probe)
{
    const auto type = probed(probe, "TYPE");
    const auto table = probed(probe, "PTTYPE");
    if (type.empty())
        return "a partition table (" + (table.empty() ? "unknown kind" : table) + ")";

    const auto usage = probed(probe, "USAGE");
    std::string text;
    if (type == "swap" || type == "swsuspend")
        text = "swap space";
    else if (usage == "filesystem")
        text = "a file system (" + type + ")";
    else if (usage == "raid")
        text = "a part of a RAID or LVM volume (" + type + ")";
    else if (usage == "crypto")
        text = "an encrypted volume (" + type + ")";
    else
        text = "data of the kind " + type;

    const auto label = probed(probe, "LABEL");
    if (!label.empty())
        text += " labelled '" + label + "'";
    if (!table.empty())
        text += " and a partition table (" + table + ")";
    return text;
}

/// asks libblkid about the content of a device
/// \param found receives words for it, empty when libblkid knows nothing
/// \returns false on errors
bool
findForeign(const int fd, std::string &found)
{
    const std::unique_ptr<std::remove_pointer<blkid_probe>::type, decltype(&blkid_free_probe)>
    probe(blkid_new_probe(), &blkid_free_probe);
    if (!probe || blkid_probe_set_device(probe.get(), fd, 0, 0) != 0)
        return false;

    blkid_probe_enable_superblocks(probe.get(), 1);
    // a superblock with a wrong checksum is still somebody's superblock
    blkid_probe_set_superblocks_flags(probe.get(), BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE | BLKID_SUBLKS_LABEL | BLKID_SUBLKS_BADCSUM);
    blkid_probe_enable_partitions(probe.get(), 1);

    const int result = blkid_do_safeprobe(probe.get());
    if (result == 0)
        found = describe(probe.get());
    else if (result == -2)
        found = "several file systems or partition tables at once";
    else
        found.clear();
    return result >= 0 || result == -2;
}

/// words for a directory, since administrators are used to give one to ufs
std::string
directoryReason(const std::string &path)
{
    struct stat inside;
    std::string signs;
    for (const char *name: {"00", "swap.state"}) {
        if (stat((path + "/" + name).c_str(), &inside) == 0)
            signs += std::string(signs.empty() ? "" : " and ") + name;
    }
    auto text = path + " is a directory";
    if (!signs.empty())
        text += " and looks like a ufs cache (it has " + signs + ")";
    return text + "; give a block device or a regular file";
}

Verdict
refusal(const std::string &reason, const bool forceable)
{
    Verdict verdict;
    verdict.forceable = forceable;
    verdict.reason = reason;
    return verdict;
}

/// judges the bytes of a device that nobody uses
Verdict
examineContent(const std::string &path, const int fd, const uint64_t size)
{
    bool first = false;
    bool second = false;
    bool blank = false;
    errno = 0;
    std::string foreign;
    if (!hasMagic(fd, 0, first) || !hasMagic(fd, mebibyte, second) || !isBlank(fd, size, blank) || !findForeign(fd, foreign))
        return refusal(path + ": cannot read it: " + strerror(errno ? errno : EIO) + "; check the disk and its cable", false);

    const bool magic = first || second;
    if (!foreign.empty())
        return refusal(path + " holds " + foreign + (magic ? ", besides an older clusterfs superblock" : "") + wayOut, true);
    if (!magic && !blank)
        return refusal(path + " holds data that is not a clusterfs cache; if it is not needed, format with clusterfs format --force", true);

    Verdict verdict;
    verdict.ours = magic;
    verdict.blank = blank && !magic;
    verdict.usable = true;
    verdict.forceable = true;
    verdict.reason = path + (magic ? " is a clusterfs device" : " is blank");
    return verdict;
}

} // namespace

Verdict
examine(const std::string &path, const std::string &root)
{
    struct stat found;
    std::string error;
    if (!checkPath(path, found, error)) {
        struct stat name;
        if (lstat(path.c_str(), &name) == 0 && S_ISDIR(name.st_mode))
            error = directoryReason(path);
        return refusal(error, false);
    }

    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0)
        return refusal(path + ": cannot open: " + strerror(errno) + "; it must be readable for this user", false);

    struct stat opened;
    const auto end = lseek(file.get(), 0, SEEK_END);
    if (end < 0 || fstat(file.get(), &opened) != 0)
        return refusal(path + ": cannot find out its size: " + strerror(errno), false);
    if (FileId(opened) != FileId(found))
        return refusal(path + ": replaced by something else while it was examined; try again", false);

    std::string unknown;
    const auto usage = findUsage(opened, root, &unknown);
    if (!usage.empty())
        return refusal(path + " " + usage + "; end that use first, or give another device", false);

    const auto size = static_cast<uint64_t>(end);
    if (!unknown.empty())
        return refusal(path + ": cannot find out who uses it: " + unknown + "; this user must be able to read that (look at AppArmor's profile)", false);

    Disk disk;
    if (!lookAt(path, opened, disk, error, root) || !suits(path, disk, error))
        return refusal(error, false);

    Verdict verdict;
    if (size < smallestDevice) {
        verdict = refusal(path + " has " + std::to_string(size) + " bytes; at least " + std::to_string(smallestDevice) + " are needed", false);
        verdict.blank = isBlank(file.get(), size, verdict.blank) && verdict.blank;
    } else {
        verdict = examineContent(path, file.get(), size);
    }
    verdict.file = S_ISREG(opened.st_mode);
    verdict.bytes = size;
    verdict.id = FileId(opened);
    return verdict;
}

} // namespace ClusterFs

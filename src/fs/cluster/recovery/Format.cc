// SPDX-License-Identifier: GPL-2.0-or-later
/* Making an empty store. */

#include "fs/cluster/recovery/Format.h"

#include "fs/cluster/api/Config.h"
#include "fs/cluster/recovery/SuperblockFile.h"

#include <cstring>
#include <random>

namespace ClusterFs {
namespace {
constexpr unsigned formatMilliseconds = 60000; ///< to wait for each request

/// whether a device has as many bytes as are to be used
bool
hasRoom(const Device &device, const uint64_t bytes, std::string &error)
{
    if (bytes <= device.size())
        return true;
    error = "the device has " + std::to_string(device.size()) + " bytes, fewer than the " + std::to_string(bytes) + " asked for";
    return false;
}
} // namespace
} // namespace ClusterFs

ClusterFs::Status
ClusterFs::formatDevice(Device &device, const Config &config, const uint64_t seed, std::string &error, const uint64_t bytes)
{
    if (!config.validate(error) || !blocksSuit(device, error))
        return Status::unsupported;
    if (!hasRoom(device, bytes, error))
        return Status::unsupported;
    Superblock superblock;
    std::mt19937_64 random(seed);
    for (auto &b: superblock.uuid)
        b = static_cast<uint8_t>(random());
    superblock.uuid[6] = (superblock.uuid[6] & 0x0f) | 0x40; // RFC 4122: random
    superblock.uuid[8] = (superblock.uuid[8] & 0x3f) | 0x80;
    superblock.clean = true;
    const auto objectKb = config.objectKb ? config.objectKb : Config::usualObjectKb;
    if (!superblock.geometry.plan(bytes ? bytes : device.size(), config.clusterBytes(), objectKb * 1024, error))
        return Status::unsupported;
    superblock.startLog();
    for (auto &word: superblock.secret)
        word = random();

    // all of it, used or not: what is never written again is spare room for an SSD
    device.discardAll();

    // no former content may be taken for ours, nor for somebody else's: file systems have superblocks at both ends
    const auto zeros = std::make_shared<Buffer>(superblockSpacing);
    memset(zeros->data(), 0, zeros->size());
    auto status = Status::ok;
    for (const auto at: {uint64_t(0), superblockSpacing, device.size() - superblockSpacing}) {
        if (status == Status::ok)
            status = doAndWait(device, IoOp::write, at, zeros, superblockSpacing, formatMilliseconds);
    }
    for (const auto start: superblock.geometry.journalStart) {
        if (status == Status::ok)
            status = doAndWait(device, IoOp::write, start, zeros, journalBlockBytes, formatMilliseconds);
    }
    for (int copy = 0; copy < 2 && status == Status::ok; ++copy) {
        ++superblock.update;
        superblock.encode(zeros->data());
        status = doAndWait(device, IoOp::write, superblockOffset(superblock.update), zeros, superblockBytes, formatMilliseconds);
    }
    if (status == Status::ok)
        status = doAndWait(device, IoOp::flush, 0, nullptr, 0, formatMilliseconds);
    if (status != Status::ok) {
        error = std::string("writing the superblock failed: ") + statusText(status);
        return status;
    }
    // a disk that drops writes without an error would show the former store at the next start
    for (auto update = superblock.update - 1; update <= superblock.update && status == Status::ok; ++update) {
        status = doAndWait(device, IoOp::read, superblockOffset(update), zeros, superblockBytes, formatMilliseconds);
        Superblock kept;
        if (status == Status::ok)
            status = kept.decode(zeros->data(), error);
        if (status == Status::ok && (kept.update != update || kept.uuid != superblock.uuid))
            status = Status::corrupt;
    }
    if (status != Status::ok)
        error = std::string("the superblock can't be read back: ") + statusText(status);
    return status;
}

ClusterFs::Status
ClusterFs::growDevice(Device &device, Superblock &superblock, std::string &error, uint64_t bytes)
{
    auto status = readSuperblock(device, superblock, error);
    if (status != Status::ok)
        return status;
    if (superblock.version < indexLogVersion) {
        error = "its format of version " + std::to_string(superblock.version) + " is too old to grow: start Squid with it once, and stop it";
        return Status::unsupported;
    }
    bytes = bytes ? bytes : device.size();
    if (!hasRoom(device, bytes, error))
        return Status::unsupported;
    auto larger = superblock.geometry;
    if (!larger.grow(bytes, error))
        return Status::unsupported;
    if (larger.clusterCount == superblock.geometry.clusterCount)
        return Status::ok; // not even a cluster more
    superblock.geometry = larger;
    superblock.version = formatVersion;
    // The other copy says the former size until both are written. A start takes the newer one.
    const auto buffer = std::make_shared<Buffer>(superblockBytes);
    for (int copy = 0; copy < 2 && status == Status::ok; ++copy) {
        ++superblock.update;
        superblock.encode(buffer->data());
        status = doAndWait(device, IoOp::write, superblockOffset(superblock.update), buffer, superblockBytes, formatMilliseconds);
        if (status == Status::ok)
            status = doAndWait(device, IoOp::flush, 0, nullptr, 0, formatMilliseconds);
    }
    if (status != Status::ok)
        error = std::string("writing the superblock failed: ") + statusText(status);
    return status;
}

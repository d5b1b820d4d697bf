// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening a store. */

#include "fs/cluster/engine/Open.h"

#include "fs/cluster/base/Messages.h"
#include "fs/cluster/engine/LocalEngine.h"
#include "fs/cluster/recovery/SuperblockFile.h"

#include <new>
#include <random>

namespace ClusterFs {
namespace {
constexpr uint64_t indexBytesExpected = 40; ///< bytes for each object, as measured; see docs/benchmarks.md
} // namespace
} // namespace ClusterFs

ClusterFs::Status
ClusterFs::openEngine(Device &device, const Clock &clock, const Config &configured, const Log &log,
                      std::unique_ptr<Engine> &engine, std::string &error)
{
    engine.reset();
    auto config = configured;
    if (!config.validate(error))
        return Status::unsupported;
    Superblock superblock;
    const auto status = readSuperblock(device, superblock, error);
    if (status != Status::ok)
        return status;
    if (superblock.geometry.clusterBytes % device.alignment()) {
        error = messageText<Message::blocksUnsuited>(superblock.geometry.clusterBytes, device.alignment());
        return Status::unsupported;
    }
    if (superblock.version < indexLogVersion) {
        std::random_device random;
        for (auto &word: superblock.secret)
            word = uint64_t(random()) << 32 | random();
    }
    if (config.clusterBytes() != superblock.geometry.clusterBytes) {
        say<Message::clusterSizeStays>(log, superblock.geometry.clusterBytes / 1024, config.clusterKb);
        config.clusterKb = superblock.geometry.clusterBytes / 1024;
        config.suitOthers();
    }
    try {
        engine = std::make_unique<LocalEngine>(device, clock, config, log, superblock);
    } catch (const std::bad_alloc &) {
        const auto objects = superblock.geometry.objectsExpected;
        error = messageText<Message::noMemory>(objects, objects * indexBytesExpected >> 20);
        return Status::unsupported;
    }
    return Status::ok;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening a store. */

#include "fs/cluster/engine/Open.h"

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
        error = "clusters of " + std::to_string(superblock.geometry.clusterBytes) +
                " bytes do not suit a device with blocks of " + std::to_string(device.alignment());
        return Status::unsupported;
    }
    if (superblock.version < indexLogVersion) {
        std::random_device random;
        for (auto &word: superblock.secret)
            word = uint64_t(random()) << 32 | random();
    }
        if (config.clusterBytes() != superblock.geometry.clusterBytes) {
        log(LogLevel::warning, "formatted with cluster-size=" + std::to_string(superblock.geometry.clusterBytes / 1024) +
             ", which stays in force until it is formatted anew (configured: " + std::to_string(config.clusterKb) + ")");
        config.clusterKb = superblock.geometry.clusterBytes / 1024;
        config.suitClusters();
    }
    try {
        engine = std::make_unique<LocalEngine>(device, clock, config, log, superblock);
    } catch (const std::bad_alloc &) {
        error = "there is not enough memory for an index of " + std::to_string(superblock.geometry.objectsExpected) +
                " objects, " + std::to_string(superblock.geometry.objectsExpected * indexBytesExpected >> 20) +
                " MB: raise the limit of the process";
        return Status::unsupported;
    }
    return Status::ok;
}

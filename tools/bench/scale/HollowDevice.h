// SPDX-License-Identifier: GPL-2.0-or-later
/* A disk of terabytes in a file of gigabytes. */

#ifndef CLUSTERFS_BENCH_SCALE_HOLLOWDEVICE_H
#define CLUSTERFS_BENCH_SCALE_HOLLOWDEVICE_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/device/AioDevice.h"
#include "tools/bench/scale/Corpus.h"

#include <vector>

namespace ScaleBench {

/// Keeps in a sparse file what the engine writes of superblocks, index log, groups and journal,
/// as it is, and of clusters their headers and directories. The objects' bytes it makes
/// again when they are read, from their keys, with the checksums that they had. What
/// it does for that happens in wait(), so that no call of the engine is charged for it.
/// Clusters behind the first gigabytes have less room in the file than on the disk, so
/// that file systems with a limit of 16 TB will do. It takes no large objects.
class HollowDevice final : public ClusterFs::Device
{
public:
    /// \param file with all of FileBytes(); must outlive this
    /// \param corpus what was there before anything was written; must outlive this
    HollowDevice(const ClusterFs::Clock &, ClusterFs::AioDevice &file, const Corpus &corpus);
    ~HollowDevice() override;

    void wait(unsigned milliseconds) override;

    /// \returns how long a file must be for a device that is divided like this
    static uint64_t FileBytes(const ClusterFs::Geometry &);

private:
    bool start(Request *) override;
    void reap() override;
    void wake() override { awake_ = true; }

    void pass(Request *, uint32_t size);
    void readFront(Request *, uint32_t size);
    void make(Request &, const char *front, uint32_t size) const;
    uint64_t inFile(uint64_t offset) const;

    /// a read of a cluster whose front has come
    struct Fronted {
        Request *request;
        ClusterFs::BufferPointer front;
        uint32_t size;
    };

    ClusterFs::AioDevice &file_;
    const Corpus &corpus_;
    std::vector<Fronted> fronted_; ///< whose bytes are to be made
    std::vector<Request *> made_; ///< to be answered
    bool awake_ = false;
};

} // namespace ScaleBench

#endif

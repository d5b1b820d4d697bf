// SPDX-License-Identifier: GPL-2.0-or-later
/* A loop device over the file "disk". */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_SERVE_LOOPDEVICE_H
#define CLUSTERFS_TOOLS_DISKMODEL_SERVE_LOOPDEVICE_H

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace DiskModel {

/// Makes a block device of a file. The kernel detaches it when nobody has it
/// open any more, and this object keeps it open: however this process ends, the
/// loop device does not stay.
class LoopDevice
{
public:
    /// \param sector bytes of a logical block
    /// \throws BadRequest
    LoopDevice(const std::string &file, unsigned sector);
    ~LoopDevice();
    LoopDevice(const LoopDevice &) = delete;
    LoopDevice &operator=(const LoopDevice &) = delete;

    const std::string &path() const { return path_; } ///< as "/dev/loop3"

    /// Sets a value of the device's queue, until the end. \throws BadRequest
    void setQueue(const std::string &name, const std::string &value);
    /// whether that scheduler can be chosen
    bool hasScheduler(const std::string &) const;

    /// Unmounts file systems on the device, at once or as soon as nobody uses
    /// them. \returns their folders
    std::vector<std::string> unmountAll() const;

    /// puts the queue's values back and lets go of the device
    void release();
    bool gone() const; ///< whether the kernel has detached it

private:
    bool attach(int control, int file, unsigned sector);
    std::string queueFile(const std::string &name) const;

    const std::string file_;
    std::string path_;
    std::string name_; ///< as "loop3"
    int fd_ = -1;
    std::vector<std::pair<std::string, std::string>> before_; ///< of the queue's values
};

} // namespace DiskModel

#endif

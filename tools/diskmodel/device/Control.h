// SPDX-License-Identifier: GPL-2.0-or-later
/* What can be said to a running disk. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_DEVICE_CONTROL_H
#define CLUSTERFS_TOOLS_DISKMODEL_DEVICE_CONTROL_H

#include "tools/diskmodel/device/Disk.h"

namespace DiskModel {

/// Commands in lines of text, for the file "ctl".
class Control
{
public:
    explicit Control(Disk &disk): disk_(disk) {}

    /// Obeys the lines one after the other, up to the first that is wrong.
    /// \returns whether all of them were right; result() says more
    bool obey(const std::string &lines);

    /// "ok", or what was wrong with the last commands
    const std::string &result() const { return result_; }

    static const char *Help();
    static constexpr size_t maxBytes = 4096; ///< of lines at once

private:
    void obeyOne(const std::string &line);

    Disk &disk_;
    std::string result_ = "ok";
};

} // namespace DiskModel

#endif

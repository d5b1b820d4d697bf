// SPDX-License-Identifier: GPL-2.0-or-later
/* A device in memory, for tests and simulation. */

#ifndef SQUID_TOOLS_MODELS_MEMORYDEVICE_H
#define SQUID_TOOLS_MODELS_MEMORYDEVICE_H

#include "fs/cluster/device/Device.h"

#include <vector>

namespace ClusterFs {

/// Bytes in memory that read as zeros at first. Large sizes are fine: only
/// pages that were written take memory. A request is relocated out by the poll()
/// that answers it.
class MemoryDevice : public Device
{
public:
    /// \param size in bytes, rounded down to a multiple of the alignment
    /// \throws std::system_error when there is not enough address space
    MemoryDevice(const Clock &, uint64_t size, uint32_t alignment = 4096, unsigned depth = 32);
    ~MemoryDevice() override;

    void wait(unsigned) override {} ///< an answer never takes time

    char *data() { return data_; } ///< all bytes of the device
    const char *data() const { return data_; }

protected:
    /// does what a request asks for, before it is answered
    virtual void carryOut(const Io &);

private:
    bool start(Request *) override;
    void reap() override;

    char *data_ = nullptr; ///< size() bytes, mapped
    std::vector<Request *> started_;
};

} // namespace ClusterFs

#endif

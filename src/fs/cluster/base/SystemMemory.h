// SPDX-License-Identifier: GPL-2.0-or-later
/* How much memory this process may still take. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_SYSTEMMEMORY_H
#define SQUID_SRC_FS_CLUSTER_BASE_SYSTEMMEMORY_H

#include <cstdint>
#include <string>
#include <vector>

namespace ClusterFs {

/// Memory that several processes share: a machine's, or that of a control group.
struct MemoryRoom {
    uint64_t free = 0; ///< bytes that are free, or that the kernel can free at once
    uint64_t all = 0; ///< bytes; 0 = nothing is known

    /// Bytes that should stay free: with less, the kernel may soon have to end a process.
    uint64_t spare() const;
    /// whether this is closer to its end than another one
    bool scarcerThan(const MemoryRoom &) const;
};

/// Asks the kernel, ten times a second, how much memory there is for this process: on the machine, and in each control group
/// (version 1 or 2) that it belongs to. A look reads one small file of the machine, and three of each group with a limit.
class SystemMemory
{
public:
    /// finds the control groups
    /// \param root where the folders proc and sys are, without a slash at its end; empty but for tests
    explicit SystemMemory(const std::string &root = std::string());

    /// \param now Clock::micros()
    /// \param room receives the scarcest
    /// \returns whether it is time for another look, and something is known
    bool look(uint64_t now, MemoryRoom &room);

    MemoryRoom ofMachine() const; ///< whatever the control groups may have

private:
    MemoryRoom ofGroup(const std::string &folder) const;

    std::string root_;
    std::vector<std::string> groups_; ///< folders, with a slash at their ends
    bool first_ = true; ///< version 1 of control groups
    uint64_t next_ = 0; ///< the time of the next look, Clock::micros()
};

} // namespace ClusterFs

#endif

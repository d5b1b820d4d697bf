// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the bytes of the modelled disk are kept. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_DEVICE_STORE_H
#define CLUSTERFS_TOOLS_DISKMODEL_DEVICE_STORE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace DiskModel {

/// A sparse file: without a name, so that it ends with the program, or a named
/// one that stays. Blocks that were never written take no memory, also when read.
class Store
{
public:
    /// \param folder where the nameless file goes
    /// \param overcommit does not insist on room for all of it
    /// \throws BadRequest with what is in the way
    static std::unique_ptr<Store> Nameless(const std::string &folder, uint64_t size, bool overcommit);

    /// a file of that name, made if there is none \throws BadRequest
    static std::unique_ptr<Store> Named(const std::string &path, uint64_t size, bool overcommit);

    ~Store();
    Store(const Store &) = delete;
    Store &operator=(const Store &) = delete;

    uint64_t size() const { return size_; }
    bool blank() const { return blank_; } ///< nothing was in it at the start

    /// the bytes of a range of at most maxRead, until the next call
    const char *read(uint64_t offset, uint64_t size);
    static constexpr uint64_t maxRead = 1 << 20;

    /// \returns 0 or an errno
    int write(uint64_t offset, uint64_t size, const char *data);

    /// frees a range, which then reads as zeros \returns 0 or an errno
    int discard(uint64_t offset, uint64_t size);

    uint64_t usedBytes() const; ///< of memory or disk space

private:
    Store(int fd, uint64_t size);

    void noteExisting();
    bool allUsed(uint64_t offset, uint64_t size) const;
    void mark(uint64_t offset, uint64_t size, bool used);

    const int fd_;
    const uint64_t size_;
    char *map_ = nullptr;
    bool blank_ = true;
    std::vector<bool> used_; ///< chunks that were written
    std::vector<char> scratch_; ///< what read() puts together
};

} // namespace DiskModel

#endif

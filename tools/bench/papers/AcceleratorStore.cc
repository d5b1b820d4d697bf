// SPDX-License-Identifier: GPL-2.0-or-later
/* TFS as a store of the experiments: files, and an accelerator in front of them. */

#include "AcceleratorStore.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace Papers {
namespace {

constexpr unsigned storePercent = 40; ///< of the file system, for the store
constexpr uint64_t pathBytes = 270; ///< of memory, for the status of a path
constexpr uint64_t trustedSeconds = 3600; ///< TFS never looked again

uint64_t
storeBytes(const std::string &folder)
{
    struct statvfs found;
    if (statvfs(folder.c_str(), &found) != 0)
        return 0;
    return uint64_t(found.f_bavail) * found.f_frsize / 100 * storePercent >> 20 << 20;
}

StoreOrder
below(StoreOrder order)
{
    order.path += "/files";
    return order;
}

} // namespace

AcceleratorStore::AcceleratorStore(const StoreOrder &order, const Content &content, DropCaches dropCaches):
    LibraryStore(order, content, order.path + "/store", storeBytes(order.path)),
    dropCaches_(std::move(dropCaches))
{
}

AcceleratorStore::~AcceleratorStore()
{
    clusterfs_accelerator_free(accelerator_);
}

bool
AcceleratorStore::start(std::string &error)
{
    const auto folder = order().path + "/files";
    if (!plan(order().hints ? std::max(1U, static_cast<unsigned>(order().memory >> 24)) : 0, order().objects * pathBytes, error))
        return false;
    if (mkdir(folder.c_str(), 0700) != 0) {
        error = folder + ": cannot make this folder: " + strerror(errno);
        return false;
    }
    if (!format(error))
        return false;
    files_ = FileStore::Open(below(order()), content(), std::move(dropCaches_), error);
    return files_ && open(error);
}

bool
AcceleratorStore::open(std::string &error)
{
    if (!LibraryStore::open(error))
        return false;
    clusterfs_accelerator_settings settings = CLUSTERFS_ACCELERATOR;
    settings.settled = 0; // nobody maps these files
    settings.trusted = trustedSeconds;
    settings.paths = order().objects;
    const auto folder = order().path + "/files";
    const int result = clusterfs_accelerator_new(store_, folder.c_str(), &settings, &accelerator_);
    if (result == 0)
        return true;
    error = folder + ": no accelerator: " + clusterfs_strerror(result);
    return false;
}

bool
AcceleratorStore::close(std::string &error)
{
    clusterfs_accelerator_free(accelerator_);
    accelerator_ = nullptr;
    return LibraryStore::close(error);
}

Outcome
AcceleratorStore::create(const Item &item, const Hint &hint)
{
    return files_->create(item, hint);
}

Outcome
AcceleratorStore::read(const Item &item, const Hint &hint, uint32_t &version)
{
    std::string path;
    if (!files_->find(item.id, path))
        return Outcome::missing;
    const auto client = order().hints && hint.client != Hint::none ? scattered(hint.client) | 1 : 0;
    clusterfs_file *file = nullptr;
    int64_t result = clusterfs_file_open(accelerator_, path.c_str(), client, &file);
    if (result < 0)
        return Outcome::bad;
    const auto size = static_cast<uint64_t>(clusterfs_file_status(file)->st_size);
    auto *const bytes = scratch(item.size);
    result = clusterfs_file_read(file, 0, bytes, item.size);
    clusterfs_file_close(file);
    return result == item.size ? check(item, bytes, size, version) : Outcome::bad;
}

Outcome
AcceleratorStore::remove(const uint32_t id)
{
    return files_->remove(id);
}

bool
AcceleratorStore::sync(std::string &error)
{
    return files_->sync(error) && LibraryStore::sync(error);
}

bool
AcceleratorStore::dropMemory(std::string &error)
{
    // the store is a file of the file system that is unmounted
    return close(error) && files_->dropMemory(error) && open(error);
}

uint64_t
AcceleratorStore::memoryToCome() const
{
    // The files below go through the page cache, which would take whatever there is. The store's buffers cost more than they
    // hold: by 6 MB for 16.
    constexpr uint64_t buffers = 8 << 20;
    return order().memory + order().threads * threadBytes + buffers;
}

Json
AcceleratorStore::describe() const
{
    auto json = LibraryStore::describe();
    clusterfs_accelerator_counts counts;
    if (clusterfs_accelerator_count(accelerator_, &counts, sizeof(counts)) == 0) {
        json["accelerator"] = {
            {"opened", counts.opened}, {"stored", counts.stored}, {"copied", counts.copied}, {"failed", counts.failed},
            {"lost", counts.lost}, {"bytesStored", counts.bytes_stored}, {"bytesFolder", counts.bytes_folder}
        };
    }
    return json;
}

} // namespace Papers

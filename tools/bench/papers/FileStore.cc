// SPDX-License-Identifier: GPL-2.0-or-later
/* A folder of files as a store. */

#include "FileStore.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace Papers {
namespace {

constexpr unsigned highWater = 95; ///< percent of the room; Squid's cache_swap_high
constexpr unsigned lowWater = 90; ///< Squid's cache_swap_low
constexpr unsigned fullPercent = 98; ///< the file system needs some space itself
constexpr unsigned maxEvictions = 64; ///< for one creation, when there is no space at all

std::vector<char> &
pieceBuffer()
{
    static thread_local std::vector<char> buffer(pieceBytes);
    return buffer;
}

bool
explain(std::string &error, const std::string &what)
{
    error = what + ": " + strerror(errno);
    return false;
}

} // namespace

FileStore::Name::Name(const uint32_t number)
{
    snprintf(text, sizeof(text), "%02X/%02X/%08X", number / secondLevel / secondLevel % firstLevel,
             number / secondLevel % secondLevel, number);
}

FileStore::FileStore(const StoreOrder &order, const Content &content, DropCaches dropCaches):
    order_(order),
    content_(content),
    dropCaches_(std::move(dropCaches)),
    table_(order.objects)
{
}

FileStore::~FileStore()
{
    if (folder_ >= 0)
        close(folder_);
}

std::unique_ptr<FileStore>
FileStore::Open(const StoreOrder &order, const Content &content, DropCaches dropCaches, std::string &error)
{
    if (order.ownMemory > order.memory) {
        error = "the memory cache cannot be larger than all memory";
        return nullptr;
    }
    std::unique_ptr<FileStore> store(new FileStore(order, content, std::move(dropCaches)));
    if (!store->openFolder(error) || !store->makeFolders(error) || !store->measureSpace(error))
        return nullptr;
    return store;
}

bool
FileStore::openFolder(std::string &error)
{
    folder_ = open(order_.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder_ >= 0 || explain(error, order_.path + ": cannot open this folder");
}

/// in a folder that is empty but for what mkfs leaves there
bool
FileStore::makeFolders(std::string &error)
{
    DIR *const listing = opendir(order_.path.c_str());
    if (!listing)
        return explain(error, order_.path + ": cannot list this folder");
    std::string other;
    while (const auto *entry = readdir(listing)) {
        const std::string name = entry->d_name;
        if (name != "." && name != ".." && name != "lost+found")
            other = name;
    }
    closedir(listing);
    if (!other.empty()) {
        error = order_.path + ": is not empty (there is " + other + "); give a folder of a new file system, or an empty one";
        return false;
    }
    for (unsigned i = 0; i < firstLevel; ++i) {
        char name[16];
        snprintf(name, sizeof(name), "%02X", i);
        if (mkdirat(folder_, name, 0700) != 0)
            return explain(error, order_.path + "/" + name + ": cannot make this folder");
        for (unsigned k = 0; k < secondLevel; ++k) {
            snprintf(name, sizeof(name), "%02X/%02X", i, k);
            if (mkdirat(folder_, name, 0700) != 0)
                return explain(error, order_.path + "/" + name + ": cannot make this folder");
        }
    }
    return true;
}

bool
FileStore::measureSpace(std::string &error)
{
    struct statvfs found;
    if (syncfs(folder_) != 0 || fstatvfs(folder_, &found) != 0)
        return explain(error, order_.path + ": cannot tell its free space");
    blockBytes_ = static_cast<uint32_t>(std::max<unsigned long>(512, found.f_frsize));
    bytesMost_ = uint64_t(found.f_bavail) * found.f_frsize;
    filesMost_ = found.f_files ? found.f_favail : UINT32_MAX; // without a fixed number of inodes
    return true;
}

bool
FileStore::isOver(const uint64_t bytes, const unsigned percent)
{
    const Lock lock(mutex_);
    return (table_.bytes() + bytes) * 100 > bytesMost_ * percent || (table_.files() + 1) * uint64_t(100) > filesMost_ * percent;
}

/// deletes the file of a present object that nobody is about to open
void
FileStore::erase(Lock &lock, const uint32_t id)
{
    const Name name(table_[id].number);
    table_.leave(id);
    lock.unlock();
    (void)unlinkat(folder_, name.text, 0);
    lock.lock();
    table_.forget(id); // only now: the number must not go to another file earlier
    changed_.notify_all();
}

/// deletes the least recently used file. \returns whether there was one
bool
FileStore::evictOne()
{
    Lock lock(mutex_);
    const auto id = table_.victim();
    if (id == Tools::Recency::none)
        return false;
    erase(lock, id);
    ++evicted_;
    return true;
}

/// prepares the table for a new file. \returns its number
uint32_t
FileStore::begin(const uint32_t id, const uint32_t bytes)
{
    Lock lock(mutex_);
    const auto &entry = table_[id];
    changed_.wait(lock, [&] { return entry.state != FileTable::State::leaving && !entry.pins; });
    if (entry.state == FileTable::State::present)
        erase(lock, id);
    table_.begin(id, bytes);
    return entry.number;
}

void
FileStore::end(const uint32_t id, const bool stored)
{
    const Lock lock(mutex_);
    if (stored)
        table_.complete(id);
    else
        table_.forget(id);
    changed_.notify_all();
}

/// \returns an errno value, 0 on success; then there is no such file
int
FileStore::write(const Item &item, const Name &name) const
{
    auto &buffer = pieceBuffer();
    const int fd = openat(folder_, name.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    int errnum = 0;
    for (uint64_t at = 0; at < item.size && !errnum;) {
        const auto n = std::min<uint64_t>(item.size - at, buffer.size());
        content_.fill(item, at, buffer.data(), n);
        const auto written = ::write(fd, buffer.data(), n);
        if (written < 0)
            errnum = errno;
        else
            at += static_cast<uint64_t>(written);
    }
    if (close(fd) != 0 && !errnum)
        errnum = errno;
    if (errnum)
        (void)unlinkat(folder_, name.text, 0);
    return errnum;
}

Outcome
FileStore::create(const Item &item, const Hint &)
{
    const auto bytes = (uint64_t(item.size) + blockBytes_ - 1) / blockBytes_ * blockBytes_;
    if (bytes * 100 > bytesMost_ * highWater)
        return Outcome::refused;
    // idle() keeps below the marks; this is for when it was not called in time
    for (unsigned i = 0; isOver(bytes, fullPercent) && i < maxEvictions; ++i) {
        if (!evictOne())
            break;
    }
    const Name name(begin(item.id, static_cast<uint32_t>(bytes)));
    int errnum = write(item, name);
    for (unsigned i = 0; errnum == ENOSPC && i < maxEvictions; ++i) {
        ++full_;
        if (!evictOne())
            break;
        errnum = write(item, name);
    }
    end(item.id, !errnum);
    return errnum ? Outcome::refused : Outcome::done;
}

bool
FileStore::find(const uint32_t id, std::string &path)
{
    const Lock lock(mutex_);
    const auto &entry = table_[id];
    if (entry.state != FileTable::State::present)
        return false;
    path = Name(entry.number).text;
    return true;
}

Outcome
FileStore::read(const Item &item, const Hint &, uint32_t &version)
{
    auto &entry = table_[item.id];
    Lock lock(mutex_);
    if (entry.state != FileTable::State::present)
        return Outcome::missing;
    const Name name(entry.number);
    ++entry.pins;
    table_.touch(item.id);
    lock.unlock();
    const int fd = openat(folder_, name.text, O_RDONLY | O_CLOEXEC);
    lock.lock();
    --entry.pins;
    changed_.notify_all();
    lock.unlock();
    if (fd < 0)
        return Outcome::bad; // nobody deletes what is pinned
    const auto outcome = readAll(fd, item, version);
    close(fd);
    return outcome;
}

Outcome
FileStore::readAll(const int fd, const Item &item, uint32_t &version) const
{
    auto &buffer = pieceBuffer();
    for (uint64_t at = 0; at < item.size;) {
        const auto n = ::read(fd, buffer.data(), std::min<uint64_t>(item.size - at, buffer.size()));
        if (n <= 0 || !content_.check(item.id, item.size, at, buffer.data(), static_cast<size_t>(n), version))
            return Outcome::bad;
        at += static_cast<uint64_t>(n);
    }
    return Outcome::done;
}

Outcome
FileStore::remove(const uint32_t id)
{
    Lock lock(mutex_);
    const auto &entry = table_[id];
    changed_.wait(lock, [&] { return entry.state != FileTable::State::leaving && !entry.pins; });
    if (entry.state != FileTable::State::present)
        return Outcome::missing;
    erase(lock, id);
    return Outcome::done;
}

void
FileStore::idle()
{
    if (!isOver(0, highWater))
        return;
    while (isOver(0, lowWater) && evictOne()) {
    }
}

bool
FileStore::sync(std::string &error)
{
    return syncfs(folder_) == 0 || explain(error, order_.path + ": writing out what is in the page cache failed");
}

bool
FileStore::dropMemory(std::string &error)
{
    if (!sync(error))
        return false;
    close(folder_); // so that the file system can be unmounted
    folder_ = -1;
    const bool dropped = dropCaches_ && dropCaches_();
    return openFolder(error) && (dropped || evictPages(error));
}

/// second best, without anybody's help: inodes and directories stay
bool
FileStore::evictPages(std::string &error)
{
    for (uint32_t id = 0; id < table_.count(); ++id) {
        if (table_[id].state != FileTable::State::present)
            continue;
        const int fd = openat(folder_, Name(table_[id].number).text, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return explain(error, order_.path + "/" + Name(table_[id].number).text + ": cannot open");
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
    }
    return true;
}

uint64_t
FileStore::memoryToCome() const
{
    return order_.memory - order_.ownMemory + order_.threads * threadBytes;
}

Json
FileStore::describe() const
{
    return {
        {   "files", {
                {"firstLevel", firstLevel}, {"secondLevel", secondLevel}, {"highWater", highWater}, {"lowWater", lowWater},
                {"blockBytes", blockBytes_}, {"roomBytes", bytesMost_}, {"roomFiles", filesMost_}
            }
        },
        {   "counters", {
                {"objects", table_.files()}, {"liveBytes", table_.bytes()}, {"evictedObjects", evicted_.load()}, {"noSpace", full_.load()}
            }
        }
    };
}

} // namespace Papers

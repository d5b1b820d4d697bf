// SPDX-License-Identifier: GPL-2.0-or-later
/* A folder of files as a store of the experiments, as Squid's ufs keeps them. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_FILESTORE_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_FILESTORE_H

#include "FileTable.h"
#include "Store.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace Papers {

/// A file for each object in Squid's directories (16 of 256), and Squid's
/// replacement: beyond the high-water mark, the least recently used go, until
/// the low-water mark. Threads use the file system at the same time.
class FileStore final : public Store
{
public:
    /// \returns nil with the reason in error
    static std::unique_ptr<FileStore> Open(const StoreOrder &, const Content &, DropCaches, std::string &error);

    ~FileStore() override;

    Outcome create(const Item &, const Hint &) override;
    Outcome read(const Item &, const Hint &, uint32_t &version) override;
    Outcome remove(uint32_t id) override;
    void idle() override;
    bool sync(std::string &error) override;
    bool dropMemory(std::string &error) override;
    uint64_t memoryToCome() const override;
    Json describe() const override;

    /// Finds the file of an object. \param path receives it, from the folder on \returns false when there is none
    bool find(uint32_t id, std::string &path);

private:
    static constexpr unsigned firstLevel = 16; ///< Squid's L1
    static constexpr unsigned secondLevel = 256; ///< Squid's L2

    FileStore(const StoreOrder &, const Content &, DropCaches);

    /// the path of a file below the folder
    struct Name {
        explicit Name(uint32_t number);
        char text[24];
    };

    bool openFolder(std::string &error);
    bool makeFolders(std::string &error);
    bool measureSpace(std::string &error);
    using Lock = std::unique_lock<std::mutex>;

    bool isOver(uint64_t bytes, unsigned percent);
    bool evictOne();
    void erase(Lock &, uint32_t id);
    uint32_t begin(uint32_t id, uint32_t bytes);
    void end(uint32_t id, bool stored);
    int write(const Item &, const Name &) const;
    Outcome readAll(int fd, const Item &, uint32_t &version) const;
    bool evictPages(std::string &error);

    const StoreOrder order_;
    const Content &content_;
    const DropCaches dropCaches_;
    int folder_ = -1;
    uint32_t blockBytes_ = 4096; ///< of the file system
    uint64_t bytesMost_ = 0; ///< room for files
    uint64_t filesMost_ = 0;

    std::mutex mutex_; ///< for the table
    std::condition_variable changed_; ///< a pin or a state of an entry
    FileTable table_;
    std::atomic<uint64_t> evicted_{0};
    std::atomic<uint64_t> full_{0}; ///< writes that failed for want of space
};

} // namespace Papers

#endif

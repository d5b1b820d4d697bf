// SPDX-License-Identifier: GPL-2.0-or-later
/* TFS as a store of the experiments: files, and an accelerator in front of them. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_ACCELERATORSTORE_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_ACCELERATORSTORE_H

#include "FileStore.h"
#include "LibraryStore.h"

#include "clusterfs/accelerator.h"

namespace Papers {

/// The calls of clusterfs/accelerator.h. The files are where they are without it; its store is one more file of the same file
/// system, as TFS was on the disk of the server's files. Reads go through the accelerator; what creates and deletes works on the files.
class AcceleratorStore final : public LibraryStore
{
public:
    AcceleratorStore(const StoreOrder &, const Content &, DropCaches);
    ~AcceleratorStore() override;

    bool start(std::string &error) override;
    Outcome create(const Item &, const Hint &) override;
    Outcome read(const Item &, const Hint &, uint32_t &version) override;
    Outcome remove(uint32_t id) override;
    void idle() override { files_->idle(); }
    bool sync(std::string &error) override;
    bool dropMemory(std::string &error) override;
    uint64_t memoryToCome() const override;
    Json describe() const override;

protected:
    bool open(std::string &error) override;
    bool close(std::string &error) override;

private:
    DropCaches dropCaches_;
    std::unique_ptr<FileStore> files_;
    clusterfs_accelerator *accelerator_ = nullptr;
};

} // namespace Papers

#endif

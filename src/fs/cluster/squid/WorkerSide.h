// SPDX-License-Identifier: GPL-2.0-or-later
/* A cache_dir in a worker that shares it with others. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_WORKERSIDE_H
#define SQUID_SRC_FS_CLUSTER_SQUID_WORKERSIDE_H

#include "fs/cluster/base/Clock.h"
#include "fs/cluster/sharing/RemoteStore.h"
#include "fs/cluster/squid/EntryWalk.h"
#include "fs/cluster/squid/StoreSide.h"

#include <functional>
#include <optional>
#include <string>

namespace ClusterFs {

/// The way to the owner, as soon as there is one.
class WorkerSide final : public StoreSide
{
public:
    /// \param path of the cache_dir
    /// \param index of the cache_dir
    /// \param socket at which the owner lets workers in
    /// \param ownerCame is called when an owner has come, from poll()
    WorkerSide(const std::string &path, const int index, const std::string &socket, const Clock &clock, std::function<void()> ownerCame):
        path_(path), index_(index), ownerCame_(std::move(ownerCame)), store_(socket, clock) {}

    /* StoreSide API */
    ObjectStore &store() override { return store_; }
    int wakeupFd() const override { return store_.fd(); }
    void poll() override;
    void configure(const Config &config) override { store_.setFileLifetime(config.fileLifetime); }
    Status close(unsigned) override { return Status::ok; }
    std::string stateText() const override;
    std::unique_ptr<PageText> ask(const std::string &question) override;
    void tell(const FigureKind kind, const uint64_t value) override { store_.tell({static_cast<uint64_t>(kind), value}); }
    bool removalsAreBehind() const override;

    /// what this worker has done with the engine of another process, as aligned text
    /// \param comingIn objects that it is storing
    std::string report(size_t comingIn) const;

private:
    void noteOwner();
    void noteClosing();

    const std::string path_;
    const int index_;
    const std::function<void()> ownerCame_;
    RemoteStore store_;
    uint64_t ownersSeen_ = 0; ///< how often store_ had been connected when noteOwner() looked
    uint32_t closingsSeen_ = 0; ///< of that owner, see Owner::shut()
    std::optional<DirRelease> release_; ///< of what this worker had in use when the owner was shut
};

} // namespace ClusterFs

#endif

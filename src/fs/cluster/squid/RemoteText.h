// SPDX-License-Identifier: GPL-2.0-or-later
/* A text from the process that has the engine. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_REMOTETEXT_H
#define SQUID_SRC_FS_CLUSTER_SQUID_REMOTETEXT_H

#include "fs/cluster/api/Reader.h"
#include "fs/cluster/squid/PageText.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ClusterFs {

/// The answer that a worker has from the owner of a cache_dir.
class RemoteText final : public PageText
{
public:
    /// \param answer of RemoteStore::ask()
    /// \param path of the cache_dir
    RemoteText(std::unique_ptr<Reader> answer, const std::string &path): answer_(std::move(answer)), path_(path) {}

private:
    double work(std::string &) override;

    const std::unique_ptr<Reader> answer_;
    const std::string path_;
    uint64_t at_ = 0; ///< bytes that have come
    bool waits_ = false; ///< for further ones
    Status status_ = Status::ok; ///< of the last ones
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The store in a worker. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_REMOTESTORE_H
#define SQUID_SRC_FS_CLUSTER_SHARING_REMOTESTORE_H

#include "fs/cluster/api/ObjectStore.h"
#include "fs/cluster/sharing/Link.h"
#include "fs/cluster/sharing/Services.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ClusterFs {

/// Uses the engine of another process: looks objects up in its index, and sends it messages for all else. As long as there is
/// no owner it is offline, and tries to find one.
class RemoteStore final: public ObjectStore
{
public:
    static constexpr size_t maxRequests = 1024; ///< new heads under way; the next one is answered busy
    static constexpr size_t maxHead = Channel::toOwnerBytes / 4; ///< bytes of a new head; a larger one is answered unsupported

    /// \param path of the owner's socket
    RemoteStore(const std::string &path, const Clock &);
    ~RemoteStore() override;

    /// readable when poll() has something to do; -1 when the process has all the descriptors that it may have
    int fd() const { return link_->fd(); }
    bool connected() const { return link_->connected(); }
    const Link &link() const { return *link_; }

    /// objects that are older, seconds, are not found; 0 = no limit. See Config::fileLifetime
    void setFileLifetime(const uint32_t seconds) { fileLifetime_ = seconds; }

    /// \param question is not empty, and at most maxHead bytes
    /// \returns a reader of the owner's answer, see Services::answer(): fetch() says `aborted` at its end, and notFound where there is none
    std::unique_ptr<Reader> ask(const std::string &question);

    /// Tells the owner a figure, with others, within figureMicros. While there is no owner, only the first ones are kept.
    void tell(const Figure &);

    /// how often this owner was shut so far, see Owner::shut()
    uint32_t closings() const;

    /* ObjectStore */
    EngineState state() const override;
    void poll() override;
    bool find(const Key &, ObjectInfo &) override;
    bool peek(const Key &key, ObjectInfo &info) const override { return look(key, info, false); }
    bool has(const Key &) const override;
    bool next(uint64_t &cursor, Key &, ObjectInfo &, unsigned &looks) const override;
    void note(const Request &) override;
    void touch(const Key &) override;
    bool canCreate(int64_t size, int &load) const override;
    std::unique_ptr<Writer> create(const Key &, const ObjectInfo &, int64_t expectedSize) override;
    void noteUnadmitted(const Key &) override;
    std::unique_ptr<Reader> read(const Key &) override;
    std::unique_ptr<Reader> read(const Writer &) override;
    bool remove(const Key &) override;
    void updateInfo(const Key &, const ObjectInfo &) override;
    void replaceHead(const Key &, uint32_t oldHeadSize, const std::string &newHead, const ObjectInfo &,
                     std::function<void(Status)> done) override;
    void rename(const Key &, const Key &newKey, uint32_t oldHeadSize, const std::string &newHead, std::function<void(Status)> done) override;
    uint64_t objectCount() const override;
    uint64_t liveBytes() const override;
    uint64_t capacityBytes() const override;
    uint64_t deviceBytes() const override;
    uint32_t clusterBytes() const override;
    uint64_t maxObjectSize() const override;
    bool indexLoaded() const override;
    double recoveryProgress() const override;

    uint64_t lookups() const { return lookups_; } ///< calls of find() so far
    uint64_t found() const { return found_; } ///< those that found the object
    uint64_t readAlone() const { return readAlone_; } ///< objects that were read without a message that somebody waits for

private:
    class HeadRequest;
    class WholeReader;
    std::unique_ptr<Reader> readAlone(const Key &);
    bool look(const Key &, ObjectInfo &, bool counted) const;
    bool expired(const ObjectInfo &) const;
    void ask(Messages::Kind, Messages::NewHead, const std::string &newHead, std::function<void(Status)> done);
    void forget(uint64_t number);

    const Clock &clock_;
    const std::shared_ptr<Link> link_;
    uint32_t fileLifetime_ = 0; ///< seconds; 0 = no limit
    std::unordered_map< uint64_t, std::unique_ptr<HeadRequest> > requests_; ///< new heads under way
    static constexpr size_t maxFigures = 1024; ///< that are kept
    static constexpr uint64_t figureMicros = 500000; ///< for which one is kept, so that many go in one message
    void tellFigures();

    std::vector<Figure> figures_; ///< that the owner was not told yet
    uint64_t figuresSince_ = 0; ///< Clock::micros() of the first one
    uint64_t lookups_ = 0;
    uint64_t found_ = 0;
    uint64_t readAlone_ = 0;
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* A reader in a worker. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_REMOTEREADER_H
#define SQUID_SRC_FS_CLUSTER_SHARING_REMOTEREADER_H

#include "fs/cluster/api/Reader.h"
#include "fs/cluster/sharing/Link.h"
#include "fs/cluster/sharing/RemoteWriter.h"

#include <memory>
#include <string>

namespace ClusterFs {

/// Reads an object through the owner. It asks for the first bytes when it is made, so that they are under way when
/// somebody wants them.
class RemoteReader final: public Reader, private Correspondent
{
public:
    static constexpr uint64_t pieceBytes = 256 * 1024; ///< that are asked for at a time, and kept here

    /// \param size stored bytes, as the look-up has found
    RemoteReader(std::shared_ptr<Link>, const Key &, uint64_t size);
    /// Reads an object that is being written, and so grows.
    RemoteReader(std::shared_ptr<Link>, const RemoteWriter &);
    /// Reads the owner's answer to a question, which grows: fetch() says `aborted` at its end.
    RemoteReader(std::shared_ptr<Link>, std::string question);
    ~RemoteReader() override;

    /* Reader */
    uint64_t size() const override { return size_; }
    int64_t copy(uint64_t offset, char *to, size_t size) override;
    void fetch(uint64_t offset, std::function<void(Status)> done) override;

private:
    /* Correspondent */
    void hear(Messages::Kind, const char *content, size_t bytes) override;
    void bereave() override;

    void hearBytes(const Messages::Bytes &, const char *bytes, size_t);
    RemoteReader(std::shared_ptr<Link>, const Key &, uint64_t writer, std::string question, uint64_t size);
    bool grows() const { return writer_ || !question_.empty(); }
    void ask();
    bool has(const uint64_t offset) const { return offset >= at_ && offset < at_ + bytes_.size(); }
    void answer(Status);
    void answerLater(Status);
    void fail(Status);

    const std::shared_ptr<Link> link_;
    const uint64_t number_;
    const Key key_;
    const uint64_t writer_; ///< the number of the writer of an object that grows; 0 = none
    const std::string question_; ///< empty for an object
    uint64_t size_; ///< stored bytes; of what grows, those that the owner had when it told of it last
    bool open_ = false; ///< the owner has it
    bool closed_ = false; ///< the owner had it, and the whole object is here
    uint64_t at_ = 0; ///< offset of the first byte of bytes_
    std::string bytes_; ///< of the object
    bool underWay_ = false; ///< more bytes will come
    Status failure_ = Status::ok; ///< why no more bytes will ever come
    std::function<void(Status)> done_; ///< who waits
    uint64_t wanted_ = 0; ///< the offset that he waits for
    const std::shared_ptr<bool> alive_; ///< false for what comes later than the end
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* One swapout or swapin, between Squid's store core and the engine. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_IOSTATE_H
#define SQUID_SRC_FS_CLUSTER_SQUID_IOSTATE_H

#include "base/CodeContext.h"
#include "fs/cluster/api/Engine.h"
#include "fs/cluster/squid/HandleTable.h"
#include "mem/AllocatorProxy.h"
#include "StoreIOState.h"

namespace ClusterFs {

class SwapDir;

/// An object being written or read. Keeps its StoreEntry locked.
class IoState: public ::StoreIOState
{
    MEMPROXY_CLASS(IoState);

public:
    IoState(SwapDir &, StoreEntry &, const AttachmentPointer &, sfileno handle, STIOCB *, void *cbData);
    ~IoState() override;

    /// makes this the swapout of a new object
    void startWriting(std::unique_ptr<Writer> &&);

    /// Makes this the swapin of an object.
    /// \param lostHead how many bytes from the start can't be read, because
    /// the object has got another head since Squid learned of it
    /// \param shift how much longer the object has become by that
    void startReading(std::unique_ptr<Reader> &&, int64_t lostHead, int64_t shift);

    /// \returns the unfinished object, or nil
    const Writer *writer() const { return writer_.get(); }

    typedef RefCount<IoState> Pointer;

    /// whether the writer takes no more for now
    bool stillCongested() const;

    /// lets the core read on from the origin server, after congested()
    void kickProducer();

    /// stops writing (if that is what we do) because the entry detaches
    void abandon();

    /* StoreIOState API */
    void read_(char *buf, size_t, off_t, STRCB *, void *cbData) override;
    bool write(char const *buf, size_t, off_t, FREE *) override;
    void close(int how) override;
#if HAVE_FS_CLUSTER // a Squid with our patches asks
    bool congested() const override;
#endif

private:
    bool append(char const *buf, size_t, off_t);
    void stopStoring();
    bool passOn();
    void finishWriting();
    void failWriting();

    int64_t storedOffset() const;
    void fetch();
    void noteFetched(Status);
    void answerReader(int64_t result);
    void forgetReader();

    void callBack(int errorFlag);

    SwapDir &dir_;
    AttachmentPointer attachment_;
    std::shared_ptr<Writer> writer_; ///< nil when reading, done, or failed
    std::unique_ptr<Reader> reader_; ///< nil when writing
    bool passing_ = false; ///< nothing is stored any more, but the core must not hear of that yet; see passOn()
    mutable bool producerWaits_ = false; ///< since congested(), until kickProducer()

    int64_t lostHead_ = 0; ///< see startReading()
    int64_t shift_ = 0; ///< see startReading()

    /* the outstanding read_() call, if read.callback is set */
    char *readBuffer_ = nullptr; ///< belongs to the caller
    size_t readSize_ = 0;
    off_t readOffset_ = 0; ///< as the caller counts
    unsigned fetches_ = 0; ///< for this call
    CodeContext::Pointer readContext_;
};

} // namespace ClusterFs

#endif

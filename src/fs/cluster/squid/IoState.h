// SPDX-License-Identifier: GPL-2.0-or-later
/* One swapout or swapin, between Squid's store core and the engine. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_IOSTATE_H
#define SQUID_SRC_FS_CLUSTER_SQUID_IOSTATE_H

#include "base/CodeContext.h"
#include "fs/cluster/api/Engine.h"
#include "fs/cluster/squid/HandleTable.h"
#include "mem/AllocatorProxy.h"
#include "StoreIOState.h"

#include <optional>

namespace ClusterFs {

class SwapDir;

/// An object that Squid's store core writes or reads. Keeps its StoreEntry locked.
class IoState: public ::StoreIOState
{
    MEMPROXY_CLASS(IoState);

public:
    /// \param handle of the attachment
    IoState(SwapDir &, StoreEntry &, const AttachmentPointer &, sfileno handle, STIOCB *, void *cbData);
    ~IoState() override;

    /// makes this the swapout of a new object
    void startWriting(std::unique_ptr<Writer> &&);

    /// Makes this the swapin of an object.
    /// \param lostHead bytes from the start that can't be read, because the
    /// object has got another head since the entry learned its size
    /// \param shift bytes by which the new head is longer
    void startReading(std::unique_ptr<Reader> &&, int64_t lostHead, int64_t shift);

    /// Measures how long the client whose request Squid handles now waits for the first bytes. If the response is
    /// a hit in the end, the dir counts that time.
    void timeHit();

    /// \returns the writer of the unfinished object, or nil
    const Writer *writer() const { return writer_.get(); }

    typedef RefCount<IoState> Pointer;

    /// whether the device is behind, and the object has a writer
    bool stillCongested() const;

    /// lets the core read on from the origin server, after congested() has stopped it
    void kickProducer();

    /// the entry is detached: stops a swapout
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
    void noteFinished(Status);
    void failWriting();

    int64_t storedOffset() const;
    void fetch();
    void noteFetched(Status);
    void answerReader(int64_t result);
    void forgetReader();
    void countHit();

    void callBack(int errorFlag);

    SwapDir &dir_;
    AttachmentPointer attachment_;
    std::shared_ptr<Writer> writer_; ///< nil when reading, done, or failed
    bool storing_ = false; ///< startWriting() was called
    std::unique_ptr<Reader> reader_; ///< nil when writing
    std::shared_ptr<bool> finishing_; ///< true while the outcome of the writer's end is awaited; nil before
    CodeContext::Pointer writeContext_; ///< of who waits for the end of the swapout
    bool passing_ = false; ///< nothing is stored any more, but the core must not hear of that yet; see passOn()
    mutable bool producerWaits_ = false; ///< from congested() to kickProducer()

    int64_t lostHead_ = 0; ///< see startReading()
    int64_t shift_ = 0; ///< see startReading()

    CodeContext::Pointer request_; ///< see timeHit(); nil when there is no time to measure
    std::optional<uint64_t> wait_; ///< for the first bytes, microseconds; nothing before they came

    /* the outstanding read_() call, if read.callback is set */
    char *readBuffer_ = nullptr; ///< belongs to the caller
    size_t readSize_ = 0;
    off_t readOffset_ = 0; ///< in the object as the entry knows it
    unsigned fetches_ = 0; ///< Reader::fetch() calls for this one
    CodeContext::Pointer readContext_; ///< of the caller
};

} // namespace ClusterFs

#endif

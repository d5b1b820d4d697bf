// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 79    Disk IO Routines */

#include "squid.h"
#include "base/AsyncCall.h"
#include "debug/Stream.h"
#include "enums.h"
#include "fs/cluster/squid/ClientRequest.h"
#include "fs/cluster/squid/Convert.h"
#include "fs/cluster/squid/IoState.h"
#include "fs/cluster/squid/SwapDir.h"
#include "MemObject.h"
#include "Store.h"
#include "StoreClient.h"

#include <algorithm>

namespace {

/// how often bytes are fetched for one read, if they leave memory again before they are copied
const unsigned FetchLimit = 4;

/// an asynchronous call that tells the store core that the I/O has ended
class ClosedDialer: public CallDialer
{
public:
    ClosedDialer(StoreIOState::STIOCB *callback, void *data, const int errorFlag, const StoreIOState::Pointer &sio):
        callback_(callback), data_(data), errorFlag_(errorFlag), sio_(sio)
    {
    }

    bool canDial(AsyncCall &) const { return callback_ && data_.valid(); }

    void dial(AsyncCall &) {
        if (const auto data = data_.validDone())
            callback_(data, errorFlag_, sio_);
    }

    void print(std::ostream &os) const override {
        os << "(errflag=" << errorFlag_ << ')';
    }

private:
    StoreIOState::STIOCB *callback_;
    CallbackData data_;
    int errorFlag_;
    StoreIOState::Pointer sio_; ///< keeps the closed state until it is reported
};

} // namespace

ClusterFs::IoState::IoState(SwapDir &dir, StoreEntry &entry, const AttachmentPointer &attachment,
                            const sfileno handle, STIOCB * const cb, void * const cbData):
    ::StoreIOState(cb, cbData),
    dir_(dir),
    attachment_(attachment)
{
    assert(attachment_);
    swap_dirn = dir.index;
    swap_filen = handle;
    e = &entry;
    e->lock("clusterfs I/O");
    ++dir_.openStates;
}

ClusterFs::IoState::~IoState()
{
    --dir_.openStates;
    dir_.comingIn -= storing_;
    if (finishing_)
        *finishing_ = false;
    e->unlock("clusterfs I/O");
}

void
ClusterFs::IoState::startWriting(std::unique_ptr<Writer> &&writer)
{
    assert(writer && !writer_ && !reader_);
    writer_ = std::move(writer);
    storing_ = true;
    ++dir_.comingIn;
}

void
ClusterFs::IoState::startReading(std::unique_ptr<Reader> &&reader, const int64_t lostHead, const int64_t shift)
{
    assert(reader && !writer_ && !reader_);
    reader_ = std::move(reader);
    lostHead_ = lostHead;
    shift_ = shift;
}

void
ClusterFs::IoState::timeHit()
{
    request_ = clientRequest();
}

void
ClusterFs::IoState::abandon()
{
    if (writer_ || passing_)
        failWriting();
}

/* writing */

bool
ClusterFs::IoState::write(char const * const buf, const size_t size, const off_t offset, FREE * const freeFunction)
{
    const auto accepted = append(buf, size, offset);
    if (freeFunction)
        freeFunction(const_cast<char*>(buf));
    return accepted;
}

/// gives bytes to the writer, and on failure schedules the callback
bool
ClusterFs::IoState::append(char const * const buf, const size_t size, const off_t offset)
{
    debugs(79, 7, *e << " appends " << size << " to " << offset_);
    assert(!reader_);
    assert(offset == -1 || (!offset && !offset_)); // no gaps, no rewriting

    if (passing_)
        return passOn();
    if (!writer_)
        return false; // an earlier failure is on its way to the core

    // possible when the size was unknown, or max-size went down after canStore()
    if (offset_ + static_cast<int64_t>(size) > dir_.maxObjectSize()) {
        debugs(79, 3, *e << " outgrew " << dir_.maxObjectSize());
        stopStoring();
        return passOn();
    }
    if (!writer_->append(buf, size)) {
        debugs(79, 3, *e << " not accepted after " << offset_);
        stopStoring();
        return passOn();
    }
    // The core may now free its copy of these bytes and read them from us.
    offset_ += size;
    return true;
}

/// gives the object up for good
void
ClusterFs::IoState::stopStoring()
{
    if (finishing_)
        *finishing_ = false; // the writer may outlive this
    attachment_->evicted = true;
    attachment_->cut = true;
    attachment_->unpublished = std::move(writer_);
    passing_ = true;
}

/// Lets those read on who read the incoming object from the disk. The core does not wait for them: it frees
/// what it takes for written, and when it has heard of a failure, what its other clients have got. So it hears
/// later, and what we say is written ends where the slowest client is.
/// \returns false when nobody reads from the disk (any more): then the core hears now
bool
ClusterFs::IoState::passOn()
{
    const auto &mem = *e->mem_obj;
    auto known = mem.swapout.queue_offset; // what the slowest client has
    auto needed = false;
    for (auto node = mem.clients.head; node; node = node->next) {
        const auto client = static_cast<const store_client*>(node->data);
        known = std::min(known, client->discardableHttpEnd());
        needed = needed || client->getType() == STORE_DISK_CLIENT;
    }
    if (!needed) {
        failWriting();
        return false;
    }
    offset_ = std::max<off_t>(offset_, known + static_cast<off_t>(mem.swap_hdr_sz));
    return true;
}

bool
ClusterFs::IoState::stillCongested() const
{
    return writer_ && !dir_.stopped() && writer_->congested();
}

#if HAVE_FS_CLUSTER
bool
ClusterFs::IoState::congested() const
{
    if (!stillCongested())
        return false;
    if (!producerWaits_) {
        producerWaits_ = true;
        dir_.kickWhenDrained(const_cast<IoState*>(this));
    }
    return true;
}
#endif

void
ClusterFs::IoState::kickProducer()
{
    producerWaits_ = false;
    if (!e->mem_obj)
        return;
    debugs(79, 5, *e << " goes on after " << offset_);
    e->mem_obj->kickReads();
#if USE_ADAPTATION
    e->kickProducer();
#endif
}

void
ClusterFs::IoState::failWriting()
{
    if (!passing_)
        stopStoring();
    passing_ = false;
    callBack(DISK_ERROR);
}

void
ClusterFs::IoState::finishWriting()
{
    if (attachment_->evicted || (attachment_->renamed && writer_->parted())) {
        // The entry was released while it was stored, or got another key, and parts
        // name the old one. Nobody may find the object, but the swapout went well.
        attachment_->evicted = true;
        attachment_->unpublished = std::move(writer_);
        callBack(DISK_OK);
        return;
    }
    const auto waiting = finishing_ = std::make_shared<bool>(true);
    const auto status = writer_->finish([this, waiting](const Status outcome) {
        if (!*waiting)
            return;
        const StoreIOState::Pointer self(this); // the callback may drop us
        CallBack(writeContext_, [&] { noteFinished(outcome); });
    });
    if (status == Status::pending)
        writeContext_ = CodeContext::Current();
    else
        noteFinished(status);
}

/// the object is in the store, or was not taken
void
ClusterFs::IoState::noteFinished(const Status status)
{
    writeContext_ = nullptr;
    finishing_ = nullptr;
    if (status != Status::ok) {
        debugs(79, 3, *e << " not stored: " << statusText(status));
        failWriting();
        return;
    }
    writer_ = nullptr;
    callBack(DISK_OK);
}

/* reading */

void
ClusterFs::IoState::read_(char * const buf, const size_t size, const off_t offset, STRCB * const cb, void * const cbData)
{
    debugs(79, 7, *e << " reads " << size << " at " << offset);
    assert(reader_);
    assert(offset >= 0);
    assert(!read.callback && !read.callback_data); // one at a time
    assert(cb);
    read.callback = cb;
    read.callback_data = cbdataReference(cbData);
    readBuffer_ = buf;
    readSize_ = size;
    readOffset_ = offset;
    readContext_ = CodeContext::Current();
    fetches_ = 0;

    if (attachment_->lost || offset < lostHead_) {
        debugs(79, 2, "head or all is gone of " << *e);
        answerReader(-1);
        return;
    }
    const auto got = reader_->copy(storedOffset(), buf, size);
    if (got < 0)
        fetch();
    else
        answerReader(got);
}

/// the offset of the wanted bytes in the object as it is now
int64_t
ClusterFs::IoState::storedOffset() const
{
    return readOffset_ + shift_;
}

void
ClusterFs::IoState::fetch()
{
    ++fetches_;
    // the reader does not call back once it, and so this, is gone
    reader_->fetch(storedOffset(), [this](const Status status) {
        const StoreIOState::Pointer self(this); // the callback may drop us
        noteFetched(status);
    });
}

/// continues read_() when its bytes have arrived in memory
void
ClusterFs::IoState::noteFetched(const Status status)
{
    if (!read.callback)
        return; // closed

    // if the caller is gone, its buffer is, too
    if (!cbdataReferenceValid(read.callback_data) || dir_.stopped()) {
        forgetReader();
        return;
    }
    int64_t got = -1;
    if (status == Status::ok || status == Status::busy) {
        got = reader_->copy(storedOffset(), readBuffer_, readSize_);
        if (got < 0 && fetches_ < FetchLimit) {
            fetch();
            return;
        }
    } else {
        debugs(79, 3, *e << " not read at " << readOffset_ << ": " << statusText(status));
    }
    CallBack(readContext_, [this, got] {
        answerReader(got);
    });
}

/// ends the outstanding read_() call
void
ClusterFs::IoState::answerReader(int64_t result)
{
    if (!result && attachment_->cut)
        result = -1; // the end of the stored bytes must not look like the end of the response

    const auto cb = read.callback;
    const auto buf = readBuffer_;
    assert(cb);
    assert(result <= static_cast<int64_t>(readSize_));
    if (result >= 0)
        offset_ = readOffset_ + result;
    if (result > 0 && request_ && !wait_)
        wait_ = waited(*request_);

    // cleared first because the callback may read again
    read.callback = nullptr;
    readBuffer_ = nullptr;
    readContext_ = nullptr;
    void *cbData = nullptr;
    if (cbdataReferenceValidDone(read.callback_data, &cbData))
        cb(cbData, buf, static_cast<ssize_t>(result), this);
}

/// ends the outstanding read_() call, if any, without an answer
void
ClusterFs::IoState::forgetReader()
{
    read.callback = nullptr;
    cbdataReferenceDone(read.callback_data);
    readBuffer_ = nullptr;
    readContext_ = nullptr;
}

/* closing */

void
ClusterFs::IoState::close(const int how)
{
    debugs(79, 3, *e << " how: " << how << " offset: " << offset_);
    switch (how) {
    case wroteAll:
        assert(!reader_);
        if (writer_) // if not, it has failed, and the core was told
            finishWriting();
        else if (passing_)
            failWriting();
        return;

    case writerGone:
        assert(!reader_);
        if (writer_ || passing_)
            failWriting();
        return;

    case readerDone:
        assert(!writer_);
        forgetReader();
        countHit();
        callBack(DISK_OK);
        return;
    }
    assert(!"known CloseHow");
}

/// Only now it is known that these bytes were the response: after the first ones, Squid may have decided to ask the
/// origin server whether they are fresh, or to look for a variant.
void
ClusterFs::IoState::countHit()
{
    if (request_ && wait_ && answerTo(*request_) == Answer::hit && !isVaryMarker(*e))
        dir_.noteHit(*wait_);
    request_ = nullptr;
}

/// Reports the end of this I/O once. The call comes later, because the core does
/// not expect it while it calls us.
void
ClusterFs::IoState::callBack(const int errorFlag)
{
    if (!callback)
        return;
    ScheduleCallHere(asyncCall(79, 3, "ClusterFs::IoState closed",
                               ClosedDialer(callback, callback_data, errorFlag, this)));
    callback = nullptr;
    cbdataReferenceDone(callback_data);
}

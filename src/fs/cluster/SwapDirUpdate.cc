// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "base/TextException.h"
#include "debug/Stream.h"
#include "enums.h"
#include "fs/cluster/Convert.h"
#include "fs/cluster/SwapDir.h"
#include "HttpReply.h"
#include "MemBuf.h"
#include "MemObject.h"
#include "Store.h"

#include <memory>

namespace {

/// most head updates on their way; beyond, only times are updated
const size_t UpdateLimit = 256;

/// Sets an entry's swap_file_sz to zero, "not known yet", for a while.
class SizeHider
{
public:
    explicit SizeHider(StoreEntry &entry): e(entry), size(entry.swap_file_sz) { e.swap_file_sz = 0; }
    ~SizeHider() { e.swap_file_sz = size; }

private:
    StoreEntry &e;
    const uint64_t size;
};

} // namespace

/// What the object of an updated entry should start with: swap metadata and
/// HTTP headers. Empty when Squid would not be able to read it back.
static std::string
FreshHead(StoreEntry &e)
{
    std::string head;
    {
        // the size depends on the head; at first-time swapout it is 0 as well
        const SizeHider hider(e);
        size_t size = 0;
        const std::unique_ptr<const char, void (*)(const void *)> metadata(
        e.getSerialisedMetaData(size), [](const void *p) {
            xfree(const_cast<void*>(p));
        });
        if (!metadata || size > SM_PAGE_SIZE)
            return head;
        head.assign(metadata.get(), size);
    }
    const std::unique_ptr<MemBuf> headers(e.mem().freshestReply().pack());
    head.append(headers->content(), headers->contentSize());
    return head;
}

/// the entry's times and flags, but for a flag that we added in exportInfo()
ClusterFs::ObjectInfo
ClusterFs::SwapDir::freshInfo(const StoreEntry &e, const Attachment &attachment) const
{
    auto info = infoOf(e);
    if ((attachment.info.flags & flagDoubtful) && !(attachment.info.flags & flagRevalidateAlways))
        info.flags &= static_cast<uint8_t>(~flagRevalidateAlways);
    return info;
}

void
ClusterFs::SwapDir::updateHeaders(StoreEntry * const e)
{
    assert(e);
    if (!readable() || !e->hasDisk(index) || !e->swappedOut())
        return; // finalizeSwapoutSuccess() will see new times

    const auto attachment = handles_.find(e->swap_filen);
    if (!attachment || attachment->evicted)
        return;

    const auto info = freshInfo(*e, *attachment);
    engine_->updateInfo(attachment->key, info);
    attachment->info = info;
    try {
        replaceHead(*e, attachment, info);
    } catch (...) {
        debugs(47, 2, "only times are updated: " << *e << Debug::Extra << "problem: " << CurrentException);
    }
}

/// Starts storing a new version of the object, with the headers that the entry
/// has now. The entry itself keeps its sizes and offsets: they belong to what
/// its clients have read so far; see openStoreIO().
void
ClusterFs::SwapDir::replaceHead(StoreEntry &e, const AttachmentPointer &attachment, const ObjectInfo &info)
{
    const auto &key = attachment->key;
    if (updates_.count(key) || updates_.size() >= UpdateLimit)
        return; // the next revalidation will do it
    if (!e.mem_obj || !e.publicKey() || keyOf(e.publicKey()) != key)
        return;

    const auto &mem = *e.mem_obj;
    const auto headersSize = mem.baseReply().hdr_sz;
    if (!mem.swap_hdr_sz || headersSize <= 0)
        return; // nobody knows where the body starts
    const auto headSize = mem.swap_hdr_sz + static_cast<uint64_t>(headersSize);

    ObjectInfo stored;
    if (!engine_->find(key, stored))
        return;
    if (e.swap_file_sz < headSize)
        return;
    const auto bodySize = e.swap_file_sz - headSize;
    if (stored.size <= bodySize)
        return;
    const auto storedHeadSize = stored.size - bodySize; // after earlier updates

    const auto head = FreshHead(e);
    if (head.empty() || static_cast<int64_t>(head.size() + bodySize) > maxObjectSize())
        return;

    debugs(47, 5, e << " head: " << storedHeadSize << " -> " << head.size());
    updates_.emplace(key, std::vector<AttachmentPointer>(1, attachment));
    engine_->replaceHead(key, static_cast<uint32_t>(storedHeadSize), head, info, [this, key](const Status status) {
        noteHeadReplaced(key, status);
    });
}

/// A head update has ended; objects that are opened from now on have the new
/// head, if it succeeded.
void
ClusterFs::SwapDir::noteHeadReplaced(const Key &key, const Status status)
{
    debugs(47, status == Status::ok ? 5 : 3, key.hex() << " head update: " << statusText(status));
    const auto update = updates_.find(key);
    assert(update != updates_.end());
    if (status == Status::ok) {
        for (const auto &attachment: update->second)
            attachment->replaced = true;
    }
    updates_.erase(update);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "debug/Stream.h"
#include "enums.h"
#include "fs/cluster/layout/Superblock.h"
#include "fs/cluster/squid/Convert.h"
#include "fs/cluster/squid/HeadUpdates.h"
#include "HttpReply.h"
#include "MemBuf.h"
#include "MemObject.h"
#include "Store.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

namespace {

/// most head updates on their way; beyond, only times are updated
const size_t UpdateLimit = 256;

/// most bytes that are read and staged for head updates and renames on their way
const uint64_t UpdateBytesLimit = 16 * 1024 * 1024;

/// A new head costs the bytes that are stored with it, too: if they are so few at
/// most, each new Date is worth it.
const uint64_t CheapUpdate = 64 * 1024;

/// how old, in seconds, the stored Date of other objects may become while only
/// times change; the index has the new ones
const int64_t DateLimit = 3600;

/// sets an entry's swap_file_sz to zero, "not known yet", while it lives
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

/// the swap metadata of an entry as it is now; empty when Squid could not read
/// them back
static std::string
FreshMetadata(StoreEntry &e)
{
    // the metadata have the size, which depends on their own length; at the first swapout it is 0, too
    const SizeHider hider(e);
    size_t size = 0;
    const std::unique_ptr<const char, void (*)(const void *)> metadata(
    e.getSerialisedMetaData(size), [](const void *p) {
        xfree(const_cast<void*>(p));
    });
    if (!metadata || size > SM_PAGE_SIZE)
        return std::string();
    return std::string(metadata.get(), size);
}

/// the new head for the object of an updated entry: swap metadata and HTTP
/// headers; empty when Squid could not read it back
static std::string
FreshHead(StoreEntry &e)
{
    auto head = FreshMetadata(e);
    if (head.empty())
        return head;
    const std::unique_ptr<MemBuf> headers(e.mem().freshestReply().pack());
    head.append(headers->content(), headers->contentSize());
    return head;
}

/// a hash of the headers without times, which are new with each 304
static uint64_t
DigestOf(const HttpReply &reply)
{
    uint64_t digest = 1; // not 0, which Attachment::headDigest uses
    HttpHeaderPos position = HttpHeaderInitPos;
    while (const auto field = reply.header.getEntry(&position)) {
        if (field->id == Http::HdrType::DATE || field->id == Http::HdrType::EXPIRES || field->id == Http::HdrType::AGE)
            continue;
        std::string text(field->name.rawContent(), field->name.length());
        text.append(1, ':').append(field->value.rawBuf(), field->value.size());
        digest += std::hash<std::string>()(text); // a sum, since a 304 changes the order of fields
    }
    return digest ? digest : 1;
}

void
ClusterFs::HeadUpdates::replaceHead(ObjectStore &store, StoreEntry &e, const AttachmentPointer &attachment, const ObjectInfo &info,
                                    const int64_t maxSize)
{
    const auto &key = attachment->key;
    if (updates_.count(key))
        return; // the next revalidation will do it
    if (!e.mem_obj || !e.publicKey() || keyOf(e.publicKey()) != key)
        return;

    const auto &mem = *e.mem_obj;
    const auto headersSize = mem.baseReply().hdr_sz;
    if (!mem.swap_hdr_sz || headersSize <= 0)
        return; // the start of the body is not known
    const auto headSize = mem.swap_hdr_sz + static_cast<uint64_t>(headersSize);

    ObjectInfo stored;
    if (!store.peek(key, stored))
        return;
    if (e.swap_file_sz < headSize)
        return;
    const auto bodySize = e.swap_file_sz - headSize;
    if (stored.size <= bodySize)
        return;
    const auto storedHeadSize = stored.size - bodySize; // earlier updates may have changed it

    const auto digest = DigestOf(mem.freshestReply());
    const auto storedDigest = attachment->headDigest ? attachment->headDigest : DigestOf(mem.baseReply());
    const auto storedDate = attachment->headDate ? attachment->headDate : static_cast<int64_t>(mem.baseReply().date);
    const auto cost = std::min<uint64_t>(stored.size, store.clusterBytes());
    if (cost > CheapUpdate && digest == storedDigest && mem.freshestReply().date - storedDate < DateLimit)
        return;

    const auto head = FreshHead(e);
    if (head.empty() || static_cast<int64_t>(head.size() + bodySize) > maxSize) {
        debugs(47, 3, "no room for the new headers of " << e);
        evict_(*attachment); // the old headers must not be used any longer
        return;
    }
    if (updates_.size() >= UpdateLimit || bytes_ + cost > UpdateBytesLimit)
        return; // the next revalidation will do it

    debugs(47, 5, e << " head: " << storedHeadSize << " -> " << head.size());
    bytes_ += cost;
    attachment->headDigest = digest;
    attachment->headDate = mem.freshestReply().date;
    // locked, so that requests find the new headers in store_table until the engine has them
    e.lock("clusterfs update");
    updates_.emplace(key, Update{&e, {attachment}, cost});
    store.replaceHead(key, static_cast<uint32_t>(storedHeadSize), head, info, [this, key](const Status status) {
        noteHeadReplaced(key, status);
    });
}

/// A head update has ended. If it succeeded, readers that are opened from now on
/// get the new head.
void
ClusterFs::HeadUpdates::noteHeadReplaced(const Key &key, const Status status)
{
    debugs(47, status == Status::ok ? 5 : 3, key.hex() << " head update: " << statusText(status));
    const auto update = updates_.find(key);
    assert(update != updates_.end());
    const auto done = std::move(update->second);
    updates_.erase(update);
    bytes_ -= done.cost;
    for (const auto &attachment: done.attachments) {
        if (status == Status::ok) {
            attachment->replaced = true;
        } else {
            attachment->headDigest = 0;
            attachment->headDate = 0;
            if (status == Status::unsupported)
                evict_(*attachment); // the old headers must not be used any longer
        }
    }
    done.entry->unlock("clusterfs update");
}

void
ClusterFs::HeadUpdates::rename(ObjectStore &store, StoreEntry &e, const AttachmentPointer &attachment)
{
    const auto metadata = e.publicKey() && e.mem_obj ? FreshMetadata(e) : std::string();
    const auto cost = std::min<uint64_t>(e.swap_file_sz, store.clusterBytes());
    const auto oldSize = metadata.empty() ? 0 : e.mem_obj->swap_hdr_sz;
    if (!oldSize || bytes_ + cost > UpdateBytesLimit) {
        debugs(47, 3, "not kept: " << e);
        evict_(*attachment); // it must not be found under the old key
        return;
    }
    bytes_ += cost;
    e.lock("clusterfs rename"); // until the rename has ended, so that requests find it in store_table
    const auto name = keyOf(e.publicKey());
    const auto grown = metadata.size() != oldSize; // metadata get longer if the object's size was not known at first
    store.rename(attachment->key, name, static_cast<uint32_t>(oldSize), metadata, [=, &e](const Status status) {
        debugs(47, status == Status::ok ? 5 : 3, name.hex() << " was " << attachment->key.hex() << ": " << statusText(status));
        bytes_ -= cost;
        if (status == Status::ok) {
            attachment->key = name;
            attachment->replaced = grown;
        } else {
            evict_(*attachment);
        }
        e.unlock("clusterfs rename");
    });
}

void
ClusterFs::HeadUpdates::noteAttached(const AttachmentPointer &attachment)
{
    const auto update = updates_.find(attachment->key);
    if (update != updates_.end())
        update->second.attachments.push_back(attachment);
}

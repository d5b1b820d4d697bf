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

/// the same in bytes that are read and staged for them
const uint64_t UpdateBytesLimit = 16 * 1024 * 1024;

/// A head is replaced together with what is stored next to it: for so few
/// bytes, each new Date is worth it.
const uint64_t CheapUpdate = 64 * 1024;

/// how old, in seconds, the stored Date of other objects may become while
/// nothing but times changes; our index has the new ones
const int64_t DateLimit = 3600;

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

/// The swap metadata of an entry as it is now. Empty when Squid would not be
/// able to read it back.
static std::string
FreshMetadata(StoreEntry &e)
{
    // the size depends on the head; at first-time swapout it is 0 as well
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

/// What the object of an updated entry should start with: swap metadata and
/// HTTP headers. Empty when Squid would not be able to read it back.
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

/// everything in the headers but times, which come anew with each 304
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
        digest += std::hash<std::string>()(text); // a 304 changes the order
    }
    return digest ? digest : 1;
}

void
ClusterFs::HeadUpdates::replaceHead(Engine &engine, StoreEntry &e, const AttachmentPointer &attachment, const ObjectInfo &info,
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
        return; // nobody knows where the body starts
    const auto headSize = mem.swap_hdr_sz + static_cast<uint64_t>(headersSize);

    ObjectInfo stored;
    if (!engine.peek(key, stored))
        return;
    if (e.swap_file_sz < headSize)
        return;
    const auto bodySize = e.swap_file_sz - headSize;
    if (stored.size <= bodySize)
        return;
    const auto storedHeadSize = stored.size - bodySize; // after earlier updates

    const auto digest = DigestOf(mem.freshestReply());
    const auto storedDigest = attachment->headDigest ? attachment->headDigest : DigestOf(mem.baseReply());
    const auto storedDate = attachment->headDate ? attachment->headDate : static_cast<int64_t>(mem.baseReply().date);
    const auto cost = std::min<uint64_t>(stored.size, engine.superblock()->geometry.clusterBytes);
    if (cost > CheapUpdate && digest == storedDigest && mem.freshestReply().date - storedDate < DateLimit)
        return;

    const auto head = FreshHead(e);
    if (head.empty() || static_cast<int64_t>(head.size() + bodySize) > maxSize) {
        debugs(47, 3, "no room for the new headers of " << e);
        evict_(*attachment); // the old ones must not be used any longer
        return;
    }
    if (updates_.size() >= UpdateLimit || bytes_ + cost > UpdateBytesLimit)
        return; // the next revalidation will do it

    debugs(47, 5, e << " head: " << storedHeadSize << " -> " << head.size());
    bytes_ += cost;
    attachment->headDigest = digest;
    attachment->headDate = mem.freshestReply().date;
    // Until the disk has the new headers, they are found in store_table.
    e.lock("clusterfs update");
    updates_.emplace(key, Update{&e, {attachment}, cost});
    engine.replaceHead(key, static_cast<uint32_t>(storedHeadSize), head, info, [this, key](const Status status) {
        noteHeadReplaced(key, status);
    });
}

/// A head update has ended; objects that are opened from now on have the new
/// head, if it succeeded.
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
ClusterFs::HeadUpdates::rename(Engine &engine, StoreEntry &e, const AttachmentPointer &attachment)
{
    const auto metadata = e.publicKey() && e.mem_obj ? FreshMetadata(e) : std::string();
    const auto cost = std::min<uint64_t>(e.swap_file_sz, engine.superblock()->geometry.clusterBytes);
    const auto oldSize = metadata.empty() ? 0 : e.mem_obj->swap_hdr_sz;
    if (!oldSize || bytes_ + cost > UpdateBytesLimit) {
        debugs(47, 3, "not kept: " << e);
        evict_(*attachment); // it is in the way under the old key
        return;
    }
    bytes_ += cost;
    e.lock("clusterfs rename"); // until then, it is found in store_table
    const auto name = keyOf(e.publicKey());
    const auto grown = metadata.size() != oldSize; // the object's size was not known at first
    engine.rename(attachment->key, name, static_cast<uint32_t>(oldSize), metadata, [=, &e](const Status status) {
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

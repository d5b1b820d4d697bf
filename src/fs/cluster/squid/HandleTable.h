// SPDX-License-Identifier: GPL-2.0-or-later
/* What StoreEntry::swap_filen means: a handle of an attached entry. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_HANDLETABLE_H
#define SQUID_SRC_FS_CLUSTER_SQUID_HANDLETABLE_H

#include "fs/cluster/base/Types.h"
#include "store/forward.h"

#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace ClusterFs {

class Writer;

/// The object that a StoreEntry is attached to. Squid changes the keys of
/// entries while they are attached, so the key is copied when attaching, and
/// follows when the object does.
class Attachment
{
public:
    Attachment(const Key &k, const ObjectInfo &i): key(k), info(i) {}

    Key key; ///< the object's name in the engine
    ObjectInfo info; ///< as exported to the entry, or taken from it, last

    /// The object must not be found again, or is a different one by now; who
    /// reads or writes it already may go on.
    bool evicted = false;

    /// The object has got another head since the entry learned its size, so
    /// offsets that the entry knows are not those of the object.
    bool replaced = false;

    /// The entry has got another key while the object was being stored.
    bool renamed = false;

    bool opened = false; ///< somebody has started to read the object for the entry

    /// An object that nobody is to find, but that clients of the entry read:
    /// Squid may have freed its own copy of these bytes.
    std::shared_ptr<Writer> unpublished;

    bool cut = false; ///< unpublished ends before the entry does

    bool lost = false; ///< the engine that had the object is gone

    /// The head on the disk, when this entry has updated it: what it says but
    /// for times, hashed, and its Date. Zero before, and after a failure.
    uint64_t headDigest = 0;
    int64_t headDate = 0;
};

typedef std::shared_ptr<Attachment> AttachmentPointer;

/// Gives numbers to attachments. They say nothing about the place on disk, so
/// their range limits the attached entries of a process, not the objects.
class HandleTable
{
public:
    /// most handles; the largest swap_filen value is never given away
    static constexpr size_t limit = SwapFilenMax;
    static constexpr sfileno reserved = SwapFilenMax;

    /// \returns a number from 0 up, or -1 when all are in use
    sfileno add(const AttachmentPointer &);

    /// \returns nil when there is no such handle
    AttachmentPointer find(sfileno) const;

    /// frees a handle that is in use
    void remove(sfileno);

    /// all that are in use; remove() must wait
    void forEach(const std::function<void(Attachment &)> &) const;

    size_t used() const { return slots_.size() - free_.size(); }
    bool full() const { return used() >= limit; }

private:
    std::deque<AttachmentPointer> slots_; ///< by handle; nil when free
    std::vector<sfileno> free_;
};

} // namespace ClusterFs

#endif

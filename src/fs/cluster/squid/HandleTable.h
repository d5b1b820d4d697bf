// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles of attached entries: the values of StoreEntry::swap_filen. */

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

/// The object that a StoreEntry is attached to. Squid changes the keys of entries
/// while they are attached, so the key is copied at the attaching, and changes only
/// when the object gets another key in the engine.
class Attachment
{
public:
    Attachment(const Key &k, const ObjectInfo &i): key(k), info(i) {}

    Key key; ///< the object's name in the engine
    ObjectInfo info; ///< as it was exported to the entry, or taken from it, last

    /// The object must not be found again, or the key has another object by now.
    /// Those that read or write it already may go on.
    bool evicted = false;

    /// The object has got another head since the entry learned its size, so that
    /// offsets of the entry are not those of the object.
    bool replaced = false;

    /// The entry has got another key while the object was being stored.
    bool renamed = false;

    bool opened = false; ///< somebody has started to read the object for the entry

    /// An object that nobody may find, but that clients of the entry read: Squid
    /// may have freed its own copy of the bytes.
    std::shared_ptr<Writer> unpublished;

    bool cut = false; ///< unpublished ends before the entry's response does

    bool lost = false; ///< the engine that had the object is gone

    /* the head on the disk, if this entry has updated it; zero before, and after a failure */
    uint64_t headDigest = 0; ///< hash of its headers without times
    int64_t headDate = 0; ///< its Date, seconds since 1970
};

typedef std::shared_ptr<Attachment> AttachmentPointer;

/// Gives numbers to attachments. A number says nothing about a place on the disk, so
/// the range of swap_filen limits the attached entries of a process, and not the
/// objects of the store.
class HandleTable
{
public:
    static constexpr size_t limit = SwapFilenMax; ///< most handles
    static constexpr sfileno reserved = SwapFilenMax; ///< a value that add() never returns

    /// \returns a number from 0 up, or -1 when all are in use
    sfileno add(const AttachmentPointer &);

    /// \returns nil when there is no such handle
    AttachmentPointer find(sfileno) const;

    /// frees a handle that is in use
    void remove(sfileno);

    /// calls a function for each attachment; it must not call remove()
    void forEach(const std::function<void(Attachment &)> &) const;

    size_t used() const { return slots_.size() - free_.size(); }
    bool full() const { return used() >= limit; }

private:
    std::deque<AttachmentPointer> slots_; ///< by handle; nil when free
    std::vector<sfileno> free_; ///< handles that were removed
};

} // namespace ClusterFs

#endif

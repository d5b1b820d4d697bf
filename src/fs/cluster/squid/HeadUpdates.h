// SPDX-License-Identifier: GPL-2.0-or-later
/* New headers, and new keys, of objects that are stored already. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_HEADUPDATES_H
#define SQUID_SRC_FS_CLUSTER_SQUID_HEADUPDATES_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/squid/HandleTable.h"

#include <functional>
#include <unordered_map>
#include <vector>

namespace ClusterFs {

/// Has an engine store what an object starts with, swap metadata and HTTP headers, anew. An entry
/// keeps its sizes and offsets meanwhile: they belong to what its clients have read so far. It
/// stays locked until the update has ended, so that it is found in store_table.
class HeadUpdates
{
public:
    /// \param evict forgets an object whose headers must not be used any longer, or that is in the
    /// way of another one; also called while an engine polls
    explicit HeadUpdates(std::function<void(Attachment &)> evict): evict_(std::move(evict)) {}
    HeadUpdates(HeadUpdates &&) = delete; // no copying or moving of any kind

    /// Starts storing a new version of the object, with the headers that the entry has now, if
    /// that is worth it and possible.
    /// \param info the entry's times and flags
    /// \param maxSize of an object, bytes
    void replaceHead(Engine &, StoreEntry &, const AttachmentPointer &, const ObjectInfo &info, int64_t maxSize);

    /// Moves a stored object to the key that its entry has got meanwhile. Its swap
    /// metadata names the key, and would be refused under another one.
    void rename(Engine &, StoreEntry &, const AttachmentPointer &);

    /// an entry was attached to an object, which may be one that is being updated
    void noteAttached(const AttachmentPointer &);

    /// whether no update is on its way
    bool idle() const { return !bytes_; }

private:
    /// new headers on their way
    struct Update {
        StoreEntry *entry; ///< locked
        std::vector<AttachmentPointer> attachments; ///< that were made before its end
        uint64_t cost; ///< most bytes that are read and staged for it
    };

    void noteHeadReplaced(const Key &, Status);

    std::function<void(Attachment &)> evict_;
    std::unordered_map<Key, Update, KeyHash> updates_;
    uint64_t bytes_ = 0; ///< the sum of their costs, and of what is being renamed
};

} // namespace ClusterFs

#endif

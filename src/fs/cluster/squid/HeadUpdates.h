// SPDX-License-Identifier: GPL-2.0-or-later
/* Updates of stored objects: new headers, and new keys. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_HEADUPDATES_H
#define SQUID_SRC_FS_CLUSTER_SQUID_HEADUPDATES_H

#include "fs/cluster/api/ObjectStore.h"
#include "fs/cluster/squid/HandleTable.h"

#include <functional>
#include <unordered_map>
#include <vector>

namespace ClusterFs {

/// Has an engine store the head of an object anew: its swap metadata and HTTP headers. The entry
/// keeps its sizes and offsets, because they are those of the bytes that its clients have read so
/// far. It stays locked until the update has ended, so that it is found in store_table.
class HeadUpdates
{
public:
    /// \param evict forgets an object whose headers must not be used any longer, or that is under a
    /// key that is not its own; may be called from ObjectStore::poll()
    explicit HeadUpdates(std::function<void(Attachment &)> evict): evict_(std::move(evict)) {}
    HeadUpdates(HeadUpdates &&) = delete; // no copying or moving of any kind

    /// Starts to store a new version of the object, with the headers that the entry has now, if
    /// that is worth it and possible. Without, only the times in the index are new.
    /// \param info the entry's times and flags
    /// \param maxSize most bytes of an object
    void replaceHead(ObjectStore &, StoreEntry &, const AttachmentPointer &, const ObjectInfo &info, int64_t maxSize);

    /// Moves a stored object to the key that its entry has got meanwhile. Its swap
    /// metadata names the key, and would be refused under another one.
    void rename(ObjectStore &, StoreEntry &, const AttachmentPointer &);

    /// an entry was attached to an object; if that is being updated, the entry takes part
    void noteAttached(const AttachmentPointer &);

    /// whether no update is on its way
    bool idle() const { return !bytes_; }

private:
    /// new headers on their way to the store
    struct Update {
        StoreEntry *entry; ///< locked
        std::vector<AttachmentPointer> attachments; ///< of the object, as long as the update is on its way
        uint64_t cost; ///< most bytes that are read and staged for it
    };

    void noteHeadReplaced(const Key &, Status);

    std::function<void(Attachment &)> evict_;
    std::unordered_map<Key, Update, KeyHash> updates_;
    uint64_t bytes_ = 0; ///< the sum of the costs of updates and renames on their way
};

} // namespace ClusterFs

#endif

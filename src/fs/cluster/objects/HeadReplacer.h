// SPDX-License-Identifier: GPL-2.0-or-later
/* A new version of an object that differs in its first bytes only. */

#ifndef SQUID_SRC_FS_CLUSTER_OBJECTS_HEADREPLACER_H
#define SQUID_SRC_FS_CLUSTER_OBJECTS_HEADREPLACER_H

#include "fs/cluster/objects/ObjectReader.h"
#include "fs/cluster/objects/ObjectWriter.h"

#include <memory>
#include <string>

namespace ClusterFs {

/// Reads the front of an object, puts other bytes before its remainder, and
/// stages that as the newer version. A large object keeps its parts.
class HeadReplacer : public std::enable_shared_from_this<HeadReplacer>
{
public:
    struct Task {
        Key key;
        Key newKey; ///< of the newer version; another one only for objects without parts, which name their key
        uint32_t oldHeadSize; ///< bytes to drop from the start
        std::string newHead; ///< bytes that take their place
        ObjectInfo info; ///< of the newer version; its size is ignored
        /// Called once, in a later turn, unless the engine closes before: ok; notFound (deleted or replaced meanwhile, or
        /// something was stored or removed under the new key);
        /// busy or full (may work later); unsupported (the old head goes on in the parts, the new one has no room, or
        /// the object has parts and the key is another one); or an error of reading.
        std::function<void(Status)> done;
    };

    /// begins; the object owns itself until Task::done was called
    static void Start(StoreContext &, WriterGroup &, std::unique_ptr<ObjectReader>, Task);

    HeadReplacer(StoreContext &, WriterGroup &, std::unique_ptr<ObjectReader>, Task);

private:
    bool moves() const { return task_.newKey != task_.key; }
    void collect();
    Status store();
    void finish(Status);

    StoreContext &context_;
    WriterGroup &writers_;
    std::unique_ptr<ObjectReader> reader_;
    Task task_;
    std::string rest_; ///< bytes of the old front behind the old head
};

} // namespace ClusterFs

#endif

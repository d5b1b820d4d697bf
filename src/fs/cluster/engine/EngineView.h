// SPDX-License-Identifier: GPL-2.0-or-later
/* An engine as another process sees it. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_ENGINEVIEW_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_ENGINEVIEW_H

#include "fs/cluster/api/SharedTables.h"
#include "fs/cluster/base/Descriptor.h"
#include "fs/cluster/base/SharedMemory.h"
#include "fs/cluster/cache/SharedWindows.h"
#include "fs/cluster/catalog/IndexView.h"
#include "fs/cluster/catalog/StagingView.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ClusterFs {

/// Maps the memory of an engine in another process, to read: looks objects up in its index, and copies those that are in
/// memory. It sends no message, waits for nothing, and believes nothing that it reads.
class EngineView
{
public:
    using Descriptors = std::array<Descriptor, SharedTables::count>;

    /// \param tables as the engine has given them to share(); its descriptors mean nothing here
    /// \param error receives the reason when it fails
    bool map(Descriptors, const SharedTables &tables, std::string &error);

    /// \see IndexView::find()
    bool find(const Key &key, ObjectInfo &info) const { return index_ && index_->find(key, info); }

    /// \see IndexView::next()
    bool next(uint64_t &cursor, Key &key, ObjectInfo &info, unsigned &looks) const { return index_ && index_->next(cursor, key, info, looks); }

    /// an object, copied
    struct Copy {
        ObjectInfo info;
        std::unique_ptr<char[]> memory;
        size_t front = 0; ///< bytes of the memory in front of the object

        const char *data() const { return memory.get() + front; }
    };
    /// Copies an object that is in memory, if it has no parts.
    /// \param most bytes that it may have
    /// \param copy receives it
    /// \returns false when that is not possible, or the object was changed meanwhile
    bool read(const Key &, uint64_t most, Copy &copy) const;

private:
    bool copyStaged(const Key &, const IndexView::Place &, Copy &) const;
    bool copyExtent(const Key &, const IndexView::Place &, Copy &) const;

    std::array<SharedMemory, SharedTables::count> memories_;
    std::optional<IndexView> index_; ///< none until map()
    std::optional<StagingView> staging_; ///< as index_
    std::optional<SharedWindowsView> windows_; ///< as index_
    Uuid uuid_{};
};

} // namespace ClusterFs

#endif

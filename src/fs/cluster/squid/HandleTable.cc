// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/HandleTable.h"

sfileno
ClusterFs::HandleTable::add(const AttachmentPointer &attachment)
{
    assert(attachment);
    if (!free_.empty()) {
        const auto handle = free_.back();
        free_.pop_back();
        assert(!slots_[handle]);
        slots_[handle] = attachment;
        return handle;
    }
    if (full())
        return -1;
    slots_.push_back(attachment);
    return static_cast<sfileno>(slots_.size() - 1);
}

ClusterFs::AttachmentPointer
ClusterFs::HandleTable::find(const sfileno handle) const
{
    if (handle < 0 || static_cast<size_t>(handle) >= slots_.size())
        return nullptr;
    return slots_[handle];
}

void
ClusterFs::HandleTable::remove(const sfileno handle)
{
    assert(find(handle));
    slots_[handle] = nullptr;
    free_.push_back(handle);
}

void
ClusterFs::HandleTable::forEach(const std::function<void(Attachment &)> &visit) const
{
    for (const auto &attachment: slots_) {
        if (attachment)
            visit(*attachment);
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Brings a text to a client of the cache manager. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_PAGESTREAM_H
#define SQUID_SRC_FS_CLUSTER_SQUID_PAGESTREAM_H

#include "store/forward.h"

#include "fs/cluster/squid/EventWork.h"
#include "fs/cluster/squid/PageText.h"

#include <memory>

namespace ClusterFs {

/// Writes a page in small pieces, from Squid's events, at the pace of the client. It ends when the client goes away or
/// Squid stops.
class PageStream final : public EventWork
{
public:
    /// begins to write a page
    /// \param entry of an action that is not atomic
    static void Start(StoreEntry *entry, std::unique_ptr<PageText>);

private:
    PageStream(StoreEntry *entry, std::unique_ptr<PageText> text): entry_(entry), text_(std::move(text)) {}

    void go() override;
    bool write(double &pause);

    StoreEntry *const entry_; ///< locked
    const std::unique_ptr<PageText> text_;
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "enums.h"
#include "fs/cluster/squid/PageStream.h"
#include "globals.h"
#include "Store.h"

namespace {

/// seconds between looks at a client that takes no more
const double ClientPause = 0.005;

} // namespace

void
ClusterFs::PageStream::Start(StoreEntry * const entry, std::unique_ptr<PageText> text)
{
    entry->lock("ClusterFs::PageStream");
    (new PageStream(entry, std::move(text)))->schedule(0); // go() deletes it
}

void
ClusterFs::PageStream::go()
{
    double pause = 0;
    if (write(pause))
        return schedule(pause);
    entry_->unlock("ClusterFs::PageStream");
    delete this;
}

/// \returns whether there is more to do
bool
ClusterFs::PageStream::write(double &pause)
{
    if (EBIT_TEST(entry_->flags, ENTRY_ABORTED))
        return false;
    if (!shutting_down && entry_->checkDeferRead(-1)) {
        pause = ClientPause;
        return true;
    }
    std::string text;
    pause = text_->go(text);
    entry_->buffer();
    entry_->append(text.data(), static_cast<int>(text.size()));
    entry_->flush();
    if (text_->over())
        entry_->complete();
    return !text_->over();
}

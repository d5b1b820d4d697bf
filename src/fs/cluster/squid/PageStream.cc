// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "base/TextException.h"
#include "enums.h"
#include "fs/cluster/squid/PageStream.h"
#include "globals.h"
#include "sbuf/SBuf.h"
#include "sbuf/Stream.h"
#include "Store.h"

namespace {

/// seconds between looks at a client that takes no more
const double ClientPause = 0.005;

} // namespace

void
ClusterFs::PageStream::Start(StoreEntry * const entry, std::unique_ptr<PageStream> stream)
{
    entry->lock("ClusterFs::PageStream");
    stream->entry_ = entry;
    stream.release()->schedule(0); // go() deletes it
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
    try {
        const TurnMeter::Turn turn(turns_);
        if (shutting_down)
            fail("Squid is being stopped");
        else
            pause = work(text);
    } catch (...) {
        fail(ToSBuf(CurrentException).c_str());
    }
    if (over_)
        text += why_;
    entry_->buffer();
    entry_->append(text.data(), static_cast<int>(text.size()));
    entry_->flush();
    if (over_)
        entry_->complete();
    return !over_;
}

void
ClusterFs::PageStream::finish(std::string &text)
{
    text += turns_.line() + "end: yes\n";
    end();
}

void
ClusterFs::PageStream::fail(const std::string &why)
{
    over_ = true;
    why_ = "error: " + why + "\n";
}

double
ClusterFs::TextStream::work(std::string &text)
{
    text = text_;
    end();
    return 0;
}

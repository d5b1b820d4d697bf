// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "base/TextException.h"
#include "fs/cluster/squid/PageText.h"
#include "globals.h"
#include "sbuf/SBuf.h"
#include "sbuf/Stream.h"

double
ClusterFs::PageText::go(std::string &text)
{
    double pause = 0;
    try {
        const TurnMeter::Turn turn(turns_);
        if (shutting_down)
            fail("Squid is being stopped");
        else if (!over_)
            pause = work(text);
    } catch (...) {
        fail(ToSBuf(CurrentException).c_str());
    }
    if (over_)
        text += why_;
    return pause;
}

void
ClusterFs::PageText::finish(std::string &text)
{
    text += turns_.line() + "end: yes\n";
    end();
}

void
ClusterFs::PageText::fail(const std::string &why)
{
    over_ = true;
    why_ = "error: " + why + "\n";
}

double
ClusterFs::FixedText::work(std::string &text)
{
    text += text_;
    end();
    return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "base/TextException.h"
#include "fs/cluster/squid/ClusterSearch.h"
#include "fs/cluster/squid/PageText.h"
#include "globals.h"
#include "sbuf/SBuf.h"
#include "sbuf/Stream.h"

namespace ClusterFs {
namespace {

class FixedText final : public PageText
{
public:
    explicit FixedText(const std::string &text): text_(text) {}

private:
    double work(std::string &text) override {
        text += text_;
        end();
        return 0;
    }

    const std::string text_;
};

std::string
errorLine(const std::string &why)
{
    return "error: " + why + "\n";
}

} // namespace
} // namespace ClusterFs

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
    why_ = errorLine(why);
}

void
ClusterFs::PageText::endWith(const ClusterSearch &search, std::string &text)
{
    if (!search.over())
        return;
    if (!search.failure().empty())
        return fail(search.failure());
    text += "clusters unread: " + std::to_string(search.unread()) + "\n";
    finish(text);
}

std::unique_ptr<ClusterFs::PageText>
ClusterFs::fixedText(const std::string &text)
{
    return std::make_unique<FixedText>(text);
}

std::unique_ptr<ClusterFs::PageText>
ClusterFs::refusal(const std::string &why)
{
    return fixedText(errorLine(why));
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of a manager's page, which may take many turns to come to be. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_PAGETEXT_H
#define SQUID_SRC_FS_CLUSTER_SQUID_PAGETEXT_H

#include "fs/cluster/squid/TurnMeter.h"

#include <memory>
#include <string>

namespace ClusterFs {

class ClusterSearch;

/// Makes a text piece by piece. One that ends before its time ends with the line "error: reason".
class PageText
{
public:
    virtual ~PageText() = default;
    PageText(PageText &&) = delete; // no copying or moving of any kind

    /// does a bounded piece of the work, unless it is over
    /// \param text receives what comes next, at its end
    /// \returns seconds after which to call it again
    double go(std::string &text);

    bool over() const { return over_; }

protected:
    PageText() = default;

    /// the same as go()
    virtual double work(std::string &text) = 0;

    void end() { over_ = true; }
    /// ends the text with two lines more, the longest turn and "end: yes"
    void finish(std::string &text);
    void fail(const std::string &why);
    /// ends the text when a search has ended: with how many clusters it could not read, or why it has failed
    void endWith(const ClusterSearch &, std::string &text);

    TurnMeter turns_; ///< of what the work does to Squid's event loop

private:
    bool over_ = false;
    std::string why_; ///< it failed
};

/// a text that is there already, to which no end is added
std::unique_ptr<PageText> fixedText(const std::string &);

/// the line that says why there is no other text
std::unique_ptr<PageText> refusal(const std::string &why);

} // namespace ClusterFs

#endif

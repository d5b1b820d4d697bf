// SPDX-License-Identifier: GPL-2.0-or-later
/* A manager's page that takes many turns to write. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_PAGESTREAM_H
#define SQUID_SRC_FS_CLUSTER_SQUID_PAGESTREAM_H

#include "store/forward.h"

#include "fs/cluster/squid/EventWork.h"

#include <memory>
#include <string>

namespace ClusterFs {

/// Writes a page in small pieces, from Squid's events, at the pace of the client. It ends when the client goes away or
/// Squid stops. What ends before its time ends with the line "error: reason".
class PageStream: public EventWork
{
public:
    /// begins to write a page
    /// \param entry of an action that is not atomic
    static void Start(StoreEntry *entry, std::unique_ptr<PageStream>);

protected:
    void end() { over_ = true; }

    /// does a bounded piece of the work
    /// \param text receives what goes to the client
    /// \returns seconds after which to call it again
    virtual double work(std::string &text) = 0;

    /// ends the page with two lines more, the longest turn and "end: yes"
    void finish(std::string &text);
    void fail(const std::string &why);

private:
    void go() override;
    bool write(double &pause);

    StoreEntry *entry_ = nullptr; ///< locked
    bool over_ = false;
    std::string why_; ///< it failed
};

/// a page of one text, to which no end is added
class TextStream final : public PageStream
{
public:
    explicit TextStream(const std::string &text): text_(text) {}

private:
    double work(std::string &) override;

    const std::string text_;
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* A user's browser. */

#ifndef CLUSTERFS_BENCH_WEB_CLIENT_BROWSER_H
#define CLUSTERFS_BENCH_WEB_CLIENT_BROWSER_H

#include "tools/bench/web/client/ProxyConnection.h"
#include "tools/bench/web/workload/Workload.h"

#include <deque>
#include <memory>
#include <vector>

namespace WebBench {

/// Makes visits over a few connections of its own: fetches what is known to be
/// needed, in the order of the document, and learns from HTML and style sheets
/// what else is needed. It has no cache. Several visits may be under way (a log
/// has them); mostly it is one.
class Browser: private ProxyConnection::Owner
{
public:
    /// What is told when a visit is over.
    class Owner
    {
    public:
        virtual ~Owner() = default;
        virtual void visited(Browser &, Nanos from, bool success) = 0;
    };

    /// \param number is the owner's
    /// \param source the address to come from; 0 leaves it to the system
    /// \param connections the most it opens
    Browser(ClientContext &, Owner &, uint32_t number, uint32_t source, unsigned connections);

    uint32_t number() const { return number_; }

    /// Begins a visit. The owner is called when it is over, perhaps before this returns.
    /// \param from when it should have begun. From then on counts the time of its
    /// first request; that of the others, when a connection was free for them
    void begin(Visit &&, Nanos from);

    /// gives up what takes too long
    void tick(Nanos time);

    /// \returns when the visits that are not over should have begun
    std::vector<Nanos> unfinished() const;

private:
    struct Running {
        Visit items;
        Nanos from = 0;
        uint32_t open = 0; ///< items that are queued or under way
        bool failed = false;
    };
    struct Wanted {
        Running *visit = nullptr;
        uint32_t item = 0;
    };
    struct Line {
        std::unique_ptr<ProxyConnection> connection;
        Wanted job; ///< while it is busy
    };

    void fetched(ProxyConnection &, bool success) override;
    void want(Running &, uint32_t parent);
    void workOn();
    Line *freeLine();
    void settle(const Wanted &, bool success);
    void finish(Running &);

    ClientContext &context_;
    Owner &owner_;
    uint32_t number_;
    uint32_t source_;
    unsigned mostLines_;
    std::vector<Line> lines_;
    std::deque<Wanted> queue_;
    std::vector<std::unique_ptr<Running>> visits_;
};

} // namespace WebBench

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* What the command line of bench-client says. */

#ifndef CLUSTERFS_BENCH_WEB_CLIENT_CLIENTSETTINGS_H
#define CLUSTERFS_BENCH_WEB_CLIENT_CLIENTSETTINGS_H

#include "tools/bench/web/base/Endpoint.h"
#include "tools/bench/web/client/RequestText.h"
#include "tools/bench/web/workload/Factory.h"

#include <string>

namespace Tools {
class CommandLine;
}

namespace WebBench {

using namespace Tools;

/// Everything that decides a run. Numbers that are 0 stand for "not given"
/// until check() has filled them in.
struct ClientSettings {
    /// how visits are timed
    enum class Timing { closed, poisson, log };

    WorkloadSettings workload;
    Timing timing = Timing::closed;

    Endpoint proxy;
    std::string proxyText = "127.0.0.1:3128";
    std::string origin = "127.0.0.1:9090";
    std::string domain;
    bool reverse = false;
    std::string refererText = "full";
    RequestText::Referer referer = RequestText::Referer::full;
    bool checkBodies = true;

    uint64_t users = 0; ///< who are active at once
    uint64_t browsers = 0; ///< all there are; more than users only in logs
    uint64_t connections = 6; ///< of a browser
    uint64_t addresses = 0; ///< source addresses; 0 leaves that to the system
    bool oneAddress = false;
    double rate = 0; ///< visits per second
    double think = 0; ///< seconds between a user's visits, mean
    std::string logTiming = "throttle";
    double speedup = 1;

    double warmup = 0; ///< all in seconds
    double seconds = 0;
    double drain = 30;
    double timeout = 60;
    double deadline = 0;
    double interval = 1;
    uint64_t visits = 0;
    uint64_t maxErrors = 1000;

    std::string json = "-";
    bool describe = false;

    void declare(CommandLine &);

    /// fills in what follows from other options
    /// \returns false with the reason in error
    bool check(const CommandLine &, std::string &error);

private:
    bool checkTiming(const CommandLine &, std::string &error);
    bool checkUsers(std::string &error);
};

} // namespace WebBench

#endif

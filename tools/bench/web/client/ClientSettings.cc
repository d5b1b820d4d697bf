// SPDX-License-Identifier: GPL-2.0-or-later
/* What the command line of bench-client says. */

#include "tools/bench/web/client/ClientSettings.h"

#include "tools/base/CommandLine.h"

#include <algorithm>

namespace WebBench {

namespace {

/// users for whom there are source addresses, 127.0.1.1 to 127.0.254.250
constexpr uint64_t maxUsers = 254 * 250;

/// of a log, unless --addresses says otherwise
constexpr uint64_t logBrowsers = 250;

} // namespace

void
ClientSettings::declare(CommandLine &line)
{
    line.section("Who is asked");
    line.text("proxy", proxyText, "IPV4:PORT", "address of the proxy");
    line.text("origin", origin, "HOST:PORT", "the origin's name in URLs; give the same as --proxy to ask the origin itself");
    line.text("domain", domain, "NAME",
                 "each site is a host of this domain (http://s12.NAME/...), whose requests the proxy must bring to the origin;\n"
                 "without it, all sites are folders of the origin");
    line.flag("reverse", reverse, "the proxy poses as the origin: send it paths and Host, not whole URLs");
    workload.declare(line);
    line.choice("timing", logTiming, {"throttle", "real", "fast"},
                   "throttle: --users requests at once, each the next of the log. real: at the times of the log.\n"
                   "fast: like throttle, with as many as 256 at once");
    line.real("speedup", speedup, 0.001, 1e6, "for --timing real: times as fast as the log");
    line.section("Users");
    line.whole("users", users, 0, maxUsers,
                  "how many visits are under way at once; 0: 8, in an open loop at most 64, logs: see --timing (real: at most 1000)");
    line.real("rate", rate, 0, 1e6,
                 "open loop: visits per second, at random times; what is late counts from when it was due; 0: closed loop");
    line.real("think", think, 0, 3600, "closed loop: mean seconds that a user rests between visits");
    line.whole("connections", connections, 1, 64, "most connections of a browser");
    line.whole("addresses", addresses, 0, maxUsers, "source addresses (127.0.x.y) of the users; 0: one for each user; logs: 250");
    line.flag("one-address", oneAddress, "leave the source address to the system");
    line.choice("referer", refererText, {"full", "origin", "none"}, "part of the Referer that browsers send");
    line.section("How long");
    line.real("seconds", seconds, 0, 1e6, "measured time; 0: until --visits are done");
    line.whole("visits", visits, 0, UINT64_MAX,
                  "visits (also those of the warm-up); 0: as long as --seconds; a log or --order once ends by itself");
    line.real("warmup", warmup, 0, 1e6, "seconds before the measured time");
    line.real("drain", drain, 0, 1e5, "open loop: seconds to wait for unfinished visits when the time is over");
    line.real("timeout", timeout, 0.1, 1e5, "seconds for one request");
    line.real("deadline", deadline, 0, 1e6, "seconds after which the program ends in any case; 0: a minute after it should have ended, or an hour");
    line.whole("max-errors", maxErrors, 1, UINT64_MAX, "give up after that many errors");
    line.section("Results");
    line.text("json", json, "FILE", "file for the results; - is the standard output");
    line.real("interval", interval, 0.01, 1e5, "seconds of a row of the timeline");
    line.flag("no-check", checkBodies, "do not compare the bytes of bodies", false);
    line.flag("check", checkBodies, "compare the bytes of bodies (the default)");
    line.flag("describe", describe, "print the objects of the workload, and end");
}

bool
ClientSettings::checkTiming(const CommandLine &line, std::string &error)
{
    const bool isLog = workload.isLog();
    if (!isLog && (line.given("timing") || line.given("speedup")))
        error = "--timing and --speedup are for the workload log";
    else if (isLog && (rate > 0 || think > 0))
        error = "--rate and --think are not for the workload log: --timing says when its requests are made";
    else if (line.given("speedup") && logTiming != "real")
        error = "--speedup is for --timing real";
    else if (rate > 0 && think > 0)
        error = "--think is for a closed loop, --rate makes an open one";
    else if (!describe && !isLog && !workload.isOnce() && seconds <= 0 && !visits)
        error = "it needs an end: --seconds or --visits";
    if (rate > 0)
        timing = Timing::poisson;
    else if (isLog && logTiming == "real")
        timing = Timing::log;
    return error.empty();
}

bool
ClientSettings::checkUsers(std::string &error)
{
    const bool isLog = workload.isLog();
    if (!users) {
        const uint64_t logUsers = logTiming == "throttle" ? 16 : logTiming == "fast" ? 256 : 1000;
        users = isLog ? logUsers : timing == Timing::poisson ? 64 : 8;
    }
    browsers = !isLog ? users : addresses ? addresses : logBrowsers;
    addresses = oneAddress ? 0 : addresses ? std::min(addresses, browsers) : browsers;
    const uint64_t needed = browsers * connections + 50, limit = raiseDescriptorLimit();
    if (needed > limit)
        error = std::to_string(browsers) + " browsers of " + std::to_string(connections) + " connections need " + std::to_string(needed)
                + " descriptors, but the limit is " + std::to_string(limit) + ": fewer --users or --connections, or a higher ulimit -n";
    return error.empty();
}

bool
ClientSettings::check(const CommandLine &line, std::string &error)
{
    if (!proxy.parse(proxyText, error)) {
        error = "--proxy: " + error;
        return false;
    }
    if (origin.empty() || origin.find_first_of(" /@\"\\") != std::string::npos) {
        error = "--origin: \"" + origin + "\" is not of the form HOST:PORT";
        return false;
    }
    if (domain.find_first_of(" /@\"\\:") != std::string::npos) {
        error = "--domain: \"" + domain + "\" is not the name of a domain";
        return false;
    }
    referer = refererText == "full" ? RequestText::Referer::full
              : refererText == "origin" ? RequestText::Referer::origin : RequestText::Referer::none;
    if (line.given("check") && line.given("no-check")) {
        error = "--check and --no-check contradict each other";
        return false;
    }
    if (!checkTiming(line, error) || !checkUsers(error))
        return false;
    if (deadline <= 0)
        deadline = seconds > 0 ? warmup + seconds + drain + 60 : 3600;
    return true;
}

} // namespace WebBench

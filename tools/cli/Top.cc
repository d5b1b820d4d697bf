// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs top. */

#include "Manager.h"
#include "View.h"

#include <sstream>

namespace ClusterFs::Cli {
namespace {

int
runTop(const Words &words)
{
    const auto *command = findCommand("top");
    CommandLine line(std::string("clusterfs top ") + command->usage + "\n\n" + command->purpose);
    std::vector<std::string> urls;
    double interval = 2;
    bool once = false;
    std::string passwordFile;
    line.words(urls);
    line.real("interval", interval, 0.2, 3600, "seconds between two looks");
    line.flag("once", once, "look twice, print the figures as text, and end");
    declarePassword(line, passwordFile);
    if (!line.read(words))
        return exitFine;
    if (urls.empty())
        throw BadRequest("name a running Squid: http://HOST:PORT");
    std::ostringstream seconds;
    seconds << interval;
    Words given = {"--interval=" + seconds.str(), "--password-file=" + passwordFile};
    if (once)
        given.push_back("--once");
    given.push_back("--");
    given.insert(given.end(), urls.begin(), urls.end());
    return runView("top", given);
}

} // namespace

extern const Command topCommand = {
    "top", &runTop,
    "URL... [--interval=SECONDS] [--once] [--password-file=FILE]",
    "Shows what the cache_dirs of running Squids do now: hits and misses, the disk's requests and\n"
    "times, the use of locality, space, housekeeping and errors. URL is http://HOST:PORT."
};

} // namespace ClusterFs::Cli

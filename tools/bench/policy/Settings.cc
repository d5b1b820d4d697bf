// SPDX-License-Identifier: GPL-2.0-or-later
/* What the command line of bench-policy says. */

#include "tools/bench/policy/Settings.h"

#include "tools/base/CommandLine.h"
#include "tools/replay/Proxy.h"

#include <algorithm>

namespace PolicyBench {

namespace {

/// the words but for options of these names, and their values
std::vector<std::string>
without(const std::vector<std::string> &words, const std::vector<std::string> &names)
{
    std::vector<std::string> rest;
    for (size_t i = 0; i < words.size(); ++i) {
        const auto name = words[i].substr(0, words[i].find('='));
        if (std::find(names.begin(), names.end(), name) == names.end())
            rest.push_back(words[i]);
        else if (name == words[i])
            ++i;
    }
    return rest;
}

} // namespace

void
Settings::declare(Tools::CommandLine &line)
{
    workload.declare(line);
    line.section("Who asks");
    line.whole("users", users, 1, 100000, "users who are active at once; each makes one visit after the other");
    line.choice("prepare", prepare, {"fill", "age", "nothing"},
                   "what comes before: each page once, or random visits that replace the cache over and over");
    line.real("turns", turns, 0, 1000, "how many times aging replaces the contents of the filled cache");
    line.whole("warm", warm, 0, 100000000, "visits before the counted ones");
    line.flag("restart", restart, "end the engine in order before the counted visits, and start it again");
    line.whole("visits", visits, 1, 100000000, "counted visits");
    line.whole("show", show, 0, 1000, "visits after the counted ones of which all requests, and those of the disk, are printed");
    line.section("The cache");
    line.whole("cache-mb", cacheMb, 16, 10000000, "size of the device");
    line.text("engine", engine_, "OPTIONS", "options of cache_dir, in one word: --engine=\"staging=8 read-cache=40 locality=0\"");
    line.choice("model", model_, {"hdd", "ssd"}, "cost of a disk request: 3.8 ms and 105 MB/s, or 50 us and 400 MB/s");
}

void
Settings::check()
{
    costs = Replay::Costs::Of(model_);
    Replay::setOptions("--engine", engine_, config);
}

bool
Settings::read(const std::vector<std::string> &words)
{
    words_ = words;
    Tools::CommandLine line("bench-policy: the engine's decisions without a proxy and without waiting: hit ratio beside\n"
                            "those of LRU, S3-FIFO, LFUDA and GDSF over objects, and where its disk reads go. Deterministic.");
    declare(line);
    if (!line.read(words))
        return false;
    check();
    return true;
}

std::unique_ptr<WebBench::Workload>
Settings::visitsIn(const std::string &order, std::string &error) const
{
    Settings own;
    auto words = words_;
    if (!order.empty()) {
        words = without(words, {"--order", "--change", "--flood", "--seed"});
        words.insert(words.end(), {"--order", order, "--seed", "1000"});
    }
    Tools::CommandLine line("");
    own.declare(line);
    line.read(words);
    return own.workload.make(line, static_cast<uint32_t>(users), error);
}

} // namespace PolicyBench

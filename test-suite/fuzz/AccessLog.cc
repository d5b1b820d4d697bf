// SPDX-License-Identifier: GPL-2.0-or-later
/* Logs that the benchmarks replay. First byte: 0 to 3 = the format, 4 = pass over bad lines. */

#include "test-suite/fuzz/TextFile.h"

#include "tools/replay/LogFile.h"

using namespace Replay;
using Tools::Nanos;

namespace Fuzz {
namespace {

void
run(Input in)
{
    static const char *const formats[] = {"auto", "squid", "common", "table"};
    const auto choice = in.u8();
    const TextFile file(takeRest(in));
    Log::Options options;
    options.format = formats[choice & 3];
    options.skipBadLines = choice & 4;
    options.mostEntries = 1000;
    Log log;
    std::string error;
    if (!log.read(file.path(), options, error)) {
        require(!error.empty(), "a refusal has a reason");
        return;
    }
    require(error.empty() && !log.entries.empty() && log.entries.size() <= options.mostEntries, "a log has entries, not too many");
    require(log.entries.front().time == 0, "time begins with the first request");
    Nanos before = 0;
    for (const auto &entry: log.entries) {
        require(entry.time >= before, "requests are in order");
        before = entry.time;
        require(entry.object < log.objects.size() && entry.client < log.clients, "objects and clients are known");
        require(entry.referer == LogEntry::none || entry.referer < log.objects.size(), "so are referers");
        const auto size = log.objects[entry.object].size;
        require(size > 0 && size <= largestObject, "an object has a size within bounds");
    }
}

std::vector<std::string>
seeds()
{
    const std::string squid = "1700000000.123    150 10.0.0.1 TCP_MISS/200 5120 GET http://a/x.html - HIER_DIRECT/1.2.3.4 text/html\n"
                              "1700000001.000      0 10.0.0.2 TCP_HIT/304 - GET http://a/x.html - HIER_NONE/- text/html\n"
                              "1700000001.500     10 10.0.0.2 TCP_MISS/404 300 POST http://a/y - HIER_NONE/- -\n";
    const std::string common = "h1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a.gif HTTP/1.0\" 200 2326\n"
                               "h2 - u [10/Oct/2000:13:55:30 +0000] \"GET /b c.html HTTP/1.1\" 200 10 \"http://s/a.gif\" \"agent \\\" x\"\n"
                               "h2 - u [31/Dec/2001:23:59:60 +1400] \"-\" 400 -\n";
    const std::string table = "time\tclient\turl\treferer\tstatus\tbytes\tkind\n0.5\tc1\tu1\t-\t200\t100\thtml\n1\tc2\tu2\tu1\t200\t-\temb\n"
                              "2\tc1\tu2\tu1\t206\t55\toth\n";
    std::vector<std::string> all;
    for (const auto &log: {squid, common, table}) {
        all.push_back('\0' + log);
        all.push_back('\4' + log + "nonsense\n");
    }
    all.push_back('\1' + squid);
    all.push_back('\2' + common);
    all.push_back('\3' + table);
    return all;
}

const Target target("access-log", run, seeds);

} // namespace
} // namespace Fuzz

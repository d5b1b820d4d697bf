// SPDX-License-Identifier: GPL-2.0-or-later
/* The subcommands of diskmodel: from words to options. */

#include "tools/diskmodel/Commands.h"

#include "tools/diskmodel/CommandLine.h"
#include "tools/diskmodel/base/Numbers.h"
#include "tools/diskmodel/predict/Prediction.h"
#include "tools/diskmodel/replay/Replay.h"
#include "tools/diskmodel/serve/Supervisor.h"

#include <cstdio>

namespace DiskModel {

static constexpr uint64_t leastDevice = 1 << 20;
static constexpr uint64_t maxDevice = uint64_t(1) << 42;
static constexpr uint64_t deviceUnit = 4096;

static Parameters
parametersOf(const CommandLine &line)
{
    return Parameters::Of(line.text("model", "hdd")).with(line.text("set"));
}

static uint64_t
deviceSize(const CommandLine &line, const char *const usual)
{
    const auto text = line.text("size", usual);
    const auto size = parseSize("--size", text, leastDevice, maxDevice);
    if (size % deviceUnit)
        throw BadRequest("--size must be a multiple of 4096 bytes, not " + text);
    return size;
}

static void
expectWords(const CommandLine &line, const size_t count, const char *const what)
{
    if (line.words().size() != count)
        throw BadRequest(std::string("expected ") + what + " beside options, not " +
                         std::to_string(line.words().size()) + " words (diskmodel --help)");
}

static std::string
checkedName(const std::string &name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    if (name.empty() || name.size() > 32 || name.find_first_not_of(allowed) != std::string::npos)
        throw BadRequest("--name must be 1 to 32 letters, digits, - and _, not '" + name + "'");
    return name;
}

int
runServe(const std::vector<std::string> &words)
{
    const CommandLine line(words, {
        "model", "set", "size", "name", "store", "store-folder", "record", "record-limit", "scheduler", "sector",
        "patience"
    }, {"overcommit", "no-loop", "until-eof"});
    expectWords(line, 0, "nothing");
    ServeOptions options;
    options.name = checkedName(line.text("name", options.name));
    options.parameters = parametersOf(line);
    options.size = deviceSize(line, "");
    options.store = line.text("store");
    options.storeFolder = line.text("store-folder", options.storeFolder);
    options.overcommit = line.has("overcommit");
    options.record = line.text("record");
    options.recordLimit = parseSize("--record-limit", line.text("record-limit", "4G"), 1 << 12, maxDevice);
    options.loop = !line.has("no-loop");
    options.scheduler = line.text("scheduler");
    options.sector = static_cast<unsigned>(parseWhole("--sector", line.text("sector", "512"), 512, 4096));
    if (options.sector & (options.sector - 1))
        throw BadRequest("--sector must be a power of two, not " + line.text("sector"));
    options.untilEof = line.has("until-eof");
    options.patience = static_cast<unsigned>(parseWhole("--patience", line.text("patience", "10"), 0, 600));
    return Supervisor(options).run();
}

static ReplayMode
modeOf(const std::string &name)
{
    if (name == "prefix")
        return ReplayMode::prefix;
    if (name == "drop")
        return ReplayMode::drop;
    if (name == "subset")
        return ReplayMode::subset;
    throw BadRequest("--mode is prefix, drop or subset, not '" + name + "'");
}

/// the last record that counts
static uint64_t
cutOf(const CommandLine &line, const LogReader &log)
{
    const uint64_t last = log.entries().size();
    if (line.has("upto") + line.has("mark") + line.has("fraction") > 1)
        throw BadRequest("give one of --upto, --mark and --fraction");
    if (line.has("upto"))
        return parseWhole("--upto", line.text("upto"), 1, last);
    if (line.has("fraction"))
        return static_cast<uint64_t>(parseNumber("--fraction", line.text("fraction"), 0, 1) *
                                     static_cast<double>(last));
    if (!line.has("mark"))
        return last;
    const auto wanted = parseWhole("--mark", line.text("mark"), 0, UINT64_MAX);
    for (const auto &entry: log.entries()) {
        if (entry.record.kind == LogKind::mark && entry.record.offset == wanted)
            return entry.record.sequence;
    }
    throw BadRequest("there is no mark " + std::to_string(wanted) + " in the log");
}

static void
list(const LogReader &log)
{
    const auto begin = log.entries().front().record.time;
    for (const auto &entry: log.entries()) {
        const auto &r = entry.record;
        printf("%llu\t%s\t%llu\t%llu\t%.6f\n", static_cast<unsigned long long>(r.sequence), nameOf(r.kind),
               static_cast<unsigned long long>(r.offset), static_cast<unsigned long long>(r.size),
               seconds(r.time - begin));
    }
}

int
runReplay(const std::vector<std::string> &words)
{
    const CommandLine line(words, {"mode", "upto", "mark", "fraction", "seed", "base"}, {"list"});
    expectWords(line, line.has("list") ? 1 : 2, line.has("list") ? "a log" : "a log and an image");
    const LogReader log(line.words()[0]);
    if (line.has("list")) {
        list(log);
        return 0;
    }
    const auto seed = parseWhole("--seed", line.text("seed", "1"), 0, UINT64_MAX);
    Replay replay(log, cutOf(line, log), modeOf(line.text("mode", "subset")), seed);
    replay.write(line.words()[1], line.text("base"));
    printf("%s\n", replay.json().text().c_str());
    return 0;
}

int
runPredict(const std::vector<std::string> &words)
{
    const CommandLine line(words, {"model", "set", "size", "block", "depth", "requests", "seed"},
                           {"write", "sequential"});
    expectWords(line, 0, "nothing");
    Load load;
    load.writes = line.has("write");
    load.sequential = line.has("sequential");
    load.block = parseSize("--block", line.text("block", "4K"), 512, 1 << 30);
    load.depth = static_cast<unsigned>(parseWhole("--depth", line.text("depth", "1"), 1, 4096));
    load.requests = parseWhole("--requests", line.text("requests", "2000"), 1, 100000000);
    load.seed = parseWhole("--seed", line.text("seed", "1"), 0, UINT64_MAX);
    Prediction prediction(parametersOf(line), deviceSize(line, "8G"), load);
    prediction.run();
    printf("%s\n", prediction.json().text().c_str());
    return 0;
}

} // namespace DiskModel

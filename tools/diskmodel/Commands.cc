// SPDX-License-Identifier: GPL-2.0-or-later
/* The subcommands of diskmodel: from words to options. */

#include "tools/diskmodel/Commands.h"

#include "tools/base/CommandLine.h"
#include "tools/diskmodel/device/Control.h"
#include "tools/diskmodel/predict/Prediction.h"
#include "tools/diskmodel/replay/Replay.h"
#include "tools/diskmodel/serve/Supervisor.h"

#include <cstdio>

namespace DiskModel {

using namespace Tools;

static constexpr uint64_t leastDevice = 1 << 20;
static constexpr uint64_t maxDevice = uint64_t(1) << 42;
static constexpr uint64_t deviceUnit = 4096;

/// of the modelled disk
struct ModelOptions {
    std::string name = "hdd";
    std::string set;
    uint64_t size = 0; ///< bytes

    void declare(CommandLine &line) {
        line.text("model", name, "NAME", "hdd, hdd10k, ssd or fast");
        line.text("set", set, "NAME=VALUE,...", "changes the model's parameters, see diskmodel --help");
        line.bytes("size", size, leastDevice, maxDevice, "size of the disk")->required(!size);
    }

    Parameters parameters() const { return Parameters::Of(name).with(set); }

    uint64_t checkedSize() const {
        if (size % deviceUnit)
            throw BadRequest("--size must be a multiple of 4096 bytes, not " + std::to_string(size));
        return size;
    }
};

static void
checkName(const std::string &name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    if (name.empty() || name.size() > 32 || name.find_first_not_of(allowed) != std::string::npos)
        throw BadRequest("--name must be 1 to 32 letters, digits, - and _, not '" + name + "'");
}

int
runServe(const std::vector<std::string> &words)
{
    ServeOptions options;
    options.recordLimit = uint64_t(4) << 30;
    ModelOptions model;
    CommandLine line("diskmodel serve --size=SIZE [options]: makes a block device, until SIGTERM or SIGINT (root)");
    model.declare(line);
    line.text("name", options.name, "NAME", "part of the folder's name");
    line.text("store-folder", options.storeFolder, "DIR", "folder for the bytes");
    line.text("store", options.store, "FILE", "keep the bytes in this file, which stays");
    line.flag("overcommit", options.overcommit, "start although there is no room for the whole disk");
    line.text("record", options.record, "FILE", "record all writes, for replay");
    line.bytes("record-limit", options.recordLimit, 1 << 12, maxDevice, "most bytes of that file; then all requests fail");
    line.flag("no-loop", options.loop, "make no block device, only the file", false);
    line.text("scheduler", options.scheduler, "NAME", "scheduler of the block device (default: mq-deadline for hdd, else none)");
    line.whole("sector", options.sector, 512, 4096, "bytes of a logical block");
    line.flag("until-eof", options.untilEof, "also end when standard input ends");
    line.whole("patience", options.patience, 0, 600, "seconds to wait at the end while others use the disk");
    line.footer("It prints a line of JSON: device, folder, file, server. The folder holds the disk as a\n"
                "file; stats, which is JSON; and ctl, which takes commands and then tells their errors:\n" + std::string(Control::Help()));
    if (!line.read(words))
        return 0;
    checkName(options.name);
    options.parameters = model.parameters();
    options.size = model.checkedSize();
    if (options.sector & (options.sector - 1))
        throw BadRequest("--sector must be a power of two, not " + std::to_string(options.sector));
    return Supervisor(options).run();
}

static ReplayMode
modeOf(const std::string &name)
{
    return name == "prefix" ? ReplayMode::prefix : name == "drop" ? ReplayMode::drop : ReplayMode::subset;
}

/// the record of a mark, which is a number in text
static uint64_t
recordOf(const std::string &mark, const LogReader &log)
{
    const auto wanted = wholeFrom("--mark", mark, 0, UINT64_MAX);
    for (const auto &entry: log.entries()) {
        if (entry.record.kind == LogKind::mark && entry.record.offset == wanted)
            return entry.record.sequence;
    }
    throw BadRequest("there is no mark " + mark + " in the log");
}

static void
list(const LogReader &log)
{
    const auto begin = log.entries().front().record.time;
    for (const auto &entry: log.entries()) {
        const auto &r = entry.record;
        printf("%llu\t%s\t%llu\t%llu\t%.6f\n", static_cast<unsigned long long>(r.sequence), nameOf(r.kind),
               static_cast<unsigned long long>(r.offset), static_cast<unsigned long long>(r.size),
               toSeconds(r.time - begin));
    }
}

int
runReplay(const std::vector<std::string> &words)
{
    std::vector<std::string> places;
    std::string mode = "subset", mark, base;
    uint64_t upto = 0, seed = 1;
    double fraction = 1;
    bool onlyList = false;
    CommandLine line("diskmodel replay LOG IMAGE [options]: makes the image that a power cut would have left\n"
                     "diskmodel replay LOG --list: prints the records: number, kind, offset, bytes, seconds");
    line.choice("mode", mode, {"prefix", "drop", "subset"},
                "prefix: all writes that arrived. drop: those that flushes guarantee.\nsubset: those, and some of the others, some of them torn");
    line.whole("upto", upto, 1, UINT64_MAX, "cut the power after this record (default: at the end)");
    line.text("mark", mark, "N", "cut the power at this mark");
    line.real("fraction", fraction, 0, 1, "cut the power after this share of the records");
    line.whole("seed", seed, 0, UINT64_MAX, "seed of the choice what is kept, torn and lost");
    line.text("base", base, "IMAGE", "the disk as it was when the log began");
    line.flag("list", onlyList, "print the records instead");
    line.words(places);
    if (!line.read(words))
        return 0;
    if (line.given("upto") + line.given("mark") + line.given("fraction") > 1)
        throw BadRequest("give one of --upto, --mark and --fraction");
    if (places.size() != (onlyList ? 1 : 2))
        throw BadRequest(std::string("expected ") + (onlyList ? "a log" : "a log and an image") + " beside options, not " +
                         std::to_string(places.size()) + " words (diskmodel --help)");
    const LogReader log(places[0]);
    if (onlyList) {
        list(log);
        return 0;
    }
    const auto share = static_cast<uint64_t>(fraction * static_cast<double>(log.entries().size()));
    Replay replay(log, upto ? upto : mark.empty() ? share : recordOf(mark, log), modeOf(mode), seed);
    replay.write(places[1], base);
    printf("%s\n", jsonText(replay.json()).c_str());
    return 0;
}

int
runPredict(const std::vector<std::string> &words)
{
    Load load;
    ModelOptions model;
    model.size = uint64_t(8) << 30;
    CommandLine line("diskmodel predict [options]: prints what the model says of a load");
    model.declare(line);
    line.bytes("block", load.block, 512, 1 << 30, "bytes of a request");
    line.whole("depth", load.depth, 1, 4096, "requests under way");
    line.whole("requests", load.requests, 1, 100000000, "requests in all");
    line.flag("write", load.writes, "write instead of reading");
    line.flag("sequential", load.sequential, "begin at the start of the disk and go on in order, not at random");
    line.whole("seed", load.seed, 0, UINT64_MAX, "seed of the random offsets");
    if (!line.read(words))
        return 0;
    Prediction prediction(model.parameters(), model.checkedSize(), load);
    prediction.run();
    printf("%s\n", jsonText(prediction.json()).c_str());
    return 0;
}

} // namespace DiskModel

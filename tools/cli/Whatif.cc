// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs whatif. */

#include "Commands.h"
#include "Image.h"
#include "Output.h"

#include "fs/cluster/learning/RequestText.h"
#include "fs/cluster/squid/ObjectText.h"
#include "tools/base/Lru.h"
#include "tools/base/Random.h"
#include "tools/base/Text.h"
#include "tools/replay/LogFile.h"
#include "tools/replay/Proxy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace Tools;

namespace ClusterFs::Cli {
namespace {

constexpr double gigabyte = 1e9; ///< as disks are sold
constexpr uint64_t megabyte = 1 << 20; ///< as options of cache_dir count memory
constexpr uint64_t longestPause = 3600; ///< seconds: longer ones in a log count as that long
constexpr uint64_t localityBytes = 150; ///< that learning needs for an object (docs/operations.md, Memory)
constexpr uint64_t mostStagingMb = 256;

/// what was asked for
struct WhatifOrder {
    std::string path;
    std::vector<double> disksGb;
    std::string disk = "hdd";
    double memoryGb = 0; ///< 0 = the defaults of cache_dir
    std::string options;
    Replay::Log::Options log;
    bool json = false;
};

/// what the log comes to, whatever the disk
struct Demand {
    std::vector<Request> requests; ///< by object: what the engine hears of it; without client and referer
    uint64_t bytes = 0; ///< of all requests
    uint64_t objects = 0; ///< that are asked for
    uint64_t objectBytes = 0; ///< of all objects, each once
    uint64_t pages = 0; ///< requests of pages
    uint64_t hits = 0; ///< that the log itself had
    uint64_t hitBytes = 0;
    uint64_t seconds = 0; ///< from the first request to the last, long pauses cut
};

/// what one disk came to
struct Outcome {
    uint64_t hits = 0;
    uint64_t hitBytes = 0;
    uint64_t lruHits = 0;
    uint64_t lruBytes = 0;
    uint64_t refused = 0; ///< stores
    uint64_t reads = 0; ///< requests of the disk
    uint64_t readBytes = 0;
    uint64_t written = 0; ///< bytes
    uint64_t busy = 0; ///< microseconds of the disk
    uint64_t busiest = 0; ///< the most of them in one hour of the log
};

double
ratio(const uint64_t part, const uint64_t all)
{
    return all ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

double
percent(const uint64_t part, const uint64_t all)
{
    return 100 * ratio(part, all);
}

/// the URL that stands for an object's: same site, kind and purpose
std::string
urlOf(const Replay::LogObject &object)
{
    char text[64];
    snprintf(text, sizeof(text), "http://%016llx.test/%016llx.", static_cast<unsigned long long>(object.site),
             static_cast<unsigned long long>(object.name));
    return text + std::string(Replay::infoOf(object.kind).extension);
}

/// what a proxy would tell of a request of it
Request
describe(const Replay::LogObject &object)
{
    const auto url = urlOf(object);
    RequestText text;
    text.url = url;
    text.accept = Replay::infoOf(object.kind).accept;
    Request request;
    const uint64_t words[2] = {object.name, mix(object.name, 1)};
    memcpy(request.key.bytes.data(), words, sizeof(words));
    ClusterFs::describe(text, request);
    return request;
}

Demand
weigh(Replay::Log &log)
{
    Demand demand;
    for (const auto &object: log.objects) {
        demand.requests.push_back(describe(object));
        demand.objects += object.size > 0;
        demand.objectBytes += object.size;
    }
    constexpr auto most = static_cast<Nanos>(longestPause) * oneSecond;
    Nanos before = 0, cut = 0;
    for (auto &entry: log.entries) {
        const auto pause = entry.time - before;
        before = entry.time;
        cut += std::max<Nanos>(pause - most, 0);
        entry.time -= cut;
        const auto size = log.objects[entry.object].size;
        demand.bytes += size;
        demand.pages += demand.requests[entry.object].kind == RequestKind::page;
        demand.hits += entry.hit;
        demand.hitBytes += entry.hit ? size : 0;
    }
    demand.seconds = static_cast<uint64_t>(log.entries.back().time / oneSecond);
    return demand;
}

/// The memory that was given, divided: to learning what it needs for the log's objects, at most a fifth; of
/// the rest a quarter to staging, at most 256 MB; the others to the read cache. Options that were given win.
Config
configOf(const WhatifOrder &order, const Replay::Log &log)
{
    Config config;
    if (order.memoryGb > 0) {
        const auto all = static_cast<uint64_t>(order.memoryGb * gigabyte / megabyte);
        const auto locality = std::clamp<uint64_t>(log.objects.size() * localityBytes / megabyte + 1, 1, std::max<uint64_t>(all / 5, 1));
        const auto staging = std::clamp<uint64_t>((all - std::min(all, locality)) / 4, 2, mostStagingMb);
        const auto rest = all - std::min(all, locality + staging);
        config.localityMb = static_cast<uint32_t>(std::min<uint64_t>(locality, 65536));
        config.stagingMb = static_cast<uint32_t>(staging);
        config.readCacheMb = static_cast<uint32_t>(std::clamp<uint64_t>(rest, 2, 65536));
    }
    Replay::setOptions("--options", order.options, config);
    return config;
}

/// says on a terminal how far it is
class Progress
{
public:
    Progress(const double diskGb, const size_t all): diskGb_(diskGb), all_(all), shown_(isatty(STDERR_FILENO) == 1) {}
    ~Progress() {
        if (shown_)
            fprintf(stderr, "\r%60s\r", "");
    }
    void at(const size_t done) const {
        if (shown_ && done % 4096 == 0)
            fprintf(stderr, "\r%s GB: %3.0f %% of %zu requests", realText(diskGb_).c_str(), 100.0 * static_cast<double>(done) / static_cast<double>(all_), all_);
    }

private:
    double diskGb_;
    size_t all_;
    bool shown_;
};

/// the log, request by request, on a disk of that size
class Replayed
{
public:
    Replayed(const Replay::Log &log, const Demand &demand): log_(log), demand_(demand) {}
    /// \throws BadRequest when such a disk cannot be
    Outcome run(const Config &, double diskGb, const std::string &model);

private:
    void request(Replay::Proxy &, LruCache &, const Replay::LogEntry &, Outcome &) const;

    const Replay::Log &log_;
    const Demand &demand_;
};

void
Replayed::request(Replay::Proxy &proxy, LruCache &lru, const Replay::LogEntry &entry, Outcome &o) const
{
    auto request = demand_.requests[entry.object];
    request.client = 1 + entry.client;
    if (entry.referer != Replay::LogEntry::none) {
        request.referer = demand_.requests[entry.referer].url;
        request.refererSite = demand_.requests[entry.referer].site;
    }
    const auto size = log_.objects[entry.object].size;
    const auto stored = size + Replay::headerBytes;
    proxy.engine().note(request);
    if (lru.find(entry.object)) {
        ++o.lruHits;
        o.lruBytes += size;
    } else {
        lru.add(entry.object, stored);
    }
    if (proxy.fetch(request.key)) {
        ++o.hits;
        o.hitBytes += size;
    } else {
        o.refused += !proxy.store(request.key, stored);
    }
}

Outcome
Replayed::run(const Config &config, const double diskGb, const std::string &model)
{
    const auto bytes = static_cast<uint64_t>(diskGb * gigabyte);
    Replay::Proxy proxy(config, bytes, Replay::Costs::Of(model));
    std::string error;
    if (!proxy.start(true, error))
        throw BadRequest("--disk-gb: " + realText(diskGb) + ": " + error);
    LruCache lru(bytes);
    Outcome o;
    const Progress progress(diskGb, log_.entries.size());
    const auto begin = proxy.now();
    const auto &device = proxy.device();
    const auto busyBefore = device.busyMicros();
    const auto before = device.stats();
    uint64_t hour = 0, hourBegan = busyBefore;
    for (size_t n = 0; n < log_.entries.size(); ++n) {
        const auto &entry = log_.entries[n];
        progress.at(n);
        proxy.passUntil(begin + static_cast<uint64_t>(entry.time) / 1000);
        if (const auto now = static_cast<uint64_t>(entry.time / oneSecond) / 3600; now != hour) {
            o.busiest = std::max(o.busiest, device.busyMicros() - hourBegan);
            hourBegan = device.busyMicros();
            hour = now;
        }
        request(proxy, lru, entry, o);
    }
    o.busiest = std::max(o.busiest, device.busyMicros() - hourBegan);
    o.busy = device.busyMicros() - busyBefore;
    o.reads = device.stats().of(IoOp::read).requests - before.of(IoOp::read).requests;
    o.readBytes = device.stats().of(IoOp::read).bytes - before.of(IoOp::read).bytes;
    o.written = device.stats().of(IoOp::write).bytes - before.of(IoOp::write).bytes;
    proxy.stop();
    return o;
}

/// a share of an hour, or of the log if that is shorter; more than 100 means that the disk cannot do it
double
load(const uint64_t busy, const uint64_t seconds)
{
    return percent(busy, std::max<uint64_t>(seconds, 1) * 1000000);
}

/// prints results as text or gathers them as JSON
class Report
{
public:
    Report(const WhatifOrder &order, const Config &config, const Replay::Log &log, const Demand &demand):
        order_(order), config_(config), log_(log), demand_(demand) {}
    void head();
    void disk(double gb, const Outcome &);
    void finish() const;

private:
    std::string line() const;

    const WhatifOrder &order_;
    const Config &config_;
    const Replay::Log &log_;
    const Demand &demand_;
    Json disks_ = Json::array();
};

/// the options of the cache_dir that was tried
std::string
Report::line() const
{
    std::string text;
    for (const auto *name: {"staging", "read-cache", "locality"})
        text += std::string(text.empty() ? "" : " ") + name + "=" + config_.get(name);
    return text + (order_.options.empty() ? "" : " (" + order_.options + ")");
}

void
Report::head()
{
    if (order_.json)
        return;
    const auto requests = log_.entries.size();
    printf("%s: %zu requests of %llu objects (%s) by %u clients in %s hours; %llu of them open pages\n", printable(order_.path).c_str(),
           requests, static_cast<unsigned long long>(demand_.objects), sizeText(demand_.objectBytes).c_str(), log_.clients,
           realText(std::round(static_cast<double>(demand_.seconds) / 36) / 100).c_str(), static_cast<unsigned long long>(demand_.pages));
    printf("left out: %llu lines of other methods than GET, %llu of other statuses than 200, 203, 206 and 304,\n"
           "  %llu without a size that some line tells, %llu that are no lines of this format%s%s\n",
           static_cast<unsigned long long>(log_.otherMethods), static_cast<unsigned long long>(log_.otherStatuses),
           static_cast<unsigned long long>(log_.noSizes), static_cast<unsigned long long>(log_.badLines),
           log_.badLines ? "; the first: " : "", printable(log_.firstBad).c_str());
    if (log_.cut)
        printf("  and all that comes behind these requests: --requests takes more of them\n");
    if (log_.tellsHits)
        printf("hits that the log itself has: %.1f %% of requests, %.1f %% of bytes\n", percent(demand_.hits, requests), percent(demand_.hitBytes, demand_.bytes));
    printf("cache_dir clusterfs PATH %s, a modelled %s\n\n", line().c_str(), order_.disk.c_str());
    printf("              hits, %% of         LRU over objects     disk reads of a      load of disk, %%    written\n");
    printf("   disk GB  requests   bytes   requests   bytes    request    page      mean  worst hour       GB\n");
    fflush(stdout);
}

void
Report::disk(const double gb, const Outcome &o)
{
    const auto requests = log_.entries.size();
    const auto mean = load(o.busy, demand_.seconds);
    const auto worst = load(o.busiest, std::min<uint64_t>(demand_.seconds, 3600));
    if (!order_.json) {
        char ofPage[16] = "-";
        if (demand_.pages)
            snprintf(ofPage, sizeof(ofPage), "%.2f", ratio(o.reads, demand_.pages));
        printf("%10s  %8.1f  %6.1f   %8.1f  %6.1f   %8.3f  %6s  %8.1f  %10.1f  %7.2f\n", realText(gb).c_str(), percent(o.hits, requests),
               percent(o.hitBytes, demand_.bytes), percent(o.lruHits, requests), percent(o.lruBytes, demand_.bytes), ratio(o.reads, requests),
               ofPage, mean, worst, static_cast<double>(o.written) / gigabyte);
        if (o.refused)
            printf("            %llu objects were not stored: a limit was reached, or they were not admitted\n", static_cast<unsigned long long>(o.refused));
        fflush(stdout);
        return;
    }
    disks_.push_back({
        {"disk_gb", gb}, {"hits", o.hits}, {"hit_bytes", o.hitBytes}, {"lru_hits", o.lruHits}, {"lru_hit_bytes", o.lruBytes},
        {"disk_reads", o.reads}, {"disk_read_bytes", o.readBytes}, {"disk_written_bytes", o.written}, {"load_mean_percent", mean},
        {"load_worst_hour_percent", worst}, {"not_stored", o.refused}
    });
}

void
Report::finish() const
{
    if (!order_.json) {
        printf("\nThe log does not say which responses must not be stored or were stale: real hits are fewer. A load near 100 %%\n"
               "is too much for the disk.\n");
        return;
    }
    Json json;
    json["path"] = bytesText(order_.path);
    json["requests"] = log_.entries.size();
    json["bytes"] = demand_.bytes;
    json["objects"] = demand_.objects;
    json["object_bytes"] = demand_.objectBytes;
    json["clients"] = log_.clients;
    json["pages"] = demand_.pages;
    json["seconds"] = demand_.seconds;
    json["left_out"] = {
        {"other_methods", log_.otherMethods}, {"other_statuses", log_.otherStatuses}, {"no_size", log_.noSizes},
        {"bad_lines", log_.badLines}, {"behind_the_last_request", log_.cut}
    };
    json["hits_in_log"] = log_.tellsHits ? Json(demand_.hits) : Json();
    json["options"] = line();
    json["disk"] = order_.disk;
    json["disks"] = disks_;
    puts(jsonText(json).c_str());
}

/// \returns false when only help was wanted
bool
understand(const Words &words, WhatifOrder &order)
{
    const auto *command = findCommand("whatif");
    CommandLine line(std::string("clusterfs whatif ") + command->usage + "\n\n" + command->purpose);
    std::vector<std::string> paths;
    std::string disks;
    line.words(paths);
    line.text("disk-gb", disks, "LIST", "sizes of the disk in GB (10^9 bytes), separated by commas");
    line.real("memory-gb", order.memoryGb, 0, 1000, "memory for staging, read-cache and locality; 0: the defaults of cache_dir");
    line.choice("disk", order.disk, {"hdd", "ssd"}, "cost of a disk request: 3.8 ms and 105 MB/s, or 50 us and 400 MB/s");
    line.text("options", order.options, "OPTIONS", "more options of cache_dir, in one word: --options=\"replacement=lfuda admit=2\"");
    line.choice("log-format", order.log.format, {"auto", "squid", "common", "table"}, "auto judges by the first line that is of one");
    line.whole("requests", order.log.mostEntries, 1, 1000000000, "requests to take, from the beginning of the log");
    line.flag("json", order.json, "print one JSON object");
    if (!line.read(words))
        return false;
    if (paths.size() != 1 || paths[0].empty())
        throw BadRequest("name one log");
    order.path = paths[0];
    order.log.skipBadLines = true;
    if (disks.empty())
        throw BadRequest("--disk-gb=LIST is missing: sizes of the disk, such as 500,1000,2000");
    for (const auto &size: split(disks, ','))
        order.disksGb.push_back(realFrom("--disk-gb", std::string(size), 0.016, 100000));
    return true;
}

int
runWhatif(const Words &words)
{
    WhatifOrder order;
    if (!understand(words, order))
        return exitFine;
    configOf(order, Replay::Log()); // before the log, which may take minutes
    Replay::Log log;
    std::string error;
    if (!log.read(order.path, order.log, error)) {
        complain(error);
        return exitCannot;
    }
    const auto demand = weigh(log);
    const auto config = configOf(order, log);
    Report report(order, config, log, demand);
    report.head();
    for (const auto gb: order.disksGb)
        report.disk(gb, Replayed(log, demand).run(config, gb, order.disk));
    report.finish();
    return exitFine;
}

} // namespace

extern const Command whatifCommand = {
    "whatif", &runWhatif,
    "LOG --disk-gb=LIST [--memory-gb=N] [--disk=hdd|ssd] [--options=OPTIONS] [--log-format=FORMAT] [--requests=N] [--json]",
    "Replays an access.log through the engine, on disks of these sizes in simulated time, and\n"
    "prints the hits beside those of LRU over objects, the disk reads, and the load of the disk.\n"
    "Needs no disk, and as much memory as the cache_dir would take, and some for the log."
};

} // namespace ClusterFs::Cli

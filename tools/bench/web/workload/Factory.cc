// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the workload that the command line describes. */

#include "tools/bench/web/workload/Factory.h"

#include "tools/base/CommandLine.h"
#include "tools/bench/web/corpus/GeneratedCorpus.h"
#include "tools/bench/web/corpus/TraceCorpus.h"
#include "tools/bench/web/workload/FloodWorkload.h"
#include "tools/bench/web/workload/SinglesWorkload.h"

#include <cmath>
#include <utility>

namespace WebBench {

namespace {

/// which workloads an option is for
struct Use {
    const char *option;
    const char *workloads;
};

/// mean number of objects of a page, where nothing else says it
constexpr double usualObjects = 42;

constexpr Use uses[] = {
    {"order", "pages random large onehit churn"}, {"zipf", "pages random large onehit churn"},
    {"drift", "pages random large onehit churn"}, {"sites", "pages onehit churn"}, {"pages", "pages onehit churn"},
    {"corpus-bytes", "pages onehit churn"}, {"trace", "pages onehit churn"}, {"objects", "pages random large onehit churn"},
    {"page-bytes", "pages onehit churn random"}, {"shared", "pages onehit churn"}, {"revisit", "pages onehit churn"},
    {"change", "pages onehit churn"}, {"flood", "onehit"},
    {"object-bytes", "random large onehit"}, {"min-bytes", "large"}, {"max-bytes", "large"}, {"log", "log"},
    {"log-format", "log"}, {"log-entries", "log"}, {"skip-bad-lines", "log"},
};

} // namespace

void
WorkloadSettings::declare(CommandLine &line)
{
    line.section("What is asked for");
    line.choice("workload", workload, {"pages", "random", "large", "onehit", "churn", "log"},
                   "pages: browsers that visit pages. random: single objects, all alike likely. large: downloads. onehit: pages,\n"
                   "and crawlers' visits for objects that nobody asks for again. churn: pages of a corpus too large for any\n"
                   "cache. log: replay of a log");
    line.whole("seed", seed, 0, UINT64_MAX, "seed of the requests");
    line.whole("corpus-seed", corpusSeed_, 0, UINT64_MAX, "seed of the objects, and of their popularity");
    line.choice("order", order_, {"popularity", "random", "once"},
                   "by Zipf's law, all alike likely, or each once; the default is popularity, for random it is random");
    line.real("zipf", zipf_, 0, 3, "exponent of the popularity; churn has 0.6");
    line.real("drift", drift_, 0, 1, "chance at each visit that its page or object has just traded popularity with any other");
    line.real("objects", objects_, 0, maxPages,
                 "pages: the mean number of a page (0: 42; with --trace the trace says it). Others: how many there are\n"
                 "(0: 100000, of large ones 200); for onehit and churn, as many sites as come to that (0: --sites says it)");
    declarePages(line);
    line.section("Single objects (random, large)");
    line.bytes("object-bytes", objectBytes_, 0, largestObject, "size of all objects; 0: sizes vary, with a mean of --page-bytes / 42");
    line.bytes("min-bytes", minBytes_, 1, largestObject, "size of the smallest large object");
    line.bytes("max-bytes", maxBytes_, 1, largestObject, "size of the largest large object");
    line.section("Logs");
    line.text("log", log_, "FILE", "Squid's access.log, common or combined log format, or a table; may be compressed by gzip");
    line.choice("log-format", logOptions_.format, {"auto", "squid", "common", "table"}, "auto judges by the first line");
    line.whole("log-entries", logOptions_.mostEntries, 1, 100000000, "requests to take, from the beginning of the log");
    line.flag("skip-bad-lines", logOptions_.skipBadLines, "count lines that cannot be read instead of giving up");
}

void
WorkloadSettings::declarePages(CommandLine &line)
{
    line.section("Pages (pages, onehit, churn)");
    line.whole("sites", sites_, 1, maxPages, "number of sites; churn has 4000");
    line.whole("pages", pages_, 1, maxPages, "pages of each site");
    line.bytes("corpus-bytes", corpusBytes_, 0, uint64_t(1) << 50, "take as many sites as have that many bytes; 0: as many as --sites says");
    line.text("trace", trace_, "FILE", "take page structures from recorded page loads, see TraceFile.h; may be compressed by gzip");
    line.real("page-bytes", pageBytes_, 1, 1e10, "mean bytes of a page (default with --trace: those of the trace)");
    line.real("shared", context_, 0, 1, "share of a page's objects that other pages of the site have, too");
    line.real("revisit", revisit_, 0, 1, "chance that a user returns to one of the last 8 pages");
    line.real("change", change_, 0, 1, "chance at each visit that an object of the page has just been replaced, under a new URL");
    line.real("flood", flood_, 0, 1, "for onehit: share of the visits that a crawler makes");
}

/// An option that would be passed over silently makes for wrong conclusions.
bool
WorkloadSettings::fits(const CommandLine &line, std::string &error) const
{
    for (const auto &use: uses) {
        if (line.given(use.option) && (" " + std::string(use.workloads) + " ").find(" " + workload + " ") == std::string::npos) {
            error = std::string("--") + use.option + " is not for the workload " + workload + ", but for: " + use.workloads;
            return false;
        }
    }
    const bool counted = objects_ > 0;
    if (counted && isPages() && (objects_ < 1 || objects_ > maxMembers))
        error = "--objects: a page has 1 to " + std::to_string(maxMembers) + " objects";
    else if (counted && isPages() && !trace_.empty())
        error = "--objects: with --trace the trace says how many objects a page has";
    else if (counted && objects_ != std::floor(objects_) && !isPages())
        error = "--objects: it is a whole number for the workload " + workload;
    else if ((line.given("sites") ? 1 : 0) + (corpusBytes_ ? 1 : 0) + (counted && !isPages() ? 1 : 0) > 1)
        error = "--sites, --corpus-bytes and (but for pages) --objects all say how many sites there are: give one of them";
    else if (minBytes_ > maxBytes_)
        error = "--min-bytes " + std::to_string(minBytes_) + " is more than --max-bytes " + std::to_string(maxBytes_);
    else if (isLog() && log_.empty())
        error = "the workload log needs --log FILE";
    return error.empty();
}

double
WorkloadSettings::perPage() const
{
    return isPages() && objects_ > 0 ? objects_ : usualObjects;
}

/// how many objects there are; 0 leaves that to other options
uint64_t
WorkloadSettings::population() const
{
    return isPages() ? 0 : static_cast<uint64_t>(objects_);
}

Chooser::Config
WorkloadSettings::choice(const CommandLine &line) const
{
    Chooser::Config result;
    const auto order = order_.empty() ? std::string(workload == "random" ? "random" : "popularity") : order_;
    result.order = order == "once" ? Order::once : order == "random" ? Order::random : Order::popularity;
    result.zipf = workload == "churn" && !line.given("zipf") ? 0.6 : zipf_;
    result.drift = drift_;
    result.seed = seed;
    result.corpusSeed = corpusSeed_;
    return result;
}

std::unique_ptr<Corpus>
WorkloadSettings::makeCorpus(const CommandLine &line, std::string &error) const
{
    const uint64_t sites = workload == "churn" && !line.given("sites") ? 4000 : sites_;
    if (sites > maxPages / pages_) {
        error = "--sites " + std::to_string(sites) + " of --pages " + std::to_string(pages_) + " are more than "
                + std::to_string(maxPages) + " pages";
        return nullptr;
    }
    std::unique_ptr<Corpus> corpus;
    if (trace_.empty()) {
        corpus = std::make_unique<GeneratedCorpus>(sites, pages_, GeneratedCorpus::Shape{corpusSeed_, perPage(), pageBytes_, context_});
    } else {
        std::vector<TraceSession> sessions;
        if (!readTrace(trace_, sessions, error))
            return nullptr;
        const double pageBytes = line.given("page-bytes") ? pageBytes_ : 0;
        corpus = std::make_unique<TraceCorpus>(sites, pages_, TraceCorpus::Shape{corpusSeed_, pageBytes, context_}, std::move(sessions));
    }
    if ((corpusBytes_ || population()) && !corpus->growTo(corpusBytes_, population(), error))
        return nullptr;
    return corpus;
}

std::unique_ptr<PagesWorkload>
WorkloadSettings::makePages(const CommandLine &line, std::string &error) const
{
    auto corpus = makeCorpus(line, error);
    if (!corpus)
        return nullptr;
    return std::make_unique<PagesWorkload>(std::move(corpus), PagesWorkload::Config{choice(line), revisit_, change_});
}

std::unique_ptr<Workload>
WorkloadSettings::makeFlood(const CommandLine &line, std::string &error) const
{
    auto base = makePages(line, error);
    if (!base)
        return nullptr;
    SingleObjects objects;
    objects.folder = "/flood" + std::to_string(seed); // so that a second run finds none of them
    objects.seed = mix(corpusSeed_, seed);
    objects.mean = pageBytes_ / usualObjects;
    objects.fixed = objectBytes_;
    const auto burst = static_cast<uint32_t>(std::lround(usualObjects));
    return std::make_unique<FloodWorkload>(std::move(base), flood_, burst, objects, seed);
}

std::unique_ptr<Workload>
WorkloadSettings::makeSingles(const CommandLine &line) const
{
    SingleObjects objects;
    objects.folder = "/" + workload;
    objects.seed = corpusSeed_;
    objects.downloads = workload == "large";
    objects.least = minBytes_;
    objects.most = maxBytes_;
    objects.mean = pageBytes_ / usualObjects;
    objects.fixed = objectBytes_;
    const uint64_t count = population() ? population() : objects.downloads ? 200 : 100000;
    return std::make_unique<SinglesWorkload>(count, objects, choice(line));
}

std::unique_ptr<Workload>
WorkloadSettings::makeLog(const uint32_t users, std::string &error) const
{
    Log log;
    if (!log.read(log_, logOptions_, error))
        return nullptr;
    return std::make_unique<LogWorkload>(std::move(log), users);
}

std::unique_ptr<Workload>
WorkloadSettings::make(const CommandLine &line, const uint32_t users, std::string &error) const
{
    if (!fits(line, error))
        return nullptr;
    if (isLog())
        return makeLog(users, error);
    if (workload == "random" || workload == "large")
        return makeSingles(line);
    if (workload == "onehit")
        return makeFlood(line, error);
    return makePages(line, error);
}

} // namespace WebBench

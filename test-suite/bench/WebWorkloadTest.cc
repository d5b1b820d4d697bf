// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of the web load: traces, logs, workloads. */

#include "tools/bench/web/corpus/GeneratedCorpus.h"
#include "tools/bench/web/corpus/TraceCorpus.h"
#include "tools/bench/web/workload/FloodWorkload.h"
#include "tools/bench/web/workload/LogWorkload.h"
#include "tools/bench/web/workload/Pacing.h"
#include "tools/bench/web/workload/PagesWorkload.h"
#include "tools/replay/LogLine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <unistd.h>

using namespace WebBench;

namespace {

/// a file that lives as long as the test needs it
class File
{
public:
    explicit File(const std::string &text): path_(testing::TempDir() + "web-test-" + std::to_string(getpid())) {
        std::ofstream(path_) << text;
    }
    ~File() { remove(path_.c_str()); }
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

const std::string traceHead = "session\tpage\tseq\tstart\turl\treferer\tstatus\tbytes\tsize_source\tkind\n";

std::string
traceError(const std::string &text)
{
    std::vector<TraceSession> sessions;
    std::string error;
    const File file(text);
    EXPECT_FALSE(readTrace(file.path(), sessions, error));
    return error.substr(error.find(": ") + 2);
}

std::string
logError(const std::string &text, const std::string &format = "auto")
{
    Log log;
    Log::Options options;
    options.format = format;
    std::string error;
    const File file(text);
    EXPECT_FALSE(log.read(file.path(), options, error));
    return error.substr(error.find(": ") + 2);
}

std::unique_ptr<PagesWorkload>
pages(const PagesWorkload::Config &config)
{
    return std::make_unique<PagesWorkload>(std::make_unique<GeneratedCorpus>(4, 25, GeneratedCorpus::Shape()), config);
}

const std::string squidLine = "1066036250.603    500 192.168.0.227 TCP_MISS/200 1234 GET http://example.com/a.gif - HIER_DIRECT/1.2.3.4 image/gif\n";

} // namespace

TEST(WebTraceTest, pagesKeepTheirStructure)
{
    const File file(traceHead + "s\tp1\t1\t-\thome\t-\t200\t1000\tcl\thtml\n"
                                "s\tp1\t2\t-\tstyle\thome\t200\t500\tcl\tcss\n"
                                "s\tp1\t3\t-\tlogo\tstyle\t200\t300\tcl\timage\n"
                                "s\tp1\t4\t-\tfont\thome\t200\t400\tcl\tfont\n"
                                "s\tp1\t5\t-\tlogo\thome\t200\t300\tcl\timage\n"
                                "s\tp1\t6\t-\tempty\thome\t200\t0\tcl\tother\n"
                                "s\tp2\t1\t-\tnews\thome\t200\t2000\tcl\thtml\n"
                                "s\tp2\t2\t-\tstyle\tnews\t304\t0\tcl\tcss\n");
    std::vector<TraceSession> sessions;
    std::string error;
    ASSERT_TRUE(readTrace(file.path(), sessions, error)) << error;
    ASSERT_EQ(sessions.size(), 1U);
    ASSERT_EQ(sessions[0].size(), 2U);
    const auto &home = sessions[0][0];
    ASSERT_EQ(home.size(), 4U); // without what came twice or is empty
    EXPECT_EQ(home[2].parent, 1U);
    EXPECT_EQ(home[3].parent, 1U) << "style sheets ask for fonts";
    EXPECT_TRUE(home[1].shared);
    EXPECT_FALSE(home[2].shared);
    EXPECT_EQ(sessions[0][1][1].size, 500U) << "the size of a 304 is known from elsewhere";

    const TraceCorpus corpus(3, 4, {}, sessions);
    const auto totals = corpus.totals();
    EXPECT_EQ(totals.pages, 12U);
    EXPECT_EQ(totals.objects, 3U * (2 * 3 + 2 * 1 + 1));
    EXPECT_DOUBLE_EQ(totals.meanPageBytes, (2200 + 2500) / 2.0);
    const auto first = corpus.page(0), clone = corpus.page(2), next = corpus.page(1);
    EXPECT_EQ(Corpus::path(first, first.members[1], 1), Corpus::path(next, next.members[1], 1));
    EXPECT_EQ(Corpus::path(first, first.members[1], 1), Corpus::path(clone, clone.members[1], 1));
    EXPECT_NE(Corpus::path(first, first.members[2], 1), Corpus::path(clone, clone.members[2], 1));

    TraceCorpus::Shape shape;
    shape.pageBytes = 23500;
    EXPECT_NEAR(TraceCorpus(3, 4, shape, sessions).totals().meanPageBytes, 23500, 1);
}

TEST(WebTraceTest, badLinesAreNamed)
{
    const std::string good = "s\tp\t1\t-\tu\t-\t200\t10\tcl\thtml\n";
    EXPECT_EQ(traceError(""), "the file is empty");
    EXPECT_EQ(traceError(traceHead), "the file has a head, but no objects");
    EXPECT_EQ(traceError("time\tclient\n"), "line 1: the head has no column \"session\"; is this a trace of page loads?");
    EXPECT_EQ(traceError(traceHead + good + "s\tp\n"), "line 3: has 2 columns, but the head has 10");
    EXPECT_EQ(traceError(traceHead + "s\tp\t1\t-\tu\t-\t200\tmany\tcl\thtml\n"), "line 2: bytes: \"many\" is not a size of an object");
    EXPECT_EQ(traceError(traceHead + "s\tp\t1\t-\tu\t-\t200\t1\tcl\tvideo\n"),
              "line 2: kind: \"video\" is not one of html, css, js, image, font, other, binary");
    EXPECT_EQ(traceError(traceHead + "s\tp\t1\t-\t\t-\t200\t1\tcl\thtml\n"), "line 2: session, page or url is empty");
    EXPECT_EQ(traceError(traceHead + "s\tp\t1\t-\tu\t-\t200\t0\tcl\thtml\n"), "no object has a size");
    EXPECT_EQ(traceError(traceHead + good + std::string(70000, 'x')), "line 3: longer than 65536 bytes; is this a text file?");
    EXPECT_EQ(traceError(traceHead + good + std::string("a\0b\n", 4) + good), "line 3: has a NUL byte; is this a text file?");
    std::vector<TraceSession> sessions;
    std::string error;
    EXPECT_FALSE(readTrace("/nonexistent", sessions, error));
    EXPECT_EQ(error, "/nonexistent: No such file or directory");
}

TEST(WebLogTest, formats)
{
    LogLine line;
    std::string error;
    const auto squid = LogFormat::Make("auto", squidLine);
    ASSERT_TRUE(squid);
    ASSERT_TRUE(squid->parse(std::string_view(squidLine).substr(0, squidLine.size() - 1), line, error)) << error;
    EXPECT_DOUBLE_EQ(line.time, 1066036250.103);
    EXPECT_EQ(line.client, "192.168.0.227");
    EXPECT_EQ(line.url, "http://example.com/a.gif");
    EXPECT_EQ(line.status, 200U);
    EXPECT_EQ(line.bytes, 1234U);
    EXPECT_EQ(line.kind, Kind::image);

    EXPECT_FALSE(line.hit);

    // a logformat with %tl, with or without brackets, in the place of %ts.%03tu
    for (const std::string date: {"13/Oct/2003:09:10:50 +0000", "[13/Oct/2003:09:10:50 +0000]"}) {
        const auto dated = date + "    500 192.168.0.227 TCP_MEM_HIT/200 1234 GET http://example.com/a.gif - HIER_NONE/- image/gif";
        const auto format = LogFormat::Make("auto", dated);
        ASSERT_TRUE(format) << dated;
        ASSERT_TRUE(format->parse(dated, line, error)) << error;
        EXPECT_DOUBLE_EQ(line.time, 1066036249.5);
        EXPECT_EQ(line.url, "http://example.com/a.gif");
        EXPECT_TRUE(line.hit);
    }
    ASSERT_TRUE(squid->parse("5.0 0 c TCP_REFRESH_UNMODIFIED/200 9 GET http://x/ -", line, error)) << error;
    EXPECT_TRUE(line.hit);

    const std::string text = "10.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /a b.css HTTP/1.0\" 200 2326 \"http://h/\\\"x\" \"Mozilla\"";
    const auto common = LogFormat::Make("auto", text);
    ASSERT_TRUE(common);
    ASSERT_TRUE(common->parse(text, line, error)) << error;
    EXPECT_DOUBLE_EQ(line.time, 971211336);
    EXPECT_EQ(line.client, "10.0.0.1");
    EXPECT_EQ(line.url, "/a b.css");
    EXPECT_EQ(line.kind, Kind::css);
    EXPECT_EQ(line.referer, "http://h/\\\"x");
    ASSERT_TRUE(common->parse("h - - [10/Oct/2000:13:55:36 +0000] \"GET /old\" 304 -", line, error)) << error;
    EXPECT_EQ(line.url, "/old");
    EXPECT_EQ(line.bytes, 0U);
    EXPECT_EQ(line.referer, "");
    ASSERT_TRUE(common->parse("h - - [10/Oct/2000:13:55:36 +0000] \"\\x16\\x03\" 400 0", line, error)) << error;
    EXPECT_EQ(line.method, "");

    const auto table = LogFormat::Make("auto", "time\tclient\turl_sha1_16\treferer_sha1_16\tstatus\tbytes\tkind");
    ASSERT_TRUE(table && table->hasHead());
    ASSERT_TRUE(table->parse("12.5\tc\tu\t-\t200\t99\temb", line, error)) << error;
    EXPECT_EQ(line.kind, Kind::image);
    EXPECT_FALSE(LogFormat::Make("auto", "hello"));
}

TEST(WebLogTest, badLinesAreNamed)
{
    const std::string hint = " (--skip-bad-lines passes over such lines)";
    EXPECT_NE(logError("hello\n").find("line 1: neither Squid's access.log"), std::string::npos);
    EXPECT_EQ(logError(squidLine + "garbage\n"), "line 2: has 1 words, but a line of Squid's access.log has 10" + hint);
    EXPECT_EQ(logError("x" + squidLine, "squid"), "line 1: the time is \"x1066036250.603\"" + hint);
    EXPECT_EQ(logError("1.0 5 c TCP_MISS 1 GET http://x/\n", "squid"), "line 1: the result code is \"TCP_MISS\"" + hint);
    EXPECT_EQ(logError("1.0 5 c TCP_MISS/200 1x GET http://x/\n", "squid"), "line 1: the size is \"1x\"" + hint);
    EXPECT_EQ(logError("h - - [no date] \"GET / HTTP/1.0\" 200 1\n"), "line 1: the date is \"no date\"" + hint);
    EXPECT_EQ(logError("h - - [10/Foo/2000:13:55:36 +0000] \"GET / HTTP/1.0\" 200 1\n"),
              "line 1: the date is \"10/Foo/2000:13:55:36 +0000\"" + hint);
    EXPECT_EQ(logError("h - - [10/Oct/2000:13:55:36 +0000] \"GET / HTTP/1.0 200 1\n"), "line 1: has no \"request\" in quotes" + hint);
    EXPECT_EQ(logError("h - - [10/Oct/2000:13:55:36 +0000] \"GET / HTTP/1.0\" 200\n"),
              "line 1: has no status and size behind the request" + hint);
    EXPECT_EQ(logError("time\tclient\turl\n1\t2\n"), "line 2: has 2 columns, but should have 7: time client url referer status bytes kind" + hint);
    EXPECT_NE(logError("1.0 5 c TCP_MISS/404 1 GET http://x/\n").find("no request in it can be replayed (1 are no GET"), std::string::npos);
}

TEST(WebLogTest, becomesRequests)
{
    Log log;
    Log::Options options;
    options.skipBadLines = true;
    std::string error;
    const File file("9.0 0 c1 TCP_MISS/200 500 GET http://x/late -\n"
                    "5.0 4000 c2 TCP_MISS/200 100 GET http://x/a.css -\n"
                    "bad line\n"
                    "6.0 0 c1 TCP_MISS/304 20 GET http://x/a.css -\n"
                    "7.0 0 c1 TCP_MISS/200 300 GET http://x/a.css -\n"
                    "7.5 0 c1 TCP_MISS/304 20 GET http://x/unknown -\n"
                    "8.0 0 c1 TCP_MISS/200 300 POST http://x/form -\n");
    ASSERT_TRUE(log.read(file.path(), options, error)) << error;
    EXPECT_EQ(log.badLines, 1U);
    EXPECT_EQ(log.firstBad.substr(log.firstBad.find(": ") + 2), "line 3: has 2 words, but a line of Squid's access.log has 10");
    EXPECT_EQ(log.otherMethods, 1U);
    EXPECT_EQ(log.noSizes, 1U);
    EXPECT_EQ(log.skipped(), 2U);
    EXPECT_FALSE(log.cut);
    EXPECT_FALSE(log.tellsHits);
    EXPECT_EQ(log.clients, 2U);
    LogWorkload workload(log, 2);
    EXPECT_EQ(workload.totals().objects, 2U);
    EXPECT_EQ(workload.totals().bytes, 800U);
    std::vector<std::string> paths;
    std::vector<Nanos> times;
    for (Visit visit; times.push_back(workload.nextTime()), workload.next(0, visit);) {
        ASSERT_EQ(visit.size(), 1U);
        paths.push_back(visit[0].path);
    }
    ASSERT_EQ(paths.size(), 4U);
    EXPECT_EQ(times[0], 0); // began at 1.0 and took 4 s
    EXPECT_EQ(times[1], 5 * oneSecond);
    EXPECT_EQ(times[3], 8 * oneSecond);
    EXPECT_EQ(paths[0], paths[1]);
    EXPECT_EQ(paths[0], paths[2]);
    EXPECT_NE(paths[0].find("-300-v1.css"), std::string::npos) << paths[0];
}

/// damaged dates are further apart than nanoseconds can tell
TEST(WebLogTest, takesTimesThatAreFarApart)
{
    const auto line = [](const std::string &client, const std::string &time) {
        return time + " 0 " + client + " TCP_MISS/200 500 GET http://x/" + client + " -\n";
    };
    Log log;
    std::string error;
    const File file(line("middle", "1e100") + line("first", "0") + line("last", "1e300"));
    ASSERT_TRUE(log.read(file.path(), Log::Options(), error)) << error;
    ASSERT_EQ(log.entries.size(), 3U);
    EXPECT_EQ(log.entries[0].object, 1U) << "the first is the first";
    EXPECT_EQ(log.entries[0].time, 0);
    EXPECT_GT(log.entries[1].time, 0);
    EXPECT_GE(log.entries[2].time, log.entries[1].time);
}

TEST(WebWorkloadTest, onceVisitsEveryPage)
{
    PagesWorkload::Config config;
    config.choice.order = Order::once;
    const auto workload = pages(config);
    std::set<std::string> seen;
    for (Visit visit; workload->next(0, visit);)
        EXPECT_TRUE(seen.insert(visit[0].path).second);
    EXPECT_EQ(seen.size(), 100U);
}

TEST(WebWorkloadTest, visitsLookLikeBrowsers)
{
    const auto workload = pages({});
    Visit visit;
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(workload->next(0, visit));
        EXPECT_EQ(visit[0].role, Item::Role::document);
        EXPECT_EQ(visit[0].referer, "");
        EXPECT_EQ(visit[0].parent, Item::none);
        for (size_t n = 1; n < visit.size(); ++n)
            EXPECT_EQ(visit[n].referer, visit[visit[n].parent].path);
    }
}

TEST(WebWorkloadTest, seedsAndPopularity)
{
    PagesWorkload::Config config, otherSeed;
    otherSeed.choice.seed = 2;
    std::map<std::string, int> first, second;
    const auto one = pages(config), same = pages(config), other = pages(otherSeed);
    Visit a, b, c;
    for (int i = 0; i < 5000; ++i) {
        ASSERT_TRUE(one->next(0, a) && same->next(0, b) && other->next(0, c));
        EXPECT_EQ(a[0].path, b[0].path);
        ++first[a[0].path];
        ++second[c[0].path];
    }
    // another seed makes other visits to the same popular pages
    const auto most = std::max_element(first.begin(), first.end(), [](const auto &x, const auto &y) { return x.second < y.second; });
    EXPECT_GT(most->second, 400);
    EXPECT_GT(second[most->first], 400);
    EXPECT_NE(first, second);
}

TEST(WebWorkloadTest, revisitsChangeAndDrift)
{
    PagesWorkload::Config config;
    config.choice.order = Order::random;
    config.revisit = 0.5;
    config.change = 0.5;
    const auto workload = pages(config);
    std::vector<std::string> last;
    int returns = 0, changed = 0;
    Visit visit;
    for (int i = 0; i < 2000; ++i) {
        ASSERT_TRUE(workload->next(7, visit));
        returns += std::find(last.begin(), last.end(), visit[0].path) != last.end() ? 1 : 0;
        last.push_back(visit[0].path);
        if (last.size() > 8)
            last.erase(last.begin());
        EXPECT_NE(visit[0].path.find("-v1."), std::string::npos) << "pages keep their URL";
        for (const auto &item: visit)
            changed += item.path.find("-v1.") == std::string::npos ? 1 : 0;
    }
    EXPECT_GT(returns, 650); // by chance alone it would be 160
    EXPECT_GT(changed, 5000);

    Chooser::Config choice;
    const auto mostPopular = [](Chooser &chooser) {
        std::map<uint64_t, int> counts;
        for (uint64_t i = 0, n = 0; i < 3000; ++i) {
            EXPECT_TRUE(chooser.choose(n));
            ++counts[n];
        }
        return std::max_element(counts.begin(), counts.end(), [](const auto &x, const auto &y) { return x.second < y.second; })->first;
    };
    Chooser still(1000, choice);
    EXPECT_EQ(mostPopular(still), mostPopular(still));
    choice.drift = 0.1;
    Chooser drifting(1000, choice);
    EXPECT_NE(mostPopular(drifting), mostPopular(drifting));
}

TEST(WebWorkloadTest, floodAsksOnce)
{
    SingleObjects objects;
    objects.folder = "/flood1";
    FloodWorkload workload(pages({}), 0.5, 42, objects, 1);
    std::set<std::string> seen;
    int floods = 0;
    Visit visit;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(workload.next(0, visit));
        if (visit[0].role != Item::Role::bare)
            continue;
        ++floods;
        EXPECT_EQ(visit.size(), 42U);
        for (const auto &item: visit)
            EXPECT_TRUE(seen.insert(item.path).second) << item.path;
    }
    EXPECT_NEAR(floods, 500, 80);
}

TEST(WebPacingTest, openLoopKeepsItsRate)
{
    PoissonPacing pacing(1000 * oneSecond, 250, 1);
    double gaps = 0, squares = 0;
    Nanos last = 1000 * oneSecond;
    for (int i = 0; i < 100000; ++i) {
        const auto due = pacing.due(0);
        EXPECT_EQ(due, pacing.due(due + 5 * oneSecond)) << "what is late stays due";
        const double gap = toSeconds(due - last);
        gaps += gap;
        squares += gap * gap;
        last = due;
        pacing.begun();
    }
    const double mean = gaps / 100000;
    EXPECT_NEAR(mean, 0.004, 0.0001);
    EXPECT_NEAR(squares / 100000, 2 * mean * mean, 0.1 * mean * mean) << "gaps of a Poisson process";
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The page for Prometheus: its names, and its text. */

#include "fs/cluster/base/Version.h"
#include "fs/cluster/squid/Metrics.h"
#include "fs/cluster/squid/SquidStatistics.h"

#include <gtest/gtest.h>
#include <regex.h>

#include <map>
#include <set>
#include <vector>

using namespace ClusterFs;

namespace {

std::string
nameOf(const char *const name, const Statistic::Kind kind, const char *const unit)
{
    return metricName({"", name, kind, unit, nullptr, "", ""}).text();
}

bool
endsWith(const std::string &text, const std::string &end)
{
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// matches a whole text with a POSIX extended regular expression; std::regex does not compile without warnings under ASan
/// \returns the text and its groups; nothing when it does not match
std::vector<std::string>
match(const std::string &text, const std::string &pattern)
{
    regex_t compiled;
    regmatch_t found[4] = {};
    std::vector<std::string> groups;
    EXPECT_EQ(regcomp(&compiled, ("^(" + pattern + ")$").c_str(), REG_EXTENDED), 0) << pattern;
    if (regexec(&compiled, text.c_str(), 4, found, 0) == 0) {
        for (size_t n = 1; n < 4 && found[n].rm_so >= 0; ++n)
            groups.push_back(text.substr(static_cast<size_t>(found[n].rm_so), static_cast<size_t>(found[n].rm_eo - found[n].rm_so)));
    }
    regfree(&compiled);
    return groups;
}

/// {sample without its value: value} of a page
std::map<std::string, std::string>
samples(const std::string &page)
{
    std::map<std::string, std::string> found;
    for (size_t at = 0; at < page.size(); at = page.find('\n', at) + 1) {
        const auto line = page.substr(at, page.find('\n', at) - at);
        const auto space = line.rfind(' ');
        if (line[0] == '#')
            continue;
        EXPECT_TRUE(found.emplace(line.substr(0, space), line.substr(space + 1)).second) << "twice: " << line;
    }
    return found;
}

/// a cache_dir with a value in each kind of figure
MetricsDir
someDir(const std::string &path)
{
    static Superblock superblock;
    SquidSnapshot s;
    s.state = "serving";
    s.superblock = &superblock;
    s.asynchronous = true;
    s.stats.objects = 12;
    s.stats.usefulness = 0.75;
    s.stats.requestMicros = 8000.5;
    s.stats.recovery.micros = 1500;
    s.stats.counters.longestTurn = 77;
    s.stats.counters.storedBytes = 1234567890123456789;
    s.stats.counters.readFromDisk = 3;
    for (const uint64_t micros: {31, 32, 200, 70000}) {
        s.device.op[0].latency.add(micros);
        s.device.op[0].busyMicros += micros;
    }
    s.waits.hits.add(90);
    for (const uint64_t micros: {300000, 500000, 700001})
        s.waits.misses.add(micros);
    return {path, s};
}

} // namespace

TEST(Metrics, namesFollowFromTheRow) {
    constexpr auto counter = Statistic::Kind::counter;
    constexpr auto gauge = Statistic::Kind::gauge;
    EXPECT_EQ(nameOf("things seen", counter, ""), "clusterfs_things_seen_total");
    EXPECT_EQ(nameOf("bytes seen", counter, "bytes"), "clusterfs_seen_bytes_total");
    EXPECT_EQ(nameOf("index bytes per thing", gauge, "bytes"), "clusterfs_index_per_thing_bytes");
    EXPECT_EQ(nameOf("limit", gauge, "bytes"), "clusterfs_limit_bytes");
    EXPECT_EQ(nameOf("age s", gauge, "s"), "clusterfs_age_seconds");
    EXPECT_EQ(nameOf("turn us", gauge, "us"), "clusterfs_turn_seconds");
    EXPECT_EQ(nameOf("time", gauge, "ms"), "clusterfs_time_seconds");
    EXPECT_EQ(nameOf("use", gauge, "%"), "clusterfs_use_ratio");
    EXPECT_EQ(nameOf("asynchronous I/O", Statistic::Kind::text, ""), "clusterfs_info{asynchronous_io}");
    EXPECT_EQ(nameOf("hits from read cache", counter, ""), "clusterfs_hits_total{from=\"read_cache\"}");
    EXPECT_EQ(nameOf("longest turn us", counter, "us"), "clusterfs_longest_turn_seconds");
    EXPECT_EQ(nameOf("state", Statistic::Kind::text, ""), "clusterfs_state{state}");
}

/// https://prometheus.io/docs/practices/naming/ and what promtool holds against a name
TEST(Metrics, namesKeepTheConventions) {
    std::set<std::string> names;
    std::map<std::string, std::string> labels; // of each family that has any
    size_t leftOut = 0;
    for (const auto &row: squidStatistics()) {
        const auto name = metricName(row);
        if (name.family.empty()) {
            ++leftOut;
            EXPECT_STREQ(row.name, "disk flush bytes");
            continue;
        }
        EXPECT_TRUE(names.insert(name.text()).second) << name.text() << " is there twice";
        const auto family = "clusterfs_" + name.family;
        EXPECT_FALSE(match(family, "clusterfs(_[a-z0-9]+)+").empty()) << family;
        EXPECT_TRUE(match(family, ".*_(s|ms|us|ns|sec|b|kb|mb|gb|m|h|d)(_.*)?").empty()) << family << " has an abbreviated unit";
        for (const char *const end: {"_count", "_sum", "_bucket"})
            EXPECT_FALSE(endsWith(family, end)) << family << " ends as a part of a histogram";
        const std::string unit = row.unit;
        const auto counts = row.kind == Statistic::Kind::counter && name.family != "longest_turn_seconds";
        const std::string end = counts ? "_total" : "";
        EXPECT_EQ(endsWith(family, "_total"), counts) << family;
        if (!unit.empty()) {
            const auto base = unit == "bytes" ? "_bytes" : unit == "%" ? "_ratio" : "_seconds";
            EXPECT_TRUE(endsWith(family, base + end)) << family << " does not end with its unit " << base;
        }
        if (name.family != "info") {
            const auto known = labels.emplace(family, name.label).first;
            EXPECT_EQ(known->second, name.label) << family << " has two labels, or one and none";
        }
        EXPECT_NE(name.label, "path");
        EXPECT_NE(name.label, "le");
    }
    EXPECT_EQ(leftOut, 1U);
    EXPECT_EQ(names.size() + leftOut, squidStatistics().size());
}

TEST(Metrics, pageHasEachFamilyOnce) {
    const auto page = metricsText({someDir("/a"), someDir("/b"), {"/c", {}}});
    std::string family;
    std::set<std::string> described, typed;
    for (size_t at = 0; at < page.size(); at = page.find('\n', at) + 1) {
        const auto line = page.substr(at, page.find('\n', at) - at);
        const auto help = match(line, "# HELP (\\w+) .+");
        const auto type = match(line, "# TYPE (\\w+) (counter|gauge|histogram)");
        if (!help.empty()) {
            family = help[1];
            EXPECT_TRUE(described.insert(family).second) << line;
        } else if (!type.empty()) {
            EXPECT_EQ(type[1], family) << line;
            EXPECT_TRUE(typed.insert(family).second) << line;
            EXPECT_EQ(type[2] == "counter", endsWith(family, "_total")) << line;
        } else {
            const auto sample = match(line, "(\\w+)\\{path=\"/[abc]\".*\\} \\S+");
            ASSERT_FALSE(sample.empty()) << line;
            EXPECT_FALSE(match(sample[1], family + "(_bucket|_sum|_count)?").empty()) << line;
        }
    }
    EXPECT_EQ(described, typed);
    for (const auto &row: squidStatistics()) {
        const auto name = metricName(row);
        EXPECT_TRUE(name.family.empty() || typed.count("clusterfs_" + name.family) || name.family == "checkpoint_age_seconds") << row.name;
    }
}

/// the engine counts calls; only Squid knows how many a request takes
TEST(Metrics, lookupsAreExplainedAsSquidMakesThem) {
    const auto page = metricsText({someDir("/a")});
    EXPECT_NE(page.find("# HELP clusterfs_lookups_total times that Squid has asked for an object."), page.npos);
    EXPECT_EQ(squidStatistics()[0].name, statistics()[0].name);
}

/// which the engine does not count: one number for all cache_dirs, on both pages
TEST(Metrics, openedPagesAreCountedForAllCacheDirs) {
    const auto before = samples(metricsText({someDir("/a")})).at("clusterfs_pages_opened_total{path=\"/a\"}");
    countOpenedPages(1);
    countOpenedPages(1);
    const auto count = std::to_string(std::stoul(before) + 2);
    auto page = samples(metricsText({someDir("/a"), someDir("/b"), {"/c", {}}}));
    EXPECT_EQ(page["clusterfs_pages_opened_total{path=\"/a\"}"], count);
    EXPECT_EQ(page["clusterfs_pages_opened_total{path=\"/b\"}"], count);
    EXPECT_FALSE(page.count("clusterfs_pages_opened_total{path=\"/c\"}"));
    EXPECT_EQ(squidReport({}).find("\n[squid]\npages opened:                " + count + "\n"), 0U) << squidReport({});
}

/// which the engine does not measure: those of each cache_dir, on both pages
TEST(Metrics, waitsOfClientsAreThoseOfTheCacheDir) {
    const auto a = someDir("/a");
    auto b = someDir("/b");
    b.snapshot->waits = {};
    auto page = samples(metricsText({a, b}));
    const std::string name = "clusterfs_client_wait_seconds", hit = "{path=\"/a\",answer=\"hit\"", miss = "{path=\"/a\",answer=\"miss\"";
    EXPECT_EQ(page[name + "_count" + hit + "}"], "1");
    EXPECT_EQ(page[name + "_sum" + hit + "}"], "9e-05");
    EXPECT_EQ(page[name + "_bucket" + hit + ",le=\"6.3e-05\"}"], "0");
    EXPECT_EQ(page[name + "_bucket" + hit + ",le=\"0.000127\"}"], "1");
    EXPECT_EQ(page[name + "_count" + miss + "}"], "3");
    EXPECT_EQ(page[name + "_sum" + miss + "}"], "1.500001");
    EXPECT_EQ(page[name + "_bucket" + miss + ",le=\"0.262143\"}"], "0");
    EXPECT_EQ(page[name + "_bucket" + miss + ",le=\"0.524287\"}"], "2");
    EXPECT_EQ(page[name + "_bucket" + miss + ",le=\"1.048575\"}"], "3");
    EXPECT_EQ(page[name + "_count{path=\"/b\",answer=\"miss\"}"], "0");
    EXPECT_EQ(page[name + "_sum{path=\"/b\",answer=\"miss\"}"], "0");

    const auto report = squidReport(*a.snapshot);
    EXPECT_NE(report.find("\nwait for hits us:            p50 90, p90 90, p99 90, max 90, mean 90, count 1\n"), report.npos) << report;
    EXPECT_NE(report.find("max 700001, mean 500000, count 3\n"), report.npos) << report;
    EXPECT_NE(squidReport(*b.snapshot).find("\nwait for misses us:          p50 0, p90 0, p99 0, max 0, mean 0, count 0\n"), report.npos);
}

TEST(Metrics, pageHasBaseUnits) {
    auto page = samples(metricsText({someDir("/a")}));
    EXPECT_EQ(page["clusterfs_objects{path=\"/a\"}"], "12");
    EXPECT_EQ(page["clusterfs_expected_use_ratio{path=\"/a\"}"], "0.75");
    EXPECT_EQ(page["clusterfs_cost_of_a_read_seconds{path=\"/a\"}"], "0.0080005");
    EXPECT_EQ(page["clusterfs_recovery_time_seconds{path=\"/a\"}"], "0.0015");
    EXPECT_EQ(page["clusterfs_longest_turn_seconds{path=\"/a\"}"], "7.7e-05");
    EXPECT_EQ(page["clusterfs_stored_bytes_total{path=\"/a\"}"], "1234567890123456789") << "every digit counts";
    EXPECT_EQ(page["clusterfs_hits_total{path=\"/a\",from=\"disk\"}"], "3");
    EXPECT_FALSE(page.count("clusterfs_checkpoint_age_seconds{path=\"/a\"}")) << "there is none before the first checkpoint";
    EXPECT_EQ(page["clusterfs_info{path=\"/a\",version=\"" + std::string(projectVersion) + "\",uuid=\"" + uuidText({}) +
                   "\",asynchronous_io=\"yes\",last_stop=\"crash\",index_from=\"log\"}"], "1");
}

TEST(Metrics, histogramsCountExactly) {
    auto page = samples(metricsText({someDir("/a")}));
    const std::string begin = "clusterfs_disk_request_duration_seconds", read = "{path=\"/a\",operation=\"read\"";
    EXPECT_EQ(page[begin + "_bucket" + read + ",le=\"3.1e-05\"}"], "1");
    EXPECT_EQ(page[begin + "_bucket" + read + ",le=\"6.3e-05\"}"], "2");
    EXPECT_EQ(page[begin + "_bucket" + read + ",le=\"0.000127\"}"], "2");
    EXPECT_EQ(page[begin + "_bucket" + read + ",le=\"0.000255\"}"], "3");
    EXPECT_EQ(page[begin + "_bucket" + read + ",le=\"0.065535\"}"], "3");
    EXPECT_EQ(page[begin + "_bucket" + read + ",le=\"0.131071\"}"], "4");
    EXPECT_EQ(page[begin + "_bucket" + read + ",le=\"16.777215\"}"], "4");
    EXPECT_EQ(page[begin + "_bucket" + read + ",le=\"+Inf\"}"], "4");
    EXPECT_EQ(page[begin + "_count" + read + "}"], "4");
    EXPECT_EQ(page[begin + "_sum" + read + "}"], "0.070263");
    EXPECT_EQ(page[begin + "_count{path=\"/a\",operation=\"write\"}"], "0");
}

/// against a count of each value
TEST(Metrics, histogramsCountManyValuesExactly) {
    auto dir = someDir("/a");
    auto &write = dir.snapshot->device.op[1];
    std::vector<uint64_t> values;
    for (uint64_t n = 1, value = 12345; n <= 5000; ++n) {
        value = value * 6364136223846793005U + 1442695040888963407U;
        values.push_back((value >> 40) >> (n % 24)); // 24 bits at most, as many of each size
        write.latency.add(values.back());
    }
    auto page = samples(metricsText({dir}));
    const std::string begin = "clusterfs_disk_request_duration_seconds_bucket{path=\"/a\",operation=\"write\",le=\"";
    for (unsigned power = 5; power <= 24; ++power) {
        size_t within = 0;
        for (const auto value: values)
            within += value < (uint64_t(1) << power);
        char le[32];
        snprintf(le, sizeof(le), "%.15g", static_cast<double>((uint64_t(1) << power) - 1) * 1e-6);
        EXPECT_EQ(page[begin + le + "\"}"], std::to_string(within)) << le;
    }
}

/// exactly one state has a 1, also one that Prometheus does not know
TEST(Metrics, oneStateIsOn) {
    const std::map<std::string, std::string> expected = {
        {"recovering", "recovering"}, {"serving", "serving"}, {"read-only", "read-only"}, {"offline", "offline"}, {"closed", unusedState}};
    for (const auto &state: expected) {
        auto dir = someDir("/a");
        dir.snapshot->state = state.first;
        unsigned on = 0;
        for (const auto &sample: samples(metricsText({dir}))) {
            if (sample.first.compare(0, 16, "clusterfs_state{") == 0 && sample.second == "1") {
                ++on;
                EXPECT_EQ(sample.first, "clusterfs_state{path=\"/a\",state=\"" + state.second + "\"}");
            }
        }
        EXPECT_EQ(on, 1U) << state.first;
    }
}

/// the same families in the same order with the same samples as the page of all of them at once
TEST(Metrics, pagesOfSeveralProcessesBecomeOne) {
    const auto heads = [](const std::string &page) {
        std::istringstream lines(page);
        std::string found;
        for (std::string line; std::getline(lines, line); )
            found += line[0] == '#' ? line + '\n' : "";
        return found;
    };
    const auto a = someDir("/a");
    const auto b = someDir("/b");
    const MetricsDir c = {"/c", {}};
    const auto merged = mergedMetrics({metricsText({a}), metricsText({b}), metricsText({c})});
    EXPECT_EQ(samples(merged), samples(metricsText({a, b, c})));
    EXPECT_EQ(heads(merged), heads(metricsText({a, b, c})));
    EXPECT_EQ(samples(mergedMetrics({metricsText({c}), metricsText({a})})), samples(metricsText({c, a})));
    EXPECT_EQ(mergedMetrics({}), "");
}

TEST(Metrics, unusedCacheDirHasOnlyItsState) {
    const auto page = samples(metricsText({{"/a", {}}}));
    EXPECT_EQ(page.size(), 5U);
    EXPECT_EQ(page.at("clusterfs_state{path=\"/a\",state=\"unused\"}"), "1");
    EXPECT_EQ(metricsText({}), "");
}

TEST(Metrics, pathsAreEscaped) {
    const auto page = metricsText({{"/a \"b\"\\c\nd", {}}});
    EXPECT_NE(page.find("clusterfs_state{path=\"/a \\\"b\\\"\\\\c\\nd\",state=\"serving\"} 0\n"), page.npos) << page;
}

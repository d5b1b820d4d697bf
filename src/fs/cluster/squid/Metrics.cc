// SPDX-License-Identifier: GPL-2.0-or-later
/* The statistics in Prometheus' text format. Includes nothing of Squid: documents and unit tests use it, too. */

#include "fs/cluster/squid/Metrics.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace ClusterFs {
namespace {

const char *const prefix = "clusterfs_";
const char *const stateFamily = "state"; ///< has a row of its own for each state
const char *const infoFamily = "info"; ///< has all other texts

/// a statistic whose name does not follow from the rules
struct Exception {
    const char *statistic;
    MetricName name;
};

const Exception exceptions[] = {
    {"state", {stateFamily, "state", ""}},
    {"members by referer", {"members_learned_total", "by", "referer"}},
    {"members by origin", {"members_learned_total", "by", "origin"}},
    {"members by time", {"members_learned_total", "by", "time"}},
    {"members by sequence", {"members_learned_total", "by", "sequence"}},
    {"members by order", {"members_learned_total", "by", "order"}},
    {"members by sharing", {"members_learned_total", "by", "sharing"}},
    {"hits from staging", {"hits_total", "from", "staging"}},
    {"hits from read cache", {"hits_total", "from", "read_cache"}},
    {"hits from disk", {"hits_total", "from", "disk"}},
    {"longest turn us", {"longest_turn_seconds", "", ""}}, // grows, but is no count
    {"disk reads", {"disk_requests_total", "operation", "read"}},
    {"disk writes", {"disk_requests_total", "operation", "write"}},
    {"disk flushes", {"disk_requests_total", "operation", "flush"}},
    {"disk read bytes", {"disk_bytes_total", "operation", "read"}},
    {"disk write bytes", {"disk_bytes_total", "operation", "write"}},
    {"disk flush bytes", {"", "", ""}}, // always 0
    {"disk read errors", {"disk_errors_total", "operation", "read"}},
    {"disk write errors", {"disk_errors_total", "operation", "write"}},
    {"disk flush errors", {"disk_errors_total", "operation", "flush"}},
    {"disk read latency us", {"disk_request_duration_seconds", "operation", "read"}},
    {"disk write latency us", {"disk_request_duration_seconds", "operation", "write"}},
    {"disk flush latency us", {"disk_request_duration_seconds", "operation", "flush"}},
    {"wait for hits us", {"client_wait_seconds", "answer", "hit"}},
    {"wait for misses us", {"client_wait_seconds", "answer", "miss"}},
};

/// HELP of the families that have several statistics; that of the others is the statistic's meaning
struct FamilyHelp {
    const char *family;
    const char *help;
};

const FamilyHelp familyHelps[] = {
    {stateFamily, "1 for the state that the cache_dir is in, 0 for the others. unused: cache.log has the reason"},
    {infoFamily, "always 1; the labels tell what the cache_dir is, and of its last start"},
    {"hits_total", "readers opened, by the place where their first bytes were"},
    {"members_learned_total", "memberships of objects in groups, by the evidence that they were learned from"},
    {"disk_requests_total", "requests that the disk has completed, failures included"},
    {"disk_bytes_total", "bytes that the disk has read and written"},
    {"disk_errors_total", "requests that failed at the disk"},
    {"client_wait_seconds", "time from the end of a GET's header to the first 4 KB of the object that answers it"},
    {"disk_request_duration_seconds", "time from handing a request to the kernel to its completion"},
};

const char *const states[] = {"recovering", "serving", "read-only", "offline", unusedState};

/// lower case, and underscores between the words
std::string
snakeCase(const std::string &name)
{
    std::string snake;
    for (const unsigned char c: name) {
        if (isalnum(c))
            snake += static_cast<char>(tolower(c));
        else if (c != '/') // I/O
            snake += '_';
    }
    return snake;
}

/// takes a word out of a name in snake case, if it is there
void
dropWord(std::string &snake, const std::string &word)
{
    auto padded = '_' + snake + '_';
    const auto at = padded.find('_' + word + '_');
    if (word.empty() || at == std::string::npos)
        return;
    padded.erase(at, word.size() + 1);
    snake = padded.substr(1, padded.size() - 2);
}

/// the base unit of a unit of the table, and how much of it one is
struct BaseUnit {
    const char *name;
    double factor;
};

BaseUnit
baseUnit(const std::string &unit)
{
    if (unit == "us")
        return {"seconds", 1e-6};
    if (unit == "ms")
        return {"seconds", 1e-3};
    if (unit == "s")
        return {"seconds", 1};
    if (unit == "%")
        return {"ratio", 1e-2};
    return {unit == "bytes" ? "bytes" : "", 1};
}

/// in a label or, without quotes, in HELP
std::string
escaped(const std::string &text, const bool quotes)
{
    std::string safe;
    for (const char c: text) {
        if (c == '\\' || (quotes && c == '"'))
            safe += '\\';
        if (c == '\n')
            safe += "\\n";
        else
            safe += c;
    }
    return safe;
}

std::string
numberText(const double value)
{
    char text[32];
    snprintf(text, sizeof(text), "%.15g", value);
    return text;
}

/// a label of a sample; nothing for a label without a name
std::string
label(const std::string &name, const std::string &value)
{
    return name.empty() ? "" : ',' + name + "=\"" + escaped(value, true) + '"';
}

/// How many values of a histogram are at most `top`, the last value of one of its buckets. The histogram tells percentiles:
/// this finds the last rank whose value is within the bound.
uint64_t
countUpTo(const Histogram &histogram, const uint64_t top, const uint64_t atLeast)
{
    const auto total = histogram.total();
    if (!total || histogram.most() <= top)
        return total;
    uint64_t within = atLeast, beyond = total; // the values of these ranks, from 1 on; that of 0 is within
    while (beyond - within > 1) {
        const auto rank = within + (beyond - within) / 2;
        const auto share = (static_cast<double>(rank) - 0.5) / static_cast<double>(total - 1); // total is above 1, or this would not be reached
        (histogram.percentile(share) <= top ? within : beyond) = rank;
    }
    return within;
}

/// One family of the page. Samples come in the order in which they are added.
class Family
{
public:
    Family(const std::string &name, const std::string &help): name_(prefix + name), help_(help) {}

    void add(const std::string &labels, const std::string &value, const char *const suffix = "") {
        samples_ += name_ + suffix + '{' + labels.substr(1) + "} " + value + '\n';
    }

    void addHistogram(const std::string &labels, const Histogram &, uint64_t sumMicros);

    /// HELP, TYPE and the samples; nothing without samples
    std::string text() const {
        if (samples_.empty())
            return "";
        const bool counter = name_.size() > 6 && name_.compare(name_.size() - 6, 6, "_total") == 0;
        return "# HELP " + name_ + ' ' + escaped(help_, false) + "\n# TYPE " + name_ + ' ' +
               (histogram_ ? "histogram" : counter ? "counter" : "gauge") + '\n' + samples_;
    }

private:
    const std::string name_;
    const std::string help_;
    std::string samples_;
    bool histogram_ = false;
};

/// Buckets double from 31 us to 16.8 s. A value is a whole number of microseconds, and the engine's buckets
/// end below powers of two: so these counts are exact.
void
Family::addHistogram(const std::string &labels, const Histogram &histogram, const uint64_t sumMicros)
{
    histogram_ = true;
    uint64_t count = 0;
    for (unsigned power = 5; power <= 24; ++power) {
        const auto top = (uint64_t(1) << power) - 1;
        count = countUpTo(histogram, top, count);
        add(labels + label("le", numberText(static_cast<double>(top) * 1e-6)), std::to_string(count), "_bucket");
    }
    add(labels + label("le", "+Inf"), std::to_string(histogram.total()), "_bucket");
    add(labels, numberText(static_cast<double>(sumMicros) * 1e-6), "_sum");
    add(labels, std::to_string(histogram.total()), "_count");
}

/// adds the value of a statistic of a cache_dir, where it has a number
void
addSample(Family &family, const std::string &labels, const Statistic &row, const SquidSnapshot &snapshot)
{
    const auto value = row.value(snapshot);
    const auto factor = baseUnit(row.unit).factor;
    if (const auto histogram = std::get_if<const Histogram *>(&value))
        family.addHistogram(labels, **histogram, sumOf(*histogram, snapshot));
    else if (const auto whole = std::get_if<uint64_t>(&value))
        family.add(labels, factor == 1 ? std::to_string(*whole) : numberText(static_cast<double>(*whole) * factor));
    else if (const auto real = std::get_if<double>(&value))
        family.add(labels, numberText(*real * factor));
}

std::string
helpOf(const std::string &family, const char *const meaning)
{
    for (const auto &known: familyHelps) {
        if (family == known.family)
            return known.help;
    }
    return meaning;
}

/// a stateset: exactly one of the states has the value 1
void
addStates(Family &family, const MetricsDir &dir)
{
    const auto *current = unusedState;
    for (const auto state: states) {
        if (dir.snapshot && dir.snapshot->state == state)
            current = state;
    }
    for (const auto state: states)
        family.add(label("path", dir.path) + label("state", state), state == current ? "1" : "0");
}

/// a statistic and its name
struct Named {
    const Statistic *row;
    MetricName name;
};

/// All statistics that Prometheus gets, those of a family behind each other, else in the order of the table.
const std::vector<Named> &
namedStatistics()
{
    static const auto all = [] {
        std::vector<Named> found;
        for (const auto &row: squidStatistics()) {
            const auto name = metricName(row);
            const auto relative = std::find_if(found.rbegin(), found.rend(), [&](const Named &n) { return n.name.family == name.family; });
            if (!name.family.empty())
                found.insert(relative == found.rend() ? found.end() : relative.base(), {&row, name});
        }
        return found;
    }();
    return all;
}

/// the texts of a cache_dir as labels of one sample, without what stands behind a colon
void
addInfo(Family &family, const MetricsDir &dir)
{
    auto labels = label("path", dir.path);
    for (const auto &statistic: namedStatistics()) {
        if (statistic.name.family != infoFamily)
            continue;
        const auto value = statistic.row->value(*dir.snapshot);
        if (const auto text = std::get_if<std::string>(&value))
            labels += label(statistic.name.label, text->substr(0, text->find(':')));
    }
    family.add(labels, "1");
}

} // namespace
} // namespace ClusterFs

std::string
ClusterFs::MetricName::text() const
{
    if (family.empty())
        return "";
    const auto value = labelValue.empty() ? "" : "=\"" + labelValue + '"';
    return prefix + family + (label.empty() ? "" : '{' + label + value + '}');
}

ClusterFs::MetricName
ClusterFs::metricName(const Statistic &row)
{
    for (const auto &exception: exceptions) {
        if (strcmp(row.name, exception.statistic) == 0)
            return exception.name;
    }
    auto snake = snakeCase(row.name);
    if (row.kind == Statistic::Kind::text)
        return {infoFamily, snake, ""};
    const auto unit = baseUnit(row.unit);
    dropWord(snake, row.unit); // to put the base unit where Prometheus wants it
    if (*unit.name)
        snake += std::string("_") + unit.name;
    if (row.kind == Statistic::Kind::counter)
        snake += "_total";
    return {snake, "", ""};
}

std::string
ClusterFs::metricsText(const std::vector<MetricsDir> &dirs)
{
    std::string page;
    std::optional<Family> family;
    const std::string *last = nullptr; // name of that family
    for (const auto &statistic: namedStatistics()) {
        const auto &name = statistic.name;
        const bool begins = !last || name.family != *last;
        if (begins) {
            page += family ? family->text() : "";
            family.emplace(name.family, helpOf(name.family, statistic.row->meaning));
            last = &name.family;
        }
        for (const auto &dir: dirs) {
            if (name.family == stateFamily)
                addStates(*family, dir);
            else if (dir.snapshot && name.family != infoFamily)
                addSample(*family, label("path", dir.path) + label(name.label, name.labelValue), *statistic.row, *dir.snapshot);
            else if (dir.snapshot && begins)
                addInfo(*family, dir);
        }
    }
    return page + (family ? family->text() : "");
}

std::string
ClusterFs::mergedMetrics(const std::vector<std::string> &pages)
{
    struct Block {
        std::string name; ///< of the family
        std::string head; ///< HELP and TYPE
        std::string samples;
    };
    std::vector<Block> blocks;
    for (const auto &page: pages) {
        Block *block = nullptr;
        std::istringstream lines(page);
        for (std::string line; std::getline(lines, line); ) {
            std::istringstream words(line);
            std::string mark, what, name;
            words >> mark >> what >> name;
            if (mark != "#") {
                if (block)
                    block->samples += line + '\n';
                continue;
            }
            if (what == "HELP") {
                const auto known = std::find_if(blocks.begin(), blocks.end(), [&name](const Block &b) { return b.name == name; });
                block = known == blocks.end() ? &blocks.emplace_back(Block{name, "", ""}) : &*known;
            }
            if (block && block->samples.empty())
                block->head += line + '\n';
        }
    }
    std::string merged;
    for (const auto &block: blocks)
        merged += block.head + block.samples;
    return merged;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of statistics: it has all figures, and the page shows them as scripts know them. */

#include "fs/cluster/base/Version.h"
#include "fs/cluster/engine/Report.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

using namespace ClusterFs;

namespace {

/* the fields of a struct, without their names: C++17 tells neither */

/// stands for a field of any type
struct Anything {
    template <class T> operator T() const;
};

/// how many fields a struct has: as many as it can be made of
template <class T, class = void, class... Fields>
constexpr size_t fieldsIn = sizeof...(Fields) - 1;
template <class T, class... Fields>
constexpr size_t fieldsIn<T, std::void_t<decltype(T{std::declval<Fields>()...})>, Fields...> = fieldsIn<T, void, Fields..., Anything>;

struct Field {
    size_t offset;
    void (*change)(void *field); ///< gives it another value than the default
};

/// takes the place of one field after the other, and notes those that are numbers
struct Walker {
    std::vector<Field> &numbers;
    size_t &at;

    template <class T> operator T() const {
        at = (at + alignof(T) - 1) / alignof(T) * alignof(T);
        if constexpr (std::is_arithmetic_v<T>)
            numbers.push_back({at, [](void *field) { *static_cast<T *>(field) = static_cast<T>(7); }});
        at += sizeof(T);
        return T();
    }
};

template <class T, size_t... I>
std::vector<Field>
numbersIn(std::index_sequence<I...>)
{
    std::vector<Field> numbers;
    size_t at = 0;
    (void)T{(static_cast<void>(I), Walker{numbers, at})...};
    return numbers;
}

/// Each number in the part of the snapshot changes the page, but for those that are left out; they are
/// named by their offsets, with the reason.
template <class Part>
void
expectShown(const Snapshot &snapshot, Part &part, const char *const name, const std::map<size_t, const char *> &leftOut = {})
{
    const auto before = reportText(snapshot);
    size_t found = 0;
    for (const auto &field: numbersIn<Part>(std::make_index_sequence<fieldsIn<Part>>())) {
        const auto kept = part;
        field.change(reinterpret_cast<char *>(&part) + field.offset);
        const bool shown = reportText(snapshot) != before;
        part = kept;
        found += leftOut.count(field.offset);
        EXPECT_NE(shown, leftOut.count(field.offset) == 1)
            << name << ": the field at byte " << field.offset << (shown ? " is shown, and named as left out"
                    : " is in no row of engine/Statistics.cc: give it one, or name it here with the reason why not");
    }
    EXPECT_EQ(found, leftOut.size()) << name;
}

/// the page's line of that name, without the line's end
std::string
line(const Snapshot &snapshot, const std::string &name)
{
    const auto page = "\n" + reportText(snapshot);
    const auto at = page.find("\n" + name + ":");
    return at == page.npos ? "" : page.substr(at + 1, page.find('\n', at + 1) - at - 1);
}

} // namespace

TEST(Statistics, haveAllFigures) {
    Snapshot s;
    const char *const ofTests = "tests ask for it";
    const char *const ofTheCore = "Squid's own account of the start has it";
    expectShown(s, s.stats.counters, "Counters", {
        {offsetof(Counters, checkpointBytes), "bench-scale asks for it"},
        {offsetof(Counters, journalDeletes), ofTests},
    });
    expectShown(s, s.stats.recovery, "RecoveryStats", {
        {offsetof(RecoveryStats, dropped), ofTheCore},
        {offsetof(RecoveryStats, clustersRead), ofTheCore},
    });
    expectShown(s, s.stats.tracker, "TrackerStats", {
        {offsetof(TrackerStats, objects), ofTests},
        {offsetof(TrackerStats, clients), ofTests},
        {offsetof(TrackerStats, forgotten), ofTests},
    });
    expectShown(s, s.stats.prefetches, "PrefetchStats");
    expectShown(s, s.stats, "Stats", {
        {offsetof(Stats, bytesWritten), "it is shown as what the device counts"},
    });
    expectShown(s, s.device, "DeviceStats", {
        {offsetof(DeviceStats, lastErrno), "cache.log has the reason of a failure"},
    });
    for (auto &op: s.device.op) {
        expectShown(s, op, "DeviceStats::PerOp", {
            {offsetof(DeviceStats::PerOp, busyMicros), "the latencies are shown"},
        });
    }
    expectShown(s, s.recoveryProgress, "");
}

TEST(Statistics, areDescribed) {
    Snapshot s;
    Superblock superblock;
    s.superblock = &superblock;
    const std::set<std::string> units = {"", "bytes", "s", "ms", "us", "%"};
    std::set<std::string> names;
    for (const auto &row: statistics()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_TRUE(units.count(row.unit)) << row.name;
        const auto value = row.value(s);
        EXPECT_FALSE(std::holds_alternative<std::monostate>(value)) << row.name;
        EXPECT_TRUE(row.kind != Statistic::Kind::text || std::holds_alternative<std::string>(value)) << row.name;
        const std::string meaning = row.meaning, watch = row.watch;
        ASSERT_FALSE(meaning.empty()) << row.name;
        EXPECT_NE(meaning.back(), '.') << row.name << ": the meaning is a phrase";
        EXPECT_EQ((meaning + watch).find('|'), std::string::npos) << row.name << ": the texts stand in tables";
    }
}

/// scripts read the page: names and forms stay as they are
TEST(Statistics, pageKeepsItsForm) {
    Snapshot s;
    s.state = "serving";
    s.stats.objects = 12;
    s.stats.liveBytes = 3 << 20;
    s.stats.bytesPerObject = 40.0625;
    s.stats.usefulness = 0.75;
    s.stats.requestMicros = 8000.5;
    s.stats.recovery.micros = 1500;
    s.stats.counters.longestTurn = 77;
    for (const uint64_t micros: {100, 200, 70000})
        s.device.op[0].latency.add(micros);
    const auto begin = "state:                       serving\nversion:                     " + std::string(projectVersion) + "\n\n[space]\nobjects:      ";
    EXPECT_EQ(reportText(s).substr(0, begin.size()), begin);
    EXPECT_EQ(line(s, "objects"), "objects:                     12");
    EXPECT_EQ(line(s, "object bytes"), "object bytes:                3145728 (3.0 MB)");
    EXPECT_EQ(line(s, "index bytes per object"), "index bytes per object:      40.062");
    EXPECT_EQ(line(s, "expected use"), "expected use:                75.000 %");
    EXPECT_EQ(line(s, "cost of a read"), "cost of a read:              8000.500 us");
    EXPECT_EQ(line(s, "recovery time"), "recovery time:               1.500 ms");
    EXPECT_EQ(line(s, "longest turn us"), "longest turn us:             77");
    EXPECT_EQ(line(s, "disk read latency us"), "disk read latency us:        p50 207, p90 207, p99 207, max 70000");
    EXPECT_EQ(line(s, "checkpoint age s"), "checkpoint age s:            none since start");
    EXPECT_EQ(line(s, "clusters of large objects"), "clusters of large objects:   0");
    EXPECT_EQ(line(s, "uuid"), "") << "no superblock, no line";
    s.stats.checkpointAge = 12.9;
    EXPECT_EQ(line(s, "checkpoint age s"), "checkpoint age s:            12");
}

/// another form takes a few lines over the same rows
TEST(Statistics, takeOtherForms) {
    Snapshot s;
    s.stats.objects = 12;
    s.stats.usefulness = 0.5;
    std::map<std::string, double> numbers;
    for (const auto &row: statistics()) {
        const auto value = row.value(s);
        if (const auto whole = std::get_if<uint64_t>(&value))
            numbers[row.name] = static_cast<double>(*whole);
        else if (const auto real = std::get_if<double>(&value))
            numbers[row.name] = *real;
    }
    EXPECT_EQ(numbers.at("objects"), 12);
    EXPECT_EQ(numbers.at("expected use"), 50);
    EXPECT_FALSE(numbers.count("state"));
    EXPECT_FALSE(numbers.count("checkpoint age s")) << "there is no number before the first checkpoint";
}

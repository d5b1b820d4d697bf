// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs-tables: prints the tables of the engine as JSON, for the documents (tools/build/documents.py). */

#include "tools/base/Json.h"

#include "fs/cluster/api/Options.h"
#include "fs/cluster/base/Messages.h"
#include "fs/cluster/base/Version.h"
#include "fs/cluster/layout/Superblock.h"
#include "fs/cluster/layout/Tables.h"
#include "fs/cluster/squid/Metrics.h"
#include "fs/cluster/squid/SquidStatistics.h"

#include <iostream>

using namespace ClusterFs;
using Tools::Json;

static Json
optionRows()
{
    static const char *const groups[] = {"format", "memory", "policy", "persistence", "device"};
    static const char *const effects[] = {"format", "start", "live"};
    Json rows = Json::array();
    for (const auto &o: options()) {
        rows.push_back({
            {"name", o.name}, {"group", groups[static_cast<size_t>(o.group)]}, {"effect", effects[static_cast<size_t>(o.effect)]},
            {"unit", o.unit}, {"least", o.least}, {"most", o.most}, {"choices", o.choices},
            {"default", o.defaultValue()}, {"defaultFrom", o.defaultFrom}, {"brief", o.brief}, {"more", o.more}});
    }
    return rows;
}

static Json
statisticRows()
{
    static const char *const kinds[] = {"counter", "gauge", "text"};
    Json rows = Json::array();
    for (const auto &s: squidStatistics()) {
        rows.push_back({{"section", s.section}, {"name", s.name}, {"kind", kinds[static_cast<size_t>(s.kind)]}, {"unit", s.unit},
                        {"meaning", s.meaning}, {"watch", s.watch}, {"metric", metricName(s).text()}});
    }
    return rows;
}

static Json
layoutRows()
{
    Json tables = Json::array();
    for (const auto &t: layoutTables()) {
        Json fields = Json::array();
        for (const auto &f: t.rows)
            fields.push_back({{"at", f.at}, {"bytes", f.bytes}, {"meaning", f.meaning}});
        tables.push_back({{"name", t.name}, {"kind", t.kind}, {"means", t.means}, {"fields", fields}});
    }
    return tables;
}

static Json
messageRows()
{
    static const char *const levels[] = {"fatal", "error", "warning", "notice", "reason"};
    Json rows = Json::array();
    for (const auto &m: messages)
        rows.push_back({{"level", levels[static_cast<size_t>(m.level)]}, {"text", m.text}, {"meaning", m.meaning}});
    return rows;
}

static Json
historyRows()
{
    Json rows = Json::array();
    for (const auto &change: formatHistory)
        rows.push_back({{"since", change.since}, {"what", change.what}});
    return rows;
}

int
main()
{
    const Json tables = {{"version", projectVersion}, {"options", optionRows()}, {"statistics", statisticRows()},
                         {"history", historyRows()}, {"layout", layoutRows()}, {"messages", messageRows()}};
    std::cout << Tools::jsonText(tables, 1) << std::endl;
    return 0;
}

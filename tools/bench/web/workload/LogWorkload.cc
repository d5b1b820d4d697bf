// SPDX-License-Identifier: GPL-2.0-or-later
/* Replay of a real log. */

#include "tools/bench/web/workload/LogWorkload.h"

#include <cstdio>

namespace WebBench {

std::optional<uint32_t>
LogWorkload::nextUser() const
{
    return ended() ? 0 : log_.entries[at_].client % users_;
}

Nanos
LogWorkload::nextTime() const
{
    return ended() ? 0 : log_.entries[at_].time;
}

std::string
LogWorkload::path(const uint32_t number) const
{
    const auto &object = log_.objects[number];
    char name[32];
    snprintf(name, sizeof(name), "%c%016llx", infoOf(object.kind).letter, static_cast<unsigned long long>(object.name));
    return makePath(std::string("/log/") + std::string(name + 1, 2), name, object.kind, object.size, 1);
}

bool
LogWorkload::next(uint32_t, Visit &visit)
{
    if (ended())
        return false;
    const auto &entry = log_.entries[at_++];
    Item item;
    item.path = path(entry.object);
    item.kind = log_.objects[entry.object].kind;
    if (entry.referer != LogEntry::none)
        item.referer = path(entry.referer);
    visit.assign(1, item);
    return true;
}

CorpusTotals
LogWorkload::totals() const
{
    CorpusTotals result;
    double requested = 0;
    for (const auto &object: log_.objects) {
        result.objects += object.size ? 1 : 0;
        result.bytes += object.size;
    }
    for (const auto &entry: log_.entries)
        requested += static_cast<double>(log_.objects[entry.object].size);
    result.pages = log_.entries.size();
    result.meanObjectsPerPage = 1;
    result.meanPageBytes = requested / static_cast<double>(result.pages);
    return result;
}

} // namespace WebBench

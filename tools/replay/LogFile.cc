// SPDX-License-Identifier: GPL-2.0-or-later
/* The requests of a real log. */

#include "tools/replay/LogFile.h"
#include "tools/base/LineReader.h"
#include "tools/base/Random.h"
#include "tools/replay/LogLine.h"

#include <algorithm>
#include <unordered_map>

namespace Replay {

using namespace Tools;

namespace {

/// gathers lines into a log
class Gatherer
{
public:
    explicit Gatherer(Log &log): log_(log) {}
    void add(const LogLine &);
    void finish();

private:
    uint32_t objectOf(const LogLine &);
    uint32_t refererOf(std::string_view url) const;
    void dropUnknownSizes();

    Log &log_;
    std::unordered_map<uint64_t, uint32_t> objects_; ///< by name
    std::unordered_map<uint64_t, uint32_t> clients_; ///< by hash
    double start_ = 0; ///< time of the first line
};

/// \returns the URL's part up to its path; empty when there is none, as in a server's log
std::string_view
siteOf(const std::string_view url)
{
    const auto colon = url.find("://");
    return colon == std::string_view::npos ? std::string_view() : url.substr(0, url.find_first_of("/?", colon + 3));
}

uint32_t
Gatherer::objectOf(const LogLine &line)
{
    const auto name = hashText(line.url);
    const auto found = objects_.emplace(name, static_cast<uint32_t>(log_.objects.size()));
    if (found.second)
        log_.objects.push_back({name, hashText(siteOf(line.url)), 0, line.kind});
    auto &object = log_.objects[found.first->second];
    // shorter responses were mostly cut off
    if (line.status != 304)
        object.size = std::max(object.size, line.bytes);
    return found.first->second;
}

uint32_t
Gatherer::refererOf(std::string_view url) const
{
    auto found = objects_.find(hashText(url));
    if (found == objects_.end() && url.compare(0, 4, "http") == 0) {
        // a server's log has only the path of its own URLs
        const auto host = url.find("://");
        const auto slash = host == std::string_view::npos ? host : url.find('/', host + 3);
        if (slash != std::string_view::npos)
            found = objects_.find(hashText(url.substr(slash)));
    }
    return found == objects_.end() ? LogEntry::none : found->second;
}

void
Gatherer::add(const LogLine &line)
{
    const bool get = line.method == "GET" && !line.url.empty();
    const bool good = line.status == 200 || line.status == 203 || line.status == 206 || line.status == 304;
    if (!get || !good || line.bytes > largestObject) {
        ++(!get ? log_.otherMethods : !good ? log_.otherStatuses : log_.noSizes);
        return;
    }
    if (log_.entries.empty())
        start_ = line.time;
    LogEntry entry;
    entry.time = fromSeconds(line.time - start_);
    entry.client = clients_.emplace(hashText(line.client), static_cast<uint32_t>(clients_.size())).first->second;
    if (!line.referer.empty())
        entry.referer = refererOf(line.referer);
    entry.object = objectOf(line);
    entry.hit = line.hit;
    log_.tellsHits = log_.tellsHits || line.hit;
    log_.entries.push_back(entry);
}

void
Gatherer::dropUnknownSizes()
{
    const auto before = log_.entries.size();
    const auto unknown = [this](const LogEntry &entry) { return log_.objects[entry.object].size == 0; };
    log_.entries.erase(std::remove_if(log_.entries.begin(), log_.entries.end(), unknown), log_.entries.end());
    log_.noSizes += before - log_.entries.size();
    for (auto &entry: log_.entries) {
        if (entry.referer != LogEntry::none && log_.objects[entry.referer].size == 0)
            entry.referer = LogEntry::none;
    }
}

void
Gatherer::finish()
{
    dropUnknownSizes();
    // proxies log a request when it ends
    std::stable_sort(log_.entries.begin(), log_.entries.end(), [](const auto &a, const auto &b) { return a.time < b.time; });
    if (!log_.entries.empty()) {
        const auto first = log_.entries[0].time;
        for (auto &entry: log_.entries)
            entry.time -= first;
    }
    log_.clients = static_cast<uint32_t>(clients_.size());
}

} // namespace

bool
Log::read(const std::string &path, const Options &options, std::string &error)
{
    LineReader reader;
    std::string line;
    if (!reader.open(path, error))
        return false;
    Gatherer gatherer(*this);
    std::unique_ptr<LogFormat> format;
    while (reader.next(line, error)) {
        if (entries.size() == options.mostEntries) {
            cut = true;
            break;
        }
        std::string reason;
        if (!format) {
            format = LogFormat::Make(options.format, line);
            if (!format)
                reason = "neither Squid's access.log nor common log format nor a table of requests; --log-format says which it is";
            else if (format->hasHead())
                continue;
        }
        LogLine parsed;
        if (format && format->parse(line, parsed, reason)) {
            gatherer.add(parsed);
            continue;
        }
        if (!options.skipBadLines) {
            error = reader.place() + reason + (format ? " (--skip-bad-lines passes over such lines)" : "");
            return false;
        }
        if (!badLines++)
            firstBad = reader.place() + reason;
    }
    if (!error.empty())
        return false;
    gatherer.finish();
    if (entries.empty()) {
        error = path + ": no request in it can be replayed (" + std::to_string(skipped()) + " are no GET with status 200, 203, 206 or 304, "
                + std::to_string(badLines) + " lines are bad" + (firstBad.empty() ? "" : ", the first is " + firstBad) + ")";
        return false;
    }
    return true;
}

} // namespace Replay

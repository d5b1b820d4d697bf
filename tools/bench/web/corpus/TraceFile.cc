// SPDX-License-Identifier: GPL-2.0-or-later
/* Recorded page loads, from a file. */

#include "tools/bench/web/corpus/TraceFile.h"
#include "tools/base/LineReader.h"
#include "tools/base/Text.h"
#include "tools/bench/web/corpus/Corpus.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace WebBench {

using namespace Tools;

namespace {

constexpr uint64_t maxLines = 5000000;

/// one line
struct Row {
    std::string url;
    std::string referer;
    uint64_t size = 0;
    Kind kind = Kind::html;
};

/// collects the lines
class TraceReader
{
public:
    bool read(const std::string &path, std::string &error);
    std::vector<TraceSession> finish();

private:
    struct Recorded {
        std::vector<std::vector<Row>> pages;
        std::unordered_map<std::string, size_t> places; ///< of pages, by name
        std::unordered_map<std::string, uint64_t> sizes; ///< by URL
    };

    bool parseHead(std::string_view line, std::string &error);
    bool parseLine(std::string_view line, std::string &error);
    static TraceSession finishSession(const Recorded &);
    static TracePage finishPage(const std::vector<Row> &, const Recorded &, std::unordered_map<std::string, uint32_t> &names);

    enum Column { atSession, atPage, atUrl, atReferer, atBytes, atKind, columnCount };
    size_t columns_[columnCount] = {};
    size_t width_ = 0;
    std::vector<Recorded> sessions_;
    std::unordered_map<std::string, size_t> places_; ///< of sessions, by name
};

bool
TraceReader::parseHead(const std::string_view line, std::string &error)
{
    static const char *const names[columnCount][2] = {{"session", "session"}, {"page", "page"}, {"url", "url_sha1_16"},
        {"referer", "referer_sha1_16"}, {"bytes", "bytes"}, {"kind", "kind"}};
    const auto heads = split(line, '\t');
    width_ = heads.size();
    for (unsigned c = 0; c < columnCount; ++c) {
        columns_[c] = width_;
        for (size_t i = 0; i < width_; ++i) {
            if (heads[i] == names[c][0] || heads[i] == names[c][1])
                columns_[c] = i;
        }
        if (columns_[c] == width_) {
            error = std::string("the head has no column \"") + names[c][0] + "\"; is this a trace of page loads?";
            return false;
        }
    }
    return true;
}

bool
TraceReader::parseLine(const std::string_view line, std::string &error)
{
    const auto fields = split(line, '\t');
    if (fields.size() != width_) {
        error = "has " + std::to_string(fields.size()) + " columns, but the head has " + std::to_string(width_);
        return false;
    }
    Row row;
    if (!parseWhole(fields[columns_[atBytes]], row.size) || row.size > largestObject) {
        error = "bytes: " + shown(fields[columns_[atBytes]]) + " is not a size of an object";
        return false;
    }
    if (!kindNamed(fields[columns_[atKind]], row.kind)) {
        error = "kind: " + shown(fields[columns_[atKind]]) + " is not one of html, css, js, image, font, other, binary";
        return false;
    }
    row.url = fields[columns_[atUrl]];
    row.referer = fields[columns_[atReferer]];
    const std::string sessionName(fields[columns_[atSession]]), pageName(fields[columns_[atPage]]);
    if (row.url.empty() || sessionName.empty() || pageName.empty()) {
        error = "session, page or url is empty";
        return false;
    }
    const auto found = places_.emplace(sessionName, sessions_.size());
    if (found.second)
        sessions_.emplace_back();
    auto &recorded = sessions_[found.first->second];
    // the lines of two pages may alternate
    const auto place = recorded.places.emplace(pageName, recorded.pages.size());
    if (place.second)
        recorded.pages.emplace_back();
    auto &rows = recorded.pages[place.first->second];
    if (rows.size() >= maxMembers) {
        error = "the page has more than " + std::to_string(maxMembers) + " objects";
        return false;
    }
    auto &size = recorded.sizes[row.url];
    size = std::max(size, row.size);
    rows.push_back(std::move(row));
    return true;
}

bool
TraceReader::read(const std::string &path, std::string &error)
{
    LineReader reader;
    std::string line;
    if (!reader.open(path, error))
        return false;
    if (!reader.next(line, error)) {
        if (error.empty())
            error = path + ": the file is empty";
        return false;
    }
    if (!parseHead(line, error)) {
        error = reader.place() + error;
        return false;
    }
    for (uint64_t lines = 0; reader.next(line, error); ++lines) {
        if (lines >= maxLines)
            error = "more than " + std::to_string(maxLines) + " objects";
        if (!error.empty() || !parseLine(line, error)) {
            error = reader.place() + error;
            return false;
        }
    }
    if (error.empty() && sessions_.empty())
        error = path + ": the file has a head, but no objects";
    return error.empty();
}

/// \param names numbers of URLs; gets those that are new
TracePage
TraceReader::finishPage(const std::vector<Row> &rows, const Recorded &recorded, std::unordered_map<std::string, uint32_t> &names)
{
    TracePage result;
    std::unordered_map<std::string, uint32_t> places;
    std::string styleSheet;
    for (const auto &row: rows) {
        const auto size = row.size ? row.size : recorded.sizes.at(row.url);
        if (!size || !places.emplace(row.url, result.size()).second)
            continue;
        TraceObject object;
        object.kind = row.kind;
        object.size = size;
        object.url = names.emplace(row.url, names.size()).first->second;
        const auto referer = row.kind == Kind::font && !styleSheet.empty() ? styleSheet : row.referer;
        const auto parent = places.find(referer);
        // only documents and style sheets ask for others
        if (parent != places.end() && parent->second < result.size()) {
            const auto parentKind = result[parent->second].kind;
            if (parentKind == Kind::html || parentKind == Kind::css)
                object.parent = parent->second;
        }
        if (row.kind == Kind::css)
            styleSheet = row.url;
        result.push_back(object);
    }
    return result;
}

TraceSession
TraceReader::finishSession(const Recorded &recorded)
{
    TraceSession result;
    std::unordered_map<std::string, uint32_t> names;
    std::map<uint32_t, unsigned> uses;
    for (const auto &rows: recorded.pages) {
        auto page = finishPage(rows, recorded, names);
        for (size_t i = 1; i < page.size(); ++i)
            ++uses[page[i].url];
        if (!page.empty())
            result.push_back(std::move(page));
    }
    for (auto &page: result) {
        for (size_t i = 1; i < page.size(); ++i)
            page[i].shared = uses[page[i].url] > 1;
    }
    return result;
}

std::vector<TraceSession>
TraceReader::finish()
{
    std::vector<TraceSession> result;
    for (const auto &recorded: sessions_) {
        auto session = finishSession(recorded);
        if (!session.empty())
            result.push_back(std::move(session));
    }
    return result;
}

} // namespace

bool
readTrace(const std::string &path, std::vector<TraceSession> &sessions, std::string &error)
{
    TraceReader reader;
    if (!reader.read(path, error))
        return false;
    sessions = reader.finish();
    if (sessions.empty())
        error = path + ": no object has a size";
    return error.empty();
}

} // namespace WebBench

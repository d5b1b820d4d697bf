// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats of the logs of servers and proxies. */

#include "tools/replay/LogLine.h"
#include "tools/base/Text.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <ctime>

namespace Replay {

using namespace Tools;

namespace {

bool
complain(std::string &error, const char *const what, const std::string_view value)
{
    error = std::string(what) + " is " + shown(value);
    return false;
}

/// "-" stands for nothing
bool
parseBytes(const std::string_view text, uint64_t &bytes)
{
    bytes = 0;
    return text == "-" || parseWhole(text, bytes);
}

/// reads [10/Oct/2000:13:55:36 -0700], without the brackets
bool
parseDate(const std::string_view text, double &seconds)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (text.size() != 26 || text[2] != '/' || text[6] != '/' || text[11] != ':' || text[14] != ':' || text[17] != ':'
            || text[20] != ' ' || (text[21] != '+' && text[21] != '-'))
        return false;
    const auto number = [text](const size_t from, const size_t length, const uint64_t most, int &result) {
        uint64_t value = 0;
        const bool good = parseWhole(text.substr(from, length), value) && value <= most;
        result = static_cast<int>(value);
        return good;
    };
    std::tm date{};
    int hours = 0, minutes = 0;
    const auto month = std::string_view(months).find(text.substr(3, 3));
    if (month == std::string_view::npos || month % 3 || !number(0, 2, 31, date.tm_mday) || !number(7, 4, 9999, date.tm_year)
            || !number(12, 2, 23, date.tm_hour) || !number(15, 2, 59, date.tm_min) || !number(18, 2, 60, date.tm_sec)
            || !number(22, 2, 14, hours) || !number(24, 2, 59, minutes))
        return false;
    date.tm_year -= 1900;
    date.tm_mon = static_cast<int>(month / 3);
    const double zone = hours * 3600 + minutes * 60;
    seconds = static_cast<double>(timegm(&date)) + (text[21] == '-' ? zone : -zone);
    return true;
}

/// The time at the beginning of a line of Squid's: seconds, or the date of %tl, which is two words.
/// \returns how many words it takes, 0 when there is none
size_t
parseTime(const std::string_view line, const std::vector<std::string_view> &words, double &seconds)
{
    if (words.empty())
        return 0;
    if (parseReal(words[0], seconds) && seconds >= 0)
        return 1;
    const auto bracket = words[0].front() == '[' ? 1U : 0U;
    const auto begin = static_cast<size_t>(words[0].data() - line.data()) + bracket;
    return words.size() > 1 && parseDate(line.substr(begin, 26), seconds) ? 2 : 0;
}

/// time.ms elapsed client code/status bytes method url user hierarchy/peer type
class SquidFormat: public LogFormat
{
public:
    bool parse(const std::string_view line, LogLine &result, std::string &error) const override {
        auto words = splitWords(line);
        const auto ofTime = parseTime(line, words, result.time);
        if (words.size() < std::max<size_t>(ofTime, 1) + 6) {
            error = "has " + std::to_string(words.size()) + " words, but a line of Squid's access.log has 10";
            return false;
        }
        if (!ofTime)
            return complain(error, "the time", words[0]);
        words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(ofTime));
        double elapsed = 0;
        if (!parseReal(words[0], elapsed))
            return complain(error, "the duration", words[0]);
        if (elapsed > 0)
            result.time -= elapsed / 1000; // the log has the end of the request
        const auto slash = words[2].rfind('/');
        if (slash == std::string_view::npos || !parseWhole(words[2].substr(slash + 1), result.status))
            return complain(error, "the result code", words[2]);
        if (!parseBytes(words[3], result.bytes))
            return complain(error, "the size", words[3]);
        const auto code = words[2].substr(0, slash);
        result.hit = code.find("HIT") != std::string_view::npos || code == "TCP_REFRESH_UNMODIFIED";
        result.client = words[1];
        result.method = words[4];
        result.url = words[5];
        result.referer = {};
        result.kind = guessKind(result.url);
        return true;
    }
};

/// cuts a text in quotes off the front; a backslash protects what follows it
bool
cutQuoted(std::string_view &rest, std::string_view &result)
{
    while (!rest.empty() && rest.front() == ' ')
        rest.remove_prefix(1);
    if (rest.empty() || rest.front() != '"')
        return false;
    size_t end = 1;
    while (end < rest.size() && rest[end] != '"')
        end += rest[end] == '\\' ? 2 : 1;
    if (end >= rest.size())
        return false;
    result = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return true;
}

/// client identity user [date] "METHOD url HTTP/1.0" status bytes, then perhaps "referer" "user agent"
class CommonFormat: public LogFormat
{
public:
    bool parse(const std::string_view line, LogLine &result, std::string &error) const override {
        const auto open = line.find('['), close = line.find(']');
        if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
            error = "has no [date]";
            return false;
        }
        const auto words = splitWords(line.substr(0, open));
        if (words.empty()) {
            error = "begins with no client";
            return false;
        }
        result.hit = false;
        result.client = words[0];
        const auto date = line.substr(open + 1, close - open - 1);
        if (!parseDate(date, result.time))
            return complain(error, "the date", date);
        auto rest = line.substr(close + 1);
        std::string_view request;
        if (!cutQuoted(rest, request)) {
            error = "has no \"request\" in quotes";
            return false;
        }
        parseRequestLine(request, result);
        return parseEnd(rest, result, error);
    }

private:
    /// clients send anything: what is no request has an empty method
    static void parseRequestLine(std::string_view request, LogLine &result) {
        result.method = result.url = {};
        const auto first = request.find(' ');
        if (first == std::string_view::npos)
            return;
        auto last = request.rfind(' ');
        if (last == first || request.compare(last + 1, 5, "HTTP/") != 0)
            last = request.size(); // HTTP/0.9, or a URL with spaces
        result.method = request.substr(0, first);
        result.url = request.substr(first + 1, last - first - 1);
        result.kind = guessKind(result.url);
    }

    static bool parseEnd(std::string_view rest, LogLine &result, std::string &error) {
        auto end = rest.find('"');
        if (end == std::string_view::npos)
            end = rest.size();
        const auto words = splitWords(rest.substr(0, end));
        if (words.size() != 2) {
            error = "has no status and size behind the request";
            return false;
        }
        if (!parseWhole(words[0], result.status))
            return complain(error, "the status", words[0]);
        if (!parseBytes(words[1], result.bytes))
            return complain(error, "the size", words[1]);
        rest.remove_prefix(end);
        result.referer = {};
        if (!rest.empty() && !cutQuoted(rest, result.referer)) {
            error = "has a Referer whose quotes don't end";
            return false;
        }
        if (result.referer == "-")
            result.referer = {};
        return true;
    }
};

class TableFormat: public LogFormat
{
public:
    bool hasHead() const override { return true; }

    bool parse(const std::string_view line, LogLine &result, std::string &error) const override {
        const auto fields = split(line, '\t');
        if (fields.size() != 7) {
            error = "has " + std::to_string(fields.size()) + " columns, but should have 7: time client url referer status bytes kind";
            return false;
        }
        if (!parseReal(fields[0], result.time) || result.time < 0)
            return complain(error, "the time", fields[0]);
        if (!parseWhole(fields[4], result.status))
            return complain(error, "the status", fields[4]);
        if (!parseBytes(fields[5], result.bytes))
            return complain(error, "the size", fields[5]);
        if (fields[6] == "emb") // something embedded, mostly that
            result.kind = Kind::image;
        else if (fields[6] == "oth")
            result.kind = Kind::other;
        else if (!kindNamed(fields[6], result.kind))
            return complain(error, "the kind", fields[6]);
        result.hit = false;
        result.client = fields[1];
        result.method = "GET"; // it has no others
        result.url = fields[2];
        result.referer = fields[3] == "-" ? std::string_view() : fields[3];
        return true;
    }
};

std::string
judge(const std::string_view line)
{
    if (line.compare(0, 12, "time\tclient\t") == 0)
        return "table";
    double time = 0;
    const auto words = splitWords(line);
    if (words.size() >= 7 && parseTime(line, words, time))
        return "squid";
    return line.find('[') != std::string_view::npos && line.find('"') != std::string_view::npos ? "common" : "";
}

} // namespace

std::unique_ptr<LogFormat>
LogFormat::Make(const std::string &name, const std::string_view firstLine)
{
    const auto chosen = name == "auto" ? judge(firstLine) : name;
    if (chosen == "squid")
        return std::make_unique<SquidFormat>();
    if (chosen == "common")
        return std::make_unique<CommonFormat>();
    if (chosen == "table")
        return std::make_unique<TableFormat>();
    return nullptr;
}

} // namespace Replay

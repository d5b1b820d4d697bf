// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading a trace from a file. */

#include "Trace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace Papers {

/// takes a whole number and the blank behind it. \returns false when there is none
static bool
takeNumber(const char *&at, const uint64_t most, uint64_t &number)
{
    number = 0;
    const char *const start = at;
    for (; *at >= '0' && *at <= '9' && number <= most; ++at)
        number = number * 10 + static_cast<uint64_t>(*at - '0');
    return at != start && number <= most && *at++ == ' ';
}

bool
Trace::addLine(const std::string &line, std::string &error)
{
    const char *at = line.c_str();
    uint64_t client = 0;
    uint64_t object = 0;
    uint64_t bytes = 0;
    if (!takeNumber(at, maxClients - 1, client) || !takeNumber(at, maxObjects - 1, object) || !takeNumber(at, maxBytes, bytes)) {
        error = "is not \"client object bytes kind\" with numbers up to " + std::to_string(maxClients - 1) + ", " +
                std::to_string(maxObjects - 1) + " and " + std::to_string(maxBytes);
        return false;
    }
    const std::string kind = at;
    const bool stale = kind == "html-stale" || kind == "other-stale";
    const bool html = kind == "html" || kind == "html-stale";
    if (!stale && !html && kind != "other") {
        error = "has the kind '" + kind + "', which is none of: html, other, html-stale, other-stale";
        return false;
    }
    if (object > sizes.size() || client > clients) {
        error = "leaves out a number: the next new object is " + std::to_string(sizes.size()) + ", the next new client " +
                std::to_string(clients);
        return false;
    }
    if (events.size() == maxEvents) {
        error = "is one too many: a trace has at most " + std::to_string(maxEvents) + " requests";
        return false;
    }
    if (object == sizes.size())
        sizes.push_back(std::max<uint32_t>(bytesLeast, static_cast<uint32_t>(bytes)));
    clients = std::max(clients, static_cast<uint32_t>(client) + 1);
    Event e;
    e.object = static_cast<uint32_t>(object);
    e.client = static_cast<uint32_t>(client) & 0x3fffffffU;
    e.html = html;
    e.stale = stale;
    events.push_back(e);
    return true;
}

bool
Trace::load(const std::string &path, std::string &error)
{
    std::ifstream file(path);
    if (!file) {
        error = path + ": cannot read this trace: " + strerror(errno);
        return false;
    }
    source = "file";
    std::string line;
    for (size_t number = 1; std::getline(file, line); ++number) {
        if (addLine(line, error))
            continue;
        error = path + ": line " + std::to_string(number) + " " + error;
        return false;
    }
    if (file.bad() || events.empty()) {
        error = path + (events.empty() ? ": has no requests" : ": reading failed");
        return false;
    }
    return true;
}

uint64_t
Trace::meanBytes() const
{
    uint64_t sum = 0;
    for (const auto s: sizes)
        sum += s;
    return sizes.empty() ? 0 : sum / sizes.size();
}

} // namespace Papers

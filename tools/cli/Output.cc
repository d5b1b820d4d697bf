// SPDX-License-Identifier: GPL-2.0-or-later
/* Text and JSON. */

#include "Output.h"

#include "fs/cluster/squid/ObjectText.h"

#include <algorithm>
#include <cstdio>

using namespace Tools;

namespace ClusterFs::Cli {

/// a name as text shows it
static std::string
label(std::string name)
{
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

Output::Output(const bool json):
    json_(json)
{
    levels_.push_back({"", Json::object()});
}

void
Output::finish()
{
    while (levels_.size() > 1)
        close();
    if (json_)
        puts(jsonText(levels_.back().json).c_str());
}

void
Output::indent() const
{
    for (size_t i = 1; i < levels_.size(); ++i)
        fputs("    ", stdout);
}

void
Output::add(const std::string &name, Json value)
{
    auto &to = levels_.back().json;
    if (to.is_array())
        to.push_back(std::move(value));
    else
        to[name] = std::move(value);
}

void
Output::raw(const char *name, const Json &value, const std::string &text)
{
    if (json_) {
        add(name, value);
        return;
    }
    auto &level = levels_.back();
    if (level.item) {
        printf("%s%s=%s", level.empty ? "" : " ", name, text.c_str());
        level.empty = false;
        return;
    }
    indent();
    printf("%-24s %s\n", label(name).c_str(), text.c_str());
}

void
Output::put(const char *name, const std::string &value)
{
    // in a line with others, a value with spaces needs quotes
    const bool alone = !levels_.back().item || value.find(' ') == std::string::npos;
    const Json json = bytesText(value);
    raw(name, json, alone ? printable(value) : jsonText(json));
}

void
Output::put(const char *name, const uint64_t value)
{
    raw(name, value, std::to_string(value));
}

void
Output::putTime(const char *name, const int64_t value)
{
    raw(name, value, std::to_string(value));
}

void
Output::putFlag(const char *name, const bool value)
{
    raw(name, value, value ? "yes" : "no");
}

void
Output::putNothing(const char *name)
{
    raw(name, Json(), "-");
}

void
Output::openLevel(const char *name, const bool list)
{
    if (!json_) {
        indent();
        puts(label(name).c_str());
    }
    levels_.push_back({name, list ? Json::array() : Json::object()});
}

void
Output::openItem()
{
    if (!json_)
        indent();
    levels_.push_back({"", Json::object(), true});
}

void
Output::close()
{
    auto level = std::move(levels_.back());
    levels_.pop_back();
    if (json_)
        add(level.name, std::move(level.json));
    else if (level.item)
        putchar('\n');
}

} // namespace ClusterFs::Cli

// SPDX-License-Identifier: GPL-2.0-or-later
/* Text and JSON. */

#include "Output.h"

#include <algorithm>
#include <cstdio>

namespace ClusterFs::Cli {

static std::string
escaped(const char *format, const char c)
{
    char text[8];
    snprintf(text, sizeof(text), format, static_cast<unsigned>(static_cast<unsigned char>(c)));
    return text;
}

static bool
plain(const char c)
{
    return c >= 0x20 && c < 0x7f && c != '\\';
}

/// a name as text shows it
static std::string
label(std::string name)
{
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

std::string
printable(const std::string &text)
{
    std::string result;
    for (const char c: text)
        result += plain(c) ? std::string(1, c) : escaped("\\x%02x", c);
    return result;
}

std::string
quoted(const std::string &text)
{
    std::string result = "\"";
    for (const char c: text)
        result += plain(c) && c != '"' ? std::string(1, c) : escaped("\\u%04x", c);
    return result + '"';
}

Output::Output(const bool json):
    json_(json),
    levels_(1)
{
    if (json_)
        putchar('{');
}

void
Output::finish()
{
    while (levels_.size() > 1)
        close();
    fputs(json_ ? "}\n" : "", stdout);
}

void
Output::indent() const
{
    for (size_t i = 1; i < levels_.size(); ++i)
        fputs("    ", stdout);
}

/// JSON: what stands between the value before and the value that follows
void
Output::lead(const char *name)
{
    auto &level = levels_.back();
    if (!level.empty)
        putchar(',');
    level.empty = false;
    if (!level.list)
        printf("%s:", quoted(name).c_str());
}

void
Output::raw(const char *name, const std::string &json, const std::string &text)
{
    if (json_) {
        lead(name);
        fputs(json.c_str(), stdout);
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
    raw(name, quoted(value), alone ? printable(value) : quoted(value));
}

void
Output::put(const char *name, const uint64_t value)
{
    raw(name, std::to_string(value), std::to_string(value));
}

void
Output::putTime(const char *name, const int64_t value)
{
    raw(name, std::to_string(value), std::to_string(value));
}

void
Output::putFlag(const char *name, const bool value)
{
    raw(name, value ? "true" : "false", value ? "yes" : "no");
}

void
Output::putNothing(const char *name)
{
    raw(name, "null", "-");
}

void
Output::openLevel(const char *name, const bool list)
{
    if (json_) {
        lead(name);
        putchar(list ? '[' : '{');
    } else {
        indent();
        puts(label(name).c_str());
    }
    levels_.emplace_back();
    levels_.back().list = list;
}

void
Output::openItem()
{
    if (json_) {
        lead("");
        putchar('{');
    } else {
        indent();
    }
    levels_.emplace_back();
    levels_.back().item = true;
}

void
Output::item(const std::string &text)
{
    if (json_) {
        lead("");
        fputs(quoted(text).c_str(), stdout);
    } else {
        indent();
        puts(printable(text).c_str());
    }
}

void
Output::close()
{
    const auto level = levels_.back();
    levels_.pop_back();
    if (json_)
        putchar(level.list ? ']' : '}');
    else if (level.item)
        putchar('\n');
}

} // namespace ClusterFs::Cli

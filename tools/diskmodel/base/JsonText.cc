// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes one JSON object. */

#include "tools/diskmodel/base/JsonText.h"

#include <cmath>
#include <cstdio>

namespace DiskModel {

void
JsonText::raw(const char *const name, const std::string &json)
{
    if (!body_.empty())
        body_ += separator_;
    body_ += std::string("\"") + name + "\": " + json;
}

void
JsonText::add(const char *const name, const std::string &value)
{
    std::string quoted = "\"";
    for (const char c: value) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
            quoted += code;
        } else {
            quoted += c;
        }
    }
    raw(name, quoted + "\"");
}

void
JsonText::add(const char *const name, const uint64_t value)
{
    raw(name, std::to_string(value));
}

void
JsonText::add(const char *const name, const double value)
{
    char number[64];
    if (!std::isfinite(value))
        snprintf(number, sizeof(number), "null"); // JSON has no such numbers
    else
        snprintf(number, sizeof(number), "%.12g", value);
    raw(name, number);
}

void
JsonText::add(const char *const name, const bool value)
{
    raw(name, value ? "true" : "false");
}

void
JsonText::add(const char *const name, const JsonText &value)
{
    raw(name, value.text());
}

} // namespace DiskModel

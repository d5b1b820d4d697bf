// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages as text. */

#include "fs/cluster/base/Messages.h"

const char *
ClusterFs::levelText(const LogLevel level)
{
    switch (level) {
    case LogLevel::fatal:
        return "FATAL: ";
    case LogLevel::error:
        return "ERROR: ";
    case LogLevel::warning:
        return "WARNING: ";
    case LogLevel::notice:
    case LogLevel::reason:
        break;
    }
    return "";
}

std::string
ClusterFs::filled(const char *text, const std::initializer_list<std::string> values)
{
    std::string result;
    auto value = values.begin();
    for (; *text; ++text) {
        if (*text == '%' && value != values.end())
            result += *value++;
        else
            result += *text;
    }
    return result;
}

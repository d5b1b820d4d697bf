// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 03    Configuration File Parsing */

#include "squid.h"
#include "fs/cluster/api/Options.h"
#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/squid/DirLine.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace {

bool
IsDigits(const std::string &text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](const unsigned char c) {
        return isdigit(c);
    });
}

bool
IsFlag(const std::string &name)
{
    return name == "no-store" || name == "read-only";
}

} // namespace

bool
ClusterFs::DirLine::MeansSize(char const * const word)
{
    const auto digit = (*word == '-' || *word == '+') ? word + 1 : word;
    return isdigit(static_cast<unsigned char>(*digit));
}

bool
ClusterFs::DirLine::takeSize(const std::string &word, std::string &error)
{
    if (!IsDigits(word) || word.length() > 12) {
        error = "size '" + word + "' is not a whole number of MB";
        return false;
    }
    sizeMb = std::stoull(word);
    constexpr auto least = smallestDevice >> 20;
    if (sizeMb && sizeMb < least)
        error = "a size of " + word + " MB is too small: at least " + std::to_string(least) + " MB are needed";
    return error.empty();
}

bool
ClusterFs::DirLine::IsOfDisk(const std::string &name)
{
    return IsFlag(name) || name == "min-size" || name == "max-size";
}

bool
ClusterFs::DirLine::takeOption(const std::string &name, char const * const value, std::string &error)
{
    const auto text = "option '" + (value ? name + '=' + value : name) + "'"; // as in squid.conf
    const auto option = findOption(name);
    if (!names_.insert(name).second)
        error = text + " is given twice";
    else if (IsFlag(name) && value && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        error = text + " takes no value, or 0 or 1";
    else if (IsFlag(name))
        return true;
    else if (IsOfDisk(name) && (!value || !(IsDigits(value) || strcmp(value, "-1") == 0) || strlen(value) > 18))
        error = text + " needs a number of bytes, or -1 for no limit";
    else if (IsOfDisk(name))
        return true;
    else if (!option)
        error = "unknown " + text;
    else if (!value)
        error = text + " needs a value";
    else
        return option->take(config, value, error);
    return false;
}

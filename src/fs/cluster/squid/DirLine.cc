// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 03    Configuration File Parsing */

#include "squid.h"
#include "fs/cluster/api/Options.h"
#include "fs/cluster/base/Messages.h"
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
        error = messageText<Message::sizeNotWhole>(word);
        return false;
    }
    sizeMb = std::stoull(word);
    constexpr auto least = smallestDevice >> 20;
    if (sizeMb && sizeMb < least)
        error = messageText<Message::sizeTooSmall>(word, least);
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
    const auto text = value ? name + '=' + value : name; // as in squid.conf
    const auto option = findOption(name);
    if (!names_.insert(name).second)
        error = messageText<Message::optionTwice>(text);
    else if (IsFlag(name) && value && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        error = messageText<Message::flagWithValue>(text);
    else if (IsFlag(name))
        return true;
    else if (IsOfDisk(name) && (!value || !(IsDigits(value) || strcmp(value, "-1") == 0) || strlen(value) > 18))
        error = messageText<Message::bytesWanted>(text);
    else if (IsOfDisk(name))
        return true;
    else if (!option)
        error = messageText<Message::optionUnknown>(text);
    else if (!value)
        error = messageText<Message::optionEmpty>(text);
    else
        return option->take(config, value, error);
    return false;
}

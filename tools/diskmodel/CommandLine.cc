// SPDX-License-Identifier: GPL-2.0-or-later
/* The words after a subcommand. */

#include "tools/diskmodel/CommandLine.h"

#include "tools/diskmodel/base/Numbers.h"

#include <algorithm>

namespace DiskModel {

static bool
contains(const std::vector<std::string> &names, const std::string &name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

CommandLine::CommandLine(const std::vector<std::string> &words, const std::vector<std::string> &valued,
                         const std::vector<std::string> &plain)
{
    for (size_t i = 0; i < words.size(); ++i) {
        const auto &word = words[i];
        if (word.compare(0, 2, "--") != 0) {
            words_.push_back(word);
            continue;
        }
        const auto equals = word.find('=');
        const auto name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
        if (contains(plain, name) && equals == std::string::npos)
            add(name, "");
        else if (!contains(valued, name))
            throw BadRequest("there is no option " + word);
        else if (equals != std::string::npos)
            add(name, word.substr(equals + 1));
        else if (++i < words.size())
            add(name, words[i]);
        else
            throw BadRequest("--" + name + " needs a value");
    }
}

void
CommandLine::add(const std::string &name, const std::string &value)
{
    if (!options_.emplace(name, value).second)
        throw BadRequest("--" + name + " was given twice");
}

std::string
CommandLine::text(const std::string &name, const std::string &otherwise) const
{
    const auto found = options_.find(name);
    return found == options_.end() ? otherwise : found->second;
}

} // namespace DiskModel

// SPDX-License-Identifier: GPL-2.0-or-later
/* Parsing of a subcommand's words. */

#include "Arguments.h"

namespace ClusterFs::Cli {

bool
Arguments::addOption(const std::string &word, const std::vector<OptionRule> &rules, std::string &error)
{
    const auto equals = word.find('=');
    const auto name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    for (const auto &rule: rules) {
        if (name != rule.name)
            continue;
        if (rule.value && (equals == std::string::npos || equals + 1 == word.size())) {
            error = "--" + name + " needs a value: --" + name + "=" + rule.value;
            return false;
        }
        if (!rule.value && equals != std::string::npos) {
            error = "--" + name + " takes no value: write just --" + name;
            return false;
        }
        if (!options_.emplace(name, rule.value ? word.substr(equals + 1) : std::string()).second) {
            error = "--" + name + " was given twice";
            return false;
        }
        return true;
    }
    error = "unknown option " + word;
    return false;
}

bool
Arguments::parse(const std::vector<std::string> &words, const std::vector<OptionRule> &rules, std::string &error)
{
    bool optionsEnded = false;
    for (const auto &word: words) {
        if (!optionsEnded && word == "--") {
            optionsEnded = true;
        } else if (!optionsEnded && word.compare(0, 2, "--") == 0) {
            if (!addOption(word, rules, error))
                return false;
        } else if (!optionsEnded && word.size() > 1 && word[0] == '-') {
            error = "unknown option " + word + "; for a path that begins with a dash, write -- before it";
            return false;
        } else if (word.empty()) {
            error = "the path is empty";
            return false;
        } else if (!path_.empty()) {
            error = "one path at a time: there are " + path_ + " and " + word;
            return false;
        } else {
            path_ = word;
        }
    }
    if (path_.empty()) {
        error = "which one? Name a block device or a file";
        return false;
    }
    return true;
}

std::string
Arguments::text(const std::string &name) const
{
    const auto found = options_.find(name);
    return found == options_.end() ? std::string() : found->second;
}

bool
Arguments::number(const std::string &name, const uint64_t least, const uint64_t most, uint64_t &result, std::string &error) const
{
    const auto found = options_.find(name);
    if (found == options_.end())
        return true;
    const auto &value = found->second;
    uint64_t n = 0;
    bool valid = value.size() <= 19; // so that no sum overflows
    for (const char c: value) {
        valid = valid && c >= '0' && c <= '9';
        if (valid)
            n = n * 10 + static_cast<uint64_t>(c - '0');
    }
    if (!valid || n < least || n > most) {
        error = "--" + name + "=" + value + " is not a whole number from " + std::to_string(least) + " to " + std::to_string(most);
        return false;
    }
    result = n;
    return true;
}

} // namespace ClusterFs::Cli

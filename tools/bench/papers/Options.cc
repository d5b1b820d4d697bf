// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line. */

#include "Options.h"

#include <algorithm>

namespace Papers {

static std::vector<std::string>
choicesOf(const Rule &rule)
{
    std::vector<std::string> result(1);
    for (const char *at = rule.help; *at; ++at) {
        if (*at == '|')
            result.emplace_back();
        else
            result.back() += *at;
    }
    return result;
}

/// \returns false when it is not a whole number between the bounds
static bool
parseNumber(const std::string &text, const Rule &rule, uint64_t &number)
{
    number = 0;
    if (text.empty() || text.size() > 18) // so that no sum overflows
        return false;
    for (const char c: text) {
        if (c < '0' || c > '9')
            return false;
        number = number * 10 + static_cast<uint64_t>(c - '0');
    }
    return number >= rule.least && number <= rule.most;
}

Options::Options(const std::vector<std::string> &words, const std::vector<Rule> &rules):
    rules_(rules)
{
    for (size_t i = 0; i < words.size(); ++i) {
        const auto &word = words[i];
        if (word.compare(0, 2, "--") != 0)
            throw UsageError("'" + word + "' is not an option");
        const auto equals = word.find('=');
        const auto &r = rule(word.substr(2, equals == std::string::npos ? equals : equals - 2));
        const std::string name = std::string("--") + r.name;
        if (r.kind == Rule::Kind::flag) {
            if (equals != std::string::npos)
                throw UsageError(name + " takes no value");
            take(r, "");
            continue;
        }
        if (equals == std::string::npos && i + 1 == words.size())
            throw UsageError(name + " needs a value");
        take(r, equals == std::string::npos ? words[++i] : word.substr(equals + 1));
    }
}

const Rule &
Options::rule(const std::string &name) const
{
    const auto found = std::find_if(rules_.begin(), rules_.end(), [&](const Rule &r) { return name == r.name; });
    if (found == rules_.end())
        throw UsageError("unknown option --" + name);
    return *found;
}

void
Options::take(const Rule &r, const std::string &value)
{
    const std::string name = std::string("--") + r.name;
    auto &values = values_[r.name];
    if (!values.empty() && r.kind != Rule::Kind::list)
        throw UsageError(name + " was given twice");
    uint64_t number = 0;
    if (r.kind == Rule::Kind::number && !parseNumber(value, r, number))
        throw UsageError(name + "=" + value + " is not a whole number from " + std::to_string(r.least) + " to " + std::to_string(r.most));
    if (r.kind == Rule::Kind::choice) {
        const auto choices = choicesOf(r);
        if (std::find(choices.begin(), choices.end(), value) == choices.end())
            throw UsageError(name + "=" + value + " is none of " + r.help);
    }
    if ((r.kind == Rule::Kind::text || r.kind == Rule::Kind::list) && value.empty())
        throw UsageError(name + " has an empty value");
    values.push_back(value);
}

uint64_t
Options::number(const std::string &name) const
{
    const auto &r = rule(name);
    uint64_t result = r.usual;
    const auto found = values_.find(name);
    if (found != values_.end())
        (void)parseNumber(found->second[0], r, result);
    return result;
}

std::string
Options::text(const std::string &name) const
{
    const auto found = values_.find(name);
    if (found != values_.end())
        return found->second[0];
    const auto &r = rule(name);
    return r.kind == Rule::Kind::choice ? choicesOf(r)[0] : std::string();
}

std::vector<std::string>
Options::list(const std::string &name) const
{
    const auto found = values_.find(name);
    return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::string
Options::Help(const std::vector<Rule> &rules)
{
    std::string result;
    for (const auto &r: rules) {
        std::string left = std::string("  --") + r.name;
        if (r.kind == Rule::Kind::number)
            left += " N";
        else if (r.kind != Rule::Kind::flag)
            left += r.kind == Rule::Kind::list ? " NAME=VALUE" : " " + std::string(r.kind == Rule::Kind::choice ? "WORD" : "TEXT");
        left.resize(std::max<size_t>(left.size() + 1, 26), ' ');
        result += left + r.help;
        if (r.kind == Rule::Kind::number)
            result += " (" + std::to_string(r.usual) + ")";
        result += "\n";
    }
    return result;
}

} // namespace Papers

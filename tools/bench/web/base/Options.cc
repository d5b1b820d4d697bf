// SPDX-License-Identifier: GPL-2.0-or-later
/* Command line of a program. */

#include "tools/bench/web/base/Options.h"
#include "tools/bench/web/base/Text.h"

#include <algorithm>
#include <sstream>

namespace WebBench {

namespace {

/// a whole number, with a unit of K, M or G
bool
parseScaled(std::string text, uint64_t &result)
{
    unsigned shift = 0;
    if (!text.empty()) {
        const auto unit = std::string("KMG").find(text.back());
        if (unit != std::string::npos) {
            shift = 10 * (static_cast<unsigned>(unit) + 1);
            text.pop_back();
        }
    }
    uint64_t number = 0;
    if (!parseWhole(text, number) || number > (UINT64_MAX >> shift))
        return false;
    result = number << shift;
    return true;
}

/// a number as short as it can be said
template <class Number>
std::string
said(const Number number)
{
    std::ostringstream out;
    out.precision(12);
    out << number;
    return out.str();
}

template <class Number>
std::string
range(const Number least, const Number most)
{
    return "from " + said(least) + " to " + said(most);
}

} // namespace

void
Options::addRule(const std::string &name, const std::string &valueName, const std::string &help,
                 const std::function<bool(const std::string &, std::string &)> &set)
{
    rules_.push_back({name, valueName, help, set, false});
}

void
Options::section(const std::string &title)
{
    addRule("", "", title, nullptr);
}

void
Options::whole(const std::string &name, uint64_t &value, const uint64_t least, const uint64_t most, const std::string &help)
{
    addRule(name, "N", help + " (default " + said(value) + ")", [=, &value](const std::string &text, std::string &error) {
        uint64_t number = 0;
        if (!parseScaled(text, number) || number < least || number > most) {
            error = "is not a whole number " + range(least, most);
            return false;
        }
        value = number;
        return true;
    });
}

void
Options::real(const std::string &name, double &value, const double least, const double most, const std::string &help)
{
    addRule(name, "X", help + " (default " + said(value) + ")", [=, &value](const std::string &text, std::string &error) {
        double number = 0;
        if (!parseReal(text, number) || number < least || number > most) {
            error = "is not a number " + range(least, most);
            return false;
        }
        value = number;
        return true;
    });
}

void
Options::text(const std::string &name, std::string &value, const std::string &valueName, const std::string &help)
{
    addRule(name, valueName, help + (value.empty() ? "" : " (default " + value + ")"),
            [&value](const std::string &text, std::string &) {
                value = text;
                return true;
            });
}

void
Options::choice(const std::string &name, std::string &value, const std::vector<std::string> &choices, const std::string &help)
{
    std::string all;
    for (const auto &choice: choices)
        all += (all.empty() ? "" : "|") + choice;
    addRule(name, all, help + (value.empty() ? "" : " (default " + value + ")"),
            [=, &value](const std::string &text, std::string &error) {
                if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
                    error = "is not one of " + all;
                    return false;
                }
                value = text;
                return true;
            });
}

void
Options::flag(const std::string &name, bool &value, const bool whenGiven, const std::string &help)
{
    addRule(name, "", help, [=, &value](const std::string &, std::string &) {
        value = whenGiven;
        return true;
    });
}

Options::Rule *
Options::find(const std::string &name)
{
    const auto found = std::find_if(rules_.begin(), rules_.end(), [&](const Rule &r) { return r.set && r.name == name; });
    return found == rules_.end() ? nullptr : &*found;
}

bool
Options::given(const std::string &name) const
{
    const auto rule = const_cast<Options *>(this)->find(name);
    return rule && rule->given;
}

Options::Outcome
Options::parse(const int argc, char **argv, std::string &error)
{
    return parse(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), error);
}

Options::Outcome
Options::parse(const std::vector<std::string> &words, std::string &error)
{
    for (size_t i = 0; i < words.size(); ++i) {
        const auto &word = words[i];
        if (word == "--help" || word == "-h")
            return Outcome::help;
        const auto equals = word.find('=');
        Rule *const rule = word.compare(0, 2, "--") == 0 ? find(word.substr(2, equals == std::string::npos ? equals : equals - 2)) : nullptr;
        if (!rule) {
            error = "unknown option " + shown(word) + "; --help lists them";
            return Outcome::wrong;
        }
        const auto name = "--" + rule->name;
        if (rule->given) {
            error = name + " was given twice";
            return Outcome::wrong;
        }
        std::string value;
        if (equals != std::string::npos) {
            value = word.substr(equals + 1);
        } else if (!rule->valueName.empty() && i + 1 < words.size()) {
            value = words[++i];
        }
        if (rule->valueName.empty() ? equals != std::string::npos : value.empty()) {
            error = rule->valueName.empty() ? name + " takes no value" : name + " needs a value: " + name + " " + rule->valueName;
            return Outcome::wrong;
        }
        std::string reason;
        if (!rule->set(value, reason)) {
            error = name + ": " + shown(value) + " " + reason;
            return Outcome::wrong;
        }
        rule->given = true;
    }
    return Outcome::run;
}

std::string
Options::help() const
{
    constexpr size_t column = 30;
    std::string result = purpose_ + "\n";
    for (const auto &rule: rules_) {
        if (!rule.set) {
            result += "\n" + rule.help + "\n";
            continue;
        }
        auto head = "  --" + rule.name + (rule.valueName.empty() ? "" : " " + rule.valueName);
        if (head.size() + 1 > column)
            head += "\n";
        else
            head.resize(column, ' ');
        result += head;
        for (const char c: rule.help + "\n") {
            if (result.back() == '\n')
                result.append(column, ' ');
            result += c;
        }
    }
    return result;
}

} // namespace WebBench

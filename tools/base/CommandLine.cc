// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of a program or a subcommand. */

#include "tools/base/CommandLine.h"
#include "tools/base/Text.h"

#include <algorithm>
#include <iostream>

namespace Tools {

namespace {

/// the purpose says it better
class WithoutUsage: public CLI::Formatter
{
    std::string make_usage(const CLI::App *, std::string) const override { return ""; }
};

[[noreturn]] void
needsValue(const std::string &what, const std::string &valueName, const char *const more = "")
{
    throw BadRequest(what + " needs a value" + more + ": " + what + "=" + valueName);
}

bool
takesValue(const CLI::Option &option)
{
    return option.get_expected_max() > 0;
}

} // namespace

CommandLine::CommandLine(const std::string &purpose):
    CLI::App(purpose)
{
    allow_extras(); // read() says better what is wrong with them
    formatter(std::make_shared<WithoutUsage>());
    set_help_flag("-h,--help")->group(""); // not in the help itself
}

CLI::Option *
CommandLine::add(const std::string &name, const std::string &valueName, const std::string &help, const Take &take)
{
    const auto what = "--" + name;
    const CLI::callback_t callback = [=](const CLI::results_t &values) {
        for (const auto &value: values) {
            if (value.empty())
                needsValue(what, valueName, ", not an empty one");
            take(what, value);
            if (count(what) == 1)
                break; // to "{}", CLI11 2.4 adds a second value
        }
        return true;
    };
    return add_option(what, callback, help)->type_name(valueName);
}

CLI::Option *
CommandLine::real(const std::string &name, double &value, const double least, const double most, const std::string &help)
{
    return add(name, "X", help + usual(realText(value)), [&value, least, most](const std::string &what, const std::string &text) {
        value = realFrom(what, text, least, most);
    });
}

CLI::Option *
CommandLine::text(const std::string &name, std::string &value, const std::string &valueName, const std::string &help)
{
    return add(name, valueName, help + usual(value), [&value](const std::string &, const std::string &text) { value = text; });
}

CLI::Option *
CommandLine::list(const std::string &name, std::vector<std::string> &values, const std::string &valueName, const std::string &help)
{
    const auto option = add(name, valueName, help, [&values](const std::string &, const std::string &text) { values.push_back(text); });
    return option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option *
CommandLine::choice(const std::string &name, std::string &value, const std::vector<std::string> &choices, const std::string &help)
{
    std::string all;
    for (const auto &one: choices)
        all += (all.empty() ? "" : "|") + one;
    return add(name, all, help + usual(value), [&value, choices, all](const std::string &what, const std::string &text) {
        if (std::find(choices.begin(), choices.end(), text) == choices.end())
            throw BadRequest(what + "=" + fit(text) + " is not one of " + all);
        value = text;
    });
}

CLI::Option *
CommandLine::flag(const std::string &name, bool &value, const std::string &help, const bool whenGiven)
{
    return add_flag_callback("--" + name, [&value, whenGiven] { value = whenGiven; }, help)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

void
CommandLine::section(const std::string &title)
{
    option_defaults()->group(title);
}

void
CommandLine::words(std::vector<std::string> &others)
{
    words_ = &others;
}

bool
CommandLine::read(const std::vector<std::string> &words)
{
    checkForms(words);
    try {
        parse(std::vector<std::string>(words.rbegin(), words.rend())); // it takes them from the end
    } catch (const CLI::CallForHelp &) {
        printHelp();
        return false;
    } catch (const CLI::ArgumentMismatch &) {
        mismatch(words.back());
    } catch (const CLI::ParseError &e) {
        throw BadRequest(e.what());
    }
    takeOthers();
    return true;
}

/// CLI11 would take the next word for the value of "--name=", and "--flag=no".
void
CommandLine::checkForms(const std::vector<std::string> &words) const
{
    for (const auto &word: words) {
        if (word == "--")
            return;
        const auto equals = word.find('=');
        if (equals == std::string::npos || word.compare(0, 2, "--") != 0)
            continue;
        const auto what = word.substr(0, equals);
        const auto option = get_option_no_throw(what);
        if (option && !takesValue(*option))
            throw BadRequest(what + " takes no value: write just " + what);
        if (option && equals + 1 == word.size())
            needsValue(what, option->get_type_name(), ", not an empty one");
    }
}

/// An option was given twice, or is the last word and without its value.
void
CommandLine::mismatch(const std::string &lastWord) const
{
    for (const auto *option: get_options()) {
        if (option->count() > 1 && option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw)
            throw BadRequest(option->get_name() + " was given twice");
    }
    needsValue(lastWord, get_option(lastWord)->get_type_name());
}

/// what CLI11 has left over
void
CommandLine::takeOthers()
{
    bool optionsEnded = false;
    for (const auto &word: remaining()) {
        const bool dash = !optionsEnded && word.size() > 1 && word[0] == '-';
        if (dash && word == "--")
            optionsEnded = true;
        else if (dash)
            throw BadRequest("unknown option " + fit(word) +
                             (words_ ? "; for a word that begins with a dash, write -- before it" : "; --help lists them"));
        else if (!words_)
            throw BadRequest("'" + fit(word) + "' is not an option; --help lists them");
        else
            words_->push_back(word);
    }
}

/// as CLI11 lays it out, but with no more than one empty line in a row, and none at the end
void
CommandLine::printHelp() const
{
    auto page = help();
    for (size_t at; (at = page.find("\n\n\n")) != std::string::npos;)
        page.erase(at, 1);
    while (!page.empty() && page.back() == '\n')
        page.pop_back();
    std::cout << page << std::endl;
}

std::vector<std::string>
wordsOf(const int argc, char **const argv)
{
    return {argv + std::min(argc, 1), argv + argc};
}

} // namespace Tools

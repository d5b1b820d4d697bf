// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of a program or a subcommand: CLI11, and what our programs have in common. */

#ifndef CLUSTERFS_TOOLS_BASE_COMMANDLINE_H
#define CLUSTERFS_TOOLS_BASE_COMMANDLINE_H

#include "tools/base/Numbers.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace Tools {

/// Options of the forms --name VALUE, --name=VALUE and --name, each at most once,
/// and --help. They are bound to variables that hold the defaults and must outlive this.
class CommandLine: public CLI::App
{
public:
    /// \param purpose the head of the help
    explicit CommandLine(const std::string &purpose);

    /// a whole number; may end in K, M, G or T, for powers of 1024. A default that
    /// is out of bounds stands for none, here and in bytes().
    template <class Number>
    CLI::Option *whole(const std::string &name, Number &value, const uint64_t least, const uint64_t most, const std::string &help) {
        return add(name, "N", help + (value < least || value > most ? "" : usual(std::to_string(value))), [&value, least, most](const std::string &what, const std::string &text) {
            value = static_cast<Number>(scaledFrom(what, text, least, most));
        });
    }
    /// the same, of bytes
    template <class Number>
    CLI::Option *bytes(const std::string &name, Number &value, const uint64_t least, const uint64_t most, const std::string &help) {
        return add(name, "SIZE", help + (value < least || value > most ? "" : usual(sizeText(value))), [&value, least, most](const std::string &what, const std::string &text) {
            value = static_cast<Number>(bytesFrom(what, text, least, most));
        });
    }
    CLI::Option *real(const std::string &name, double &, double least, double most, const std::string &help);
    /// \param valueName stands for the value in the help and in errors
    CLI::Option *text(const std::string &name, std::string &, const std::string &valueName, const std::string &help);
    /// a text for each time that it is given
    CLI::Option *list(const std::string &name, std::vector<std::string> &, const std::string &valueName, const std::string &help);
    CLI::Option *choice(const std::string &name, std::string &, const std::vector<std::string> &, const std::string &help);
    CLI::Option *flag(const std::string &name, bool &, const std::string &help, bool whenGiven = true);

    /// what the following options are about, a headline in the help
    void section(const std::string &title);

    /// Takes words that are no options, which are refused otherwise. After "--", a
    /// word that begins with a dash is one, too.
    void words(std::vector<std::string> &);

    /// \param words of the command line, without the program's or subcommand's name
    /// \returns false when they asked for help, which was printed
    /// \throws BadRequest
    bool read(const std::vector<std::string> &words);

    /// whether an option was on the command line
    bool given(const std::string &name) const { return count("--" + name) > 0; }

private:
    /// what is done with an option's name and value
    using Take = std::function<void(const std::string &what, const std::string &text)>;

    CLI::Option *add(const std::string &name, const std::string &valueName, const std::string &help, const Take &);
    static std::string usual(const std::string &value) { return value.empty() ? "" : " (default " + value + ")"; }
    void checkForms(const std::vector<std::string> &) const;
    [[noreturn]] void mismatch(const std::string &lastWord) const;
    void takeOthers();
    void printHelp() const;

    std::vector<std::string> *words_ = nullptr;
};

/// the words of main() after the program's name
std::vector<std::string> wordsOf(int argc, char **argv);

} // namespace Tools

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Command line of a program: declared once, parsed strictly, explained by --help. */

#ifndef CLUSTERFS_BENCH_WEB_BASE_OPTIONS_H
#define CLUSTERFS_BENCH_WEB_BASE_OPTIONS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace WebBench {

/// Options of the forms --name VALUE, --name=VALUE and --name, each at most
/// once, bound to variables that hold the defaults and must outlive this.
class Options
{
public:
    enum class Outcome { run, help, wrong };

    /// \param purpose what the program is for, the head of its help
    explicit Options(const std::string &purpose): purpose_(purpose) {}

    /// a whole number; may end in K, M or G (powers of 1024)
    void whole(const std::string &name, uint64_t &, uint64_t least, uint64_t most, const std::string &help);
    void real(const std::string &name, double &, double least, double most, const std::string &help);
    void text(const std::string &name, std::string &, const std::string &valueName, const std::string &help);
    void choice(const std::string &name, std::string &, const std::vector<std::string> &, const std::string &help);
    void flag(const std::string &name, bool &, bool whenGiven, const std::string &help);
    /// a headline in the help
    void section(const std::string &title);

    /// \returns wrong with the reason in error
    Outcome parse(int argc, char **argv, std::string &error);
    /// \copydoc parse
    Outcome parse(const std::vector<std::string> &words, std::string &error);

    bool given(const std::string &name) const;
    std::string help() const;

private:
    struct Rule {
        std::string name;
        std::string valueName; ///< empty when the option takes no value
        std::string help;
        std::function<bool(const std::string &value, std::string &error)> set;
        bool given = false;
    };

    void addRule(const std::string &name, const std::string &valueName, const std::string &help,
                 const std::function<bool(const std::string &, std::string &)> &);
    Rule *find(const std::string &name);

    std::string purpose_;
    std::vector<Rule> rules_;
};

} // namespace WebBench

#endif

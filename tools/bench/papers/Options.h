// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line, parsed strictly. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_OPTIONS_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_OPTIONS_H

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace Papers {

/// the command line is wrong
class UsageError: public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// an option that an experiment takes
struct Rule {
    enum class Kind : uint8_t { flag, text, number, choice, list };

    const char *name; ///< without the dashes
    Kind kind;
    const char *help; ///< for a choice: its words, separated by |
    uint64_t usual = 0; ///< of a number
    uint64_t least = 0;
    uint64_t most = 0;
};

/// Options written as --name value or --name=value, each at most once, but for
/// those of kind list. A choice has its first word when it is not given.
class Options
{
public:
    /// throws UsageError
    Options(const std::vector<std::string> &words, const std::vector<Rule> &);

    bool flag(const std::string &name) const { return values_.count(name) > 0; }
    uint64_t number(const std::string &name) const;
    std::string text(const std::string &name) const; ///< empty when it was not given
    std::vector<std::string> list(const std::string &name) const;

    /// a line for each rule
    static std::string Help(const std::vector<Rule> &);

private:
    const Rule &rule(const std::string &name) const;
    void take(const Rule &, const std::string &value);

    std::vector<Rule> rules_;
    std::map<std::string, std::vector<std::string>> values_;
};

} // namespace Papers

#endif

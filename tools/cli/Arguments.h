// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of one subcommand, parsed strictly. */

#ifndef CLUSTERFS_TOOLS_CLI_ARGUMENTS_H
#define CLUSTERFS_TOOLS_CLI_ARGUMENTS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ClusterFs::Cli {

/// an option that a subcommand takes
struct OptionRule {
    const char *name; ///< without the dashes
    const char *value; ///< what stands for the value in messages; nil when there is none
};

/// One path and some options, each at most once. After "--", a word that begins
/// with a dash is a path, too.
class Arguments
{
public:
    /// \param words what follows the subcommand
    /// \returns false with the reason in error
    bool parse(const std::vector<std::string> &words, const std::vector<OptionRule> &, std::string &error);

    const std::string &path() const { return path_; }
    bool has(const std::string &name) const { return options_.count(name) > 0; }
    /// an option's value, or an empty text
    std::string text(const std::string &name) const;

    /// Reads an option's value as a whole number. Leaves result alone when the
    /// option was not given. \returns false with the reason in error
    bool number(const std::string &name, uint64_t least, uint64_t most, uint64_t &result, std::string &error) const;

private:
    bool addOption(const std::string &word, const std::vector<OptionRule> &, std::string &error);

    std::string path_;
    std::map<std::string, std::string> options_;
};

} // namespace ClusterFs::Cli

#endif

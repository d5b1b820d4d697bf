// SPDX-License-Identifier: GPL-2.0-or-later
/* The words after a subcommand. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_COMMANDLINE_H
#define CLUSTERFS_TOOLS_DISKMODEL_COMMANDLINE_H

#include <map>
#include <string>
#include <vector>

namespace DiskModel {

/// Options, as --name=value or --name value or --name, each at most once; and
/// other words.
class CommandLine
{
public:
    /// \param valued names of options that take a value
    /// \param plain names of those that do not
    /// \throws BadRequest
    CommandLine(const std::vector<std::string> &words, const std::vector<std::string> &valued,
                const std::vector<std::string> &plain);

    bool has(const std::string &name) const { return options_.count(name) > 0; }
    /// an option's value, or the other text when it was not given
    std::string text(const std::string &name, const std::string &otherwise = "") const;
    const std::vector<std::string> &words() const { return words_; } ///< that are not options

private:
    void add(const std::string &name, const std::string &value);

    std::map<std::string, std::string> options_;
    std::vector<std::string> words_;
};

} // namespace DiskModel

#endif

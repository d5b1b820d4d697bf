// SPDX-License-Identifier: GPL-2.0-or-later
/* The cache manager of a running Squid. */

#ifndef CLUSTERFS_TOOLS_CLI_MANAGER_H
#define CLUSTERFS_TOOLS_CLI_MANAGER_H

#include "Commands.h"
#include "Output.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ClusterFs::Cli {

/// A running Squid, by its address. Asks by HTTP/1.0 in plain text, as Squid's port takes it.
class Manager
{
public:
    /// the lines "name: value" of a page
    using Lines = std::vector<std::pair<std::string, std::string>>;

    /// whether a text is an address, and no path of a device
    static bool IsAddress(const std::string &);

    /// \param address http://HOST or http://HOST:PORT
    /// \param passwordFile see declarePassword()
    /// \throws BadRequest when the address is none
    explicit Manager(const std::string &address, const std::string &passwordFile = "");

    /// takes a line "name: value" of a page
    using Taker = std::function<void(const std::string &name, const std::string &value)>;

    /// Asks for a page with one parameter.
    /// \param name of the parameter, or empty
    /// \returns false, with the reason printed, when there was no answer, or a refusal
    bool ask(const std::string &page, const std::string &name, const std::string &value, const Taker &) const;

    /// the same for a page of few lines
    bool ask(const std::string &page, const std::string &name, const std::string &value, Lines &lines) const;

    /// Whether all of a long page came: its last line, "end", says so. If not, prints that.
    bool whole(bool ended) const;
    bool whole(const Lines &) const;

    const std::string &address() const { return address_; }

    /// Starts a job, waits for its end, and prints what became of it. \returns an ExitCode
    int run(const std::string &page, const std::string &name, const std::string &value, bool json) const;

private:
    class Answer;

    bool password(std::string &) const;

    std::string address_;
    std::string host_;
    std::string port_ = "3128";
    std::string passwordFile_;
};

/// Adds the option that names a file with the password. Without it, the password comes from the environment: not from
/// the command line, which everybody on the machine can read.
void declarePassword(CommandLine &, std::string &file);

/// prints lines of a page
void putLines(Output &, const Manager::Lines &);

/// the value of a line, or an empty text
std::string valueOf(const Manager::Lines &, const std::string &name);

} // namespace ClusterFs::Cli

#endif

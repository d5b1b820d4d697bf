// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs(8): the administrator's tool. */

#include "Commands.h"
#include "Image.h"

#include "fs/cluster/base/Version.h"

#include <cstdio>
#include <exception>

using namespace ClusterFs;
using namespace ClusterFs::Cli;

static int
usageError(const std::string &text)
{
    complain(text);
    return exitCannot;
}

static int
help(const std::vector<std::string> &words)
{
    if (words.size() > 1)
        return usageError("help is for one subcommand at a time");
    if (words.empty()) {
        fputs(overview().c_str(), stdout);
        return exitFine;
    }
    const auto *command = findCommand(words[0]);
    if (!command)
        return usageError("there is no subcommand '" + words[0] + "'; clusterfs help lists them");
    return command->run({"--help"});
}

static int
run(std::vector<std::string> words)
{
    if (words.empty()) {
        fputs(overview().c_str(), stderr);
        return exitCannot;
    }
    const auto name = words[0];
    words.erase(words.begin());
    if (name == "--version" || name == "version") {
        printf("clusterfs %s, device format %u\n", projectVersion, formatVersion);
        return exitFine;
    }
    if (name == "help" || name == "--help" || name == "-h")
        return help(words);
    const auto *command = findCommand(name);
    if (!command)
        return usageError("there is no subcommand '" + name + "'; clusterfs help lists them");
    try {
        return command->run(words);
    } catch (const BadRequest &e) {
        return usageError(name + ": " + e.what() + " (clusterfs help " + name + ")");
    }
}

int
main(int argc, char **argv)
{
    int result = exitCannot;
    try {
        result = run(Tools::wordsOf(argc, argv));
    } catch (const std::exception &e) {
        complain(std::string("gave up: ") + e.what());
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("the output could not be written");
        return result == exitFine ? exitProblems : result;
    }
    return result;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* diskmodel: a block device that takes as long as a disk would. */

#include "tools/diskmodel/Commands.h"

#include <cstdio>
#include <exception>
#include <stdexcept>

using namespace DiskModel;

static int
run(const std::string &command, const std::vector<std::string> &words)
{
    if (command == "serve")
        return runServe(words);
    if (command == "replay")
        return runReplay(words);
    if (command == "predict")
        return runPredict(words);
    if (command == "help" || command == "--help" || command == "-h") {
        fputs(helpText().c_str(), stdout);
        return 0;
    }
    throw std::runtime_error("'" + command + "' is not a command: serve, replay, predict or --help");
}

int
main(int argc, char **argv)
{
    std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    if (words.empty()) {
        fputs(helpText().c_str(), stderr);
        return 2;
    }
    const auto command = words.front();
    words.erase(words.begin());
    try {
        const int result = run(command, words);
        return fflush(stdout) == 0 ? result : 1;
    } catch (const std::exception &error) {
        fprintf(stderr, "diskmodel: %s\n", error.what());
        return 2;
    }
}

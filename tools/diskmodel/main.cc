// SPDX-License-Identifier: GPL-2.0-or-later
/* diskmodel: a block device that takes as long as a disk would. */

#include "tools/base/CommandLine.h"
#include "tools/diskmodel/Commands.h"
#include "tools/diskmodel/model/Parameters.h"

#include <cstdio>
#include <exception>

using namespace DiskModel;

static int
help()
{
    printf("diskmodel: a block device that takes as long as a disk would\n\n");
    for (const auto command: {runServe, runReplay, runPredict}) {
        command({"--help"});
        printf("\n");
    }
    printf("Parameters, with the values of hdd and ssd:\n%s", Parameters::Help().c_str());
    return 0;
}

static int
run(std::vector<std::string> words)
{
    const std::string command = words.empty() ? "" : words.front();
    if (!words.empty())
        words.erase(words.begin());
    if (command == "serve")
        return runServe(words);
    if (command == "replay")
        return runReplay(words);
    if (command == "predict")
        return runPredict(words);
    if (command == "help" || command == "--help" || command == "-h")
        return help();
    throw Tools::BadRequest("'" + command + "' is not a command: serve, replay, predict or --help");
}

int
main(int argc, char **argv)
{
    try {
        const int result = run(Tools::wordsOf(argc, argv));
        return fflush(stdout) == 0 ? result : 1;
    } catch (const std::exception &error) {
        fprintf(stderr, "diskmodel: %s\n", error.what());
        return 2;
    }
}

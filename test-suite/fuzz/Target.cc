// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs-fuzz: libFuzzer's program for all targets. */

#include "test-suite/fuzz/Target.h"

#include <cstring>
#include <fstream>
#include <iostream>

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

namespace Fuzz {
namespace {

const Target *chosen = nullptr;

/// \returns what follows a name on the command line, or nil
const char *
optionValue(const char *const argument, const char *const name)
{
    return strncmp(argument, name, strlen(name)) == 0 ? argument + strlen(name) : nullptr;
}

[[noreturn]] void
list()
{
    for (const auto *target: Target::All())
        std::cout << target->name << "\n";
    exit(0);
}

[[noreturn]] void
writeSeeds(const std::string &folder)
{
    unsigned number = 0;
    for (const auto &seed: chosen->seeds()) {
        const auto path = folder + "/seed-" + std::to_string(1000 + number++).substr(1);
        std::ofstream file(path, std::ios::binary);
        file << seed << std::flush;
        if (!file) {
            std::cerr << "cannot write " << path << "\n";
            exit(1);
        }
    }
    exit(0);
}

} // namespace
} // namespace Fuzz

std::vector<const Fuzz::Target *> &
Fuzz::Target::All()
{
    static std::vector<const Target *> all;
    return all;
}

/// libFuzzer leaves options with two dashes to us
int
LLVMFuzzerInitialize(int *const argc, char ***const argv)
{
    using namespace Fuzz;
    const char *seedFolder = nullptr;
    for (int i = 1; i < *argc; ++i) {
        const auto argument = (*argv)[i];
        if (strcmp(argument, "--list") == 0)
            list();
        if (const auto folder = optionValue(argument, "--write-seeds="))
            seedFolder = folder;
        const auto name = optionValue(argument, "--target=");
        for (const auto *target: Target::All()) {
            if (name && strcmp(name, target->name) == 0)
                chosen = target;
        }
    }
    if (!chosen) {
        std::cerr << "usage: clusterfs-fuzz --target=NAME [--write-seeds=FOLDER | options of libFuzzer, folders, files]\n"
                  "       clusterfs-fuzz --list\n";
        exit(2);
    }
    if (seedFolder)
        writeSeeds(seedFolder);
    return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *const bytes, const size_t size)
{
    Fuzz::chosen->run(Fuzz::Input(reinterpret_cast<const char *>(bytes), size));
    return 0;
}

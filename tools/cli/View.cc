// SPDX-License-Identifier: GPL-2.0-or-later
/* Starting Python. */

#include "View.h"
#include "Image.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace ClusterFs::Cli {
namespace {

/// \returns the folder of the Python files, or an empty path: share is beside sbin, or beside the program where that was built
std::filesystem::path
viewFolder()
{
    std::error_code error;
    const auto at = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    for (const auto &prefix: {at.parent_path(), at}) {
        const auto folder = prefix / "share" / "clusterfs" / "view";
        if (std::filesystem::exists(folder / "__main__.py", error))
            return folder;
    }
    return {};
}

/// makes a text the standard input, by a file without a name
bool
becomesInput(const std::string &text)
{
    auto *const file = tmpfile();
    return file && fwrite(text.data(), 1, text.size(), file) == text.size() && fflush(file) == 0 && fseek(file, 0, SEEK_SET) == 0 &&
           dup2(fileno(file), STDIN_FILENO) >= 0;
}

} // namespace

int
runView(const std::string &command, const Words &words, const std::string &input)
{
    const auto folder = viewFolder().string();
    if (folder.empty()) {
        complain(command + ": its Python files are missing: share/clusterfs/view beside the folder of this program; install clusterfs again");
        return exitCannot;
    }
    if (!input.empty() && !becomesInput(input)) {
        complain(command + ": cannot hand over the figures: " + strerror(errno));
        return exitCannot;
    }
    // -I: nothing of the user's own Python comes in; -B: Python writes nothing into the folder
    Words all = {"python3", "-I", "-B", folder, command};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char *> pointers;
    for (auto &word: all)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execvp(pointers[0], pointers.data());
    complain(command + ": python3 cannot be started: " + strerror(errno) + "; install it (Debian package python3)");
    return exitCannot;
}

} // namespace ClusterFs::Cli

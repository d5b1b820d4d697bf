// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening for the subcommands, and names of flags. */

#include "Objects.h"

namespace ClusterFs::Cli {

std::unique_ptr<Image>
openOurs(const std::string &path, const bool writable)
{
    std::string error;
    auto image = Image::Open(path, writable, complaints(path), error);
    if (!image) {
        complain(error);
        return nullptr;
    }
    if (!image->ours()) {
        complain(path + ": not a clusterfs device: no superblock in either place; clusterfs format makes one");
        return nullptr;
    }
    const auto exposure = exposureOf(path);
    if (!exposure.empty())
        complain("warning: " + path + ": " + exposure);
    return image;
}

bool
openIndex(const std::string &path, const bool writable, OpenedIndex &opened)
{
    opened.image = openOurs(path, writable);
    if (!opened.image)
        return false;
    std::string error;
    if (opened.image->choose(opened.superblock, error) == Status::ok) {
        opened.view = std::make_unique<IndexView>(*opened.image, opened.superblock, complaints(path));
        if (opened.view->load(error))
            return true;
    }
    complain(path + ": " + error);
    return false;
}

std::vector<std::string>
flagNames(const uint8_t flags)
{
    static const struct {
        uint8_t flag;
        const char *name;
    } table[] = {
        {flagRevalidateAlways, "revalidate-always"},
        {flagRevalidateStale, "revalidate-stale"},
        {flagNegative, "negative"},
        {flagBadLength, "bad-length"},
        {flagDoubtful, "doubtful"},
        {flagParted, "parted"},
    };
    std::vector<std::string> names;
    for (const auto &line: table) {
        if (flags & line.flag)
            names.push_back(line.name);
    }
    return names;
}

void
putFlags(Output &out, const uint8_t flags)
{
    std::string text;
    for (const auto &name: flagNames(flags))
        text += (text.empty() ? "" : ",") + name;
    if (text.empty())
        out.putNothing("flags");
    else
        out.put("flags", text);
}

} // namespace ClusterFs::Cli

// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening for the subcommands. */

#include "Objects.h"

#include <cstdio>

using namespace Tools;

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

void
printObject(const ObjectLine &object, Json * const asJson)
{
    if (!asJson) {
        puts(object.text().c_str());
        return;
    }
    auto &json = *asJson;
    const auto &info = object.info;
    const auto placed = object.cluster != noCluster;
    json["key"] = object.key.empty() ? Json() : Json(object.key);
    json["url"] = object.url ? Json(bytesText(unprintable(*object.url))) : Json();
    json["size"] = info.size;
    json["timestamp"] = info.timestamp;
    json["expires"] = info.expires;
    json["last_modified"] = info.lastModified;
    json["flags"] = flagNames(info.flags);
    json["cluster"] = placed ? Json(object.cluster.value()) : Json();
    json["offset"] = placed ? Json(object.offset) : Json();
    json["state"] = object.state.empty() ? Json() : Json(object.state);
    puts(jsonText(json).c_str());
}

void
putFlags(Output &out, const uint8_t flags)
{
    if (flagNames(flags).empty())
        out.putNothing("flags");
    else
        out.put("flags", flagText(flags));
}

} // namespace ClusterFs::Cli

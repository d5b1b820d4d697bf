// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding the URL in Squid's swap metadata, and writing texts. */

#include "fs/cluster/squid/ObjectText.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace {

const struct {
    uint8_t flag;
    const char *name;
} Flags[] = {
    {ClusterFs::flagRevalidateAlways, "revalidate-always"},
    {ClusterFs::flagRevalidateStale, "revalidate-stale"},
    {ClusterFs::flagNegative, "negative"},
    {ClusterFs::flagBadLength, "bad-length"},
    {ClusterFs::flagDoubtful, "doubtful"},
    {ClusterFs::flagParted, "parted"},
};

} // namespace

bool
ClusterFs::findStoredUrl(const char * const object, const size_t size, std::string &url)
{
    int32_t total = 0;
    size_t at = sizeof(swapMetaMagic) + sizeof(total);
    if (size < at || object[0] != swapMetaMagic)
        return false;
    memcpy(&total, object + sizeof(swapMetaMagic), sizeof(total));
    if (total < 0 || static_cast<size_t>(total) > size)
        return false;

    const auto end = static_cast<size_t>(total);
    int32_t length = 0;
    while (at < end && end - at >= 1 + sizeof(length)) {
        const auto type = object[at];
        memcpy(&length, object + at + 1, sizeof(length));
        at += 1 + sizeof(length);
        if (length < 0 || static_cast<size_t>(length) > end - at)
            return false;
        if (type == swapMetaUrl) {
            // the value ends with a NUL
            url.assign(object + at, strnlen(object + at, static_cast<size_t>(length)));
            return true;
        }
        at += static_cast<size_t>(length);
    }
    return false;
}

std::string
ClusterFs::printable(const std::string &text)
{
    std::string result;
    for (const auto c: text) {
        if (c >= 0x20 && c < 0x7f && c != '\\') {
            result += c;
            continue;
        }
        char code[8];
        snprintf(code, sizeof(code), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        result += code;
    }
    return result;
}

std::string
ClusterFs::unprintable(const std::string &text)
{
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            result += static_cast<char>(strtoul(text.substr(i + 2, 2).c_str(), nullptr, 16));
            i += 3;
        } else {
            result += text[i];
        }
    }
    return result;
}

std::optional<ClusterFs::Key>
ClusterFs::keyIn(const std::string &hex)
{
    Key key;
    for (size_t i = 0; i < key.bytes.size() && 2 * i + 2 <= hex.size(); ++i)
        key.bytes[i] = static_cast<uint8_t>(strtoul(hex.substr(2 * i, 2).c_str(), nullptr, 16));
    return key.hex() == hex ? std::optional<Key>(key) : std::nullopt;
}

std::vector<std::string>
ClusterFs::flagNames(const uint8_t flags)
{
    std::vector<std::string> names;
    for (const auto &line: Flags) {
        if (flags & line.flag)
            names.push_back(line.name);
    }
    return names;
}

std::string
ClusterFs::flagText(const uint8_t flags)
{
    std::string text;
    for (const auto &name: flagNames(flags))
        text += (text.empty() ? "" : ",") + name;
    return text.empty() ? "-" : text;
}

uint8_t
ClusterFs::flagsIn(const std::string &text)
{
    uint8_t flags = 0;
    std::istringstream is(text);
    for (std::string name; std::getline(is, name, ','); ) {
        for (const auto &line: Flags)
            flags |= name == line.name ? line.flag : 0;
    }
    return flags;
}

std::string
ClusterFs::ObjectLine::text() const
{
    const auto known = [](const std::string &value) { return value.empty() ? "-" : value; };
    const auto placed = cluster != noCluster;
    return known(key) + "\t" + url.value_or("-") + "\t" + std::to_string(info.size) + "\t" + std::to_string(info.timestamp) + "\t" +
           std::to_string(info.expires) + "\t" + std::to_string(info.lastModified) + "\t" + flagText(info.flags) + "\t" +
           (placed ? std::to_string(cluster.value()) : "-") + "\t" + (placed ? std::to_string(offset) : "-") + "\t" + known(state);
}

bool
ClusterFs::ObjectLine::parse(const std::string &text)
{
    std::vector<std::string> fields;
    std::istringstream is(text);
    for (std::string field; std::getline(is, field, '\t'); )
        fields.push_back(field);
    if (fields.size() != 10)
        return false;
    url.reset();
    if (fields[1] != "-")
        url = fields[1];
    for (auto &field: fields)
        field = field == "-" ? "" : field;
    key = fields[0];
    info.size = strtoull(fields[2].c_str(), nullptr, 10);
    info.timestamp = strtoll(fields[3].c_str(), nullptr, 10);
    info.expires = strtoll(fields[4].c_str(), nullptr, 10);
    info.lastModified = strtoll(fields[5].c_str(), nullptr, 10);
    info.flags = flagsIn(fields[6]);
    cluster = fields[7].empty() ? noCluster : ClusterNo(static_cast<uint32_t>(strtoul(fields[7].c_str(), nullptr, 10)));
    offset = static_cast<uint32_t>(strtoul(fields[8].c_str(), nullptr, 10));
    state = fields[9];
    return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fronts of clusters (header, directory, part references), and extents. */

#include "test-suite/fuzz/Target.h"
#include "test-suite/unit/support/LayoutSupport.h"

#include "fs/cluster/layout/Cluster.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace Fuzz {
namespace {

constexpr ClusterNo number{7};
constexpr uint32_t clusterBytes = 65536;

void
checkDirectory(const Directory &d, const size_t size)
{
    const auto &h = d.header;
    require(d.entries.size() == h.entries && d.parts.size() == h.parts, "as many as the header says");
    require(h.directoryBytes() <= size && h.directoryBytes() <= h.end && h.end <= clusterBytes, "the directory lies within the cluster");
    uint64_t references = 0;
    for (const auto &e: d.entries) {
        require(e.offset >= h.directoryBytes() && e.offset % extentAlignment == 0, "extents lie behind the directory");
        require(uint64_t(e.offset) + ExtentHeader::encodedBytes + e.size <= h.end, "extents lie within what was written");
        require(e.parts ? e.info.size >= e.size : e.info.size == e.size, "an object is its extent, and its parts");
        references += e.parts;
    }
    require(references == d.parts.size(), "each part reference has its object");
}

void
checkEncoding(const std::vector<char> &bytes, Directory &d)
{
    std::vector<char> again(d.header.directoryBytes());
    d.encode(again.data(), again.size());
    require(agree(bytes, again, 0, 9) && agree(bytes, again, 12, 84), "encoding gives the same header");
    auto at = ClusterHeader::encodedBytes;
    for (size_t i = 0; i < d.entries.size(); ++i, at += DirectoryEntry::encodedBytes)
        require(agree(bytes, again, at, at + 57) && agree(bytes, again, at + 58, at + DirectoryEntry::encodedBytes), "encoding gives the same entries");
    require(agree(bytes, again, at, again.size()), "encoding gives the same part references");
    Directory same;
    require(same.decode(again.data(), again.size(), number, uuidOf(1), clusterBytes) == Status::ok, "what was encoded is accepted");
}

/// first byte: 1 = with the right checksum
void
runFront(Input in)
{
    const bool repair = in.u8() & 1;
    auto bytes = takeRest(in);
    if (repair)
        repairFront(bytes.data(), bytes.size());
    Directory d;
    if (d.decode(bytes.data(), bytes.size(), number, uuidOf(1), clusterBytes) != Status::ok)
        return;
    checkDirectory(d, bytes.size());
    checkEncoding(bytes, d);
    ClusterHeader peeked;
    require(Directory::Peek(bytes.data(), bytes.size(), peeked) && peeked.directoryBytes() == d.header.directoryBytes(),
            "the header alone says the same");
}

/// first byte: 1 = with the right checksum, 2 = of the size that is wanted, 4 = of the key and sequence number that are wanted
void
runExtent(Input in)
{
    const auto choice = in.u8();
    ExtentHeader wanted;
    wanted.size = in.u32();
    wanted.sequence = Sequence(in.u64());
    wanted.key = in.key();
    constexpr uint32_t offset = 4096;
    auto bytes = takeRest(in);
    ExtentHeader own;
    ByteReader header(bytes.data(), bytes.size());
    header.skip(4);
    own.size = header.u32();
    header.id(own.sequence);
    own.key = header.key();
    const bool whole = header.good() && own.size <= header.left();
    if ((choice & 1) && whole)
        sealExtent(bytes.data(), own, uuidOf(1), number, offset);
    if (choice & 2)
        wanted.size = own.size;
    if (choice & 4) {
        wanted.sequence = own.sequence;
        wanted.key = own.key;
    }
    const auto status = checkExtent(bytes.data(), bytes.size(), wanted, uuidOf(1), number, offset);
    if ((choice & 7) == 7)
        require((status == Status::ok) == whole, "a sealed extent is accepted, one that is cut off is not");
    if (status != Status::ok)
        return;
    require(wanted.size + ExtentHeader::encodedBytes <= bytes.size(), "an extent lies within what was read");
    require(own.size == wanted.size && own.sequence == wanted.sequence && own.key == wanted.key, "it is the one that was wanted");
    require(keyOfExtent(bytes.data()) == wanted.key, "its key is found");
    require(checkExtent(bytes.data(), bytes.size(), wanted, uuidOf(1), number + 1, offset) != Status::ok, "it belongs to one place");
}

std::vector<std::string>
frontSeeds()
{
    std::vector<std::string> all;
    for (const uint32_t objects: {0U, 1U, 5U}) {
        Directory d;
        d.header.kind = objects ? ClusterKind::packed : ClusterKind::part;
        d.header.number = number;
        d.header.uuid = uuidOf(1);
        d.header.sequence = Sequence(40);
        d.header.end = 60000;
        for (uint32_t i = 0; i < objects; ++i) {
            DirectoryEntry e;
            e.key = keyOf(i);
            e.offset = 4096 + 1024 * i;
            e.size = 900;
            e.info = infoOf(1700000000);
            e.info.size = 900;
            e.parts = i == 2 ? 2 : 0;
            d.entries.push_back(e);
        }
        if (objects > 2)
            d.parts = {{ClusterNo(8), 61440, Sequence(38)}, {ClusterNo(9), 1000, Sequence(39)}};
        std::string bytes(Directory::BytesFor(d.entries.size(), d.parts.size()), '\0');
        d.encode(&bytes[0], bytes.size());
        all.push_back('\0' + bytes);
        all.push_back('\1' + bytes);
    }
    return all;
}

std::vector<std::string>
extentSeeds()
{
    std::vector<std::string> all;
    for (const uint32_t size: {0U, 1U, 100U}) {
        ExtentHeader h;
        h.size = size;
        h.sequence = Sequence(40);
        h.key = keyOf(1);
        auto bytes = std::string(ExtentHeader::encodedBytes, '\0') + bytesOf(1, size);
        sealExtent(&bytes[0], h, uuidOf(1), number, 4096);
        const auto wanted = bytes.substr(4, ExtentHeader::encodedBytes - 4);
        all.push_back('\0' + wanted + bytes);
        all.push_back('\7' + wanted + bytes);
    }
    return all;
}

const Target front("cluster", runFront, frontSeeds);
const Target extent("extent", runExtent, extentSeeds);

} // namespace
} // namespace Fuzz

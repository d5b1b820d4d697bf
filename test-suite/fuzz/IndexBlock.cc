// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks of the index log. First byte: 1 = with the right checksum. */

#include "test-suite/fuzz/Target.h"
#include "test-suite/unit/support/LayoutSupport.h"

#include "fs/cluster/layout/IndexBlock.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace Fuzz {
namespace {

constexpr size_t headerBytes = IndexBlock::headerBytes;
constexpr size_t keysAt = 49; ///< any number but 1 means no
constexpr size_t usedAt = 68;

/// of all records
size_t
recordBytes(const IndexBlock &block)
{
    size_t bytes = block.uses.size() * IndexUse::encodedBytes;
    for (const auto &removal: block.removals)
        bytes += removal.encodedBytes();
    for (const auto &section: block.sections)
        bytes += IndexSection::encodedBytes + section.objects.size() * (IndexObject::encodedBytes + (block.keys ? 16 : 0));
    return bytes;
}

void
run(Input in)
{
    const bool repair = in.u8() & 1;
    auto bytes = take(in, indexBlockBytes);
    if (repair)
        repairIndexBlock(bytes.data());
    IndexBlock block;
    if (block.decode(bytes.data(), uuidOf(1)) != Status::ok)
        return;
    const auto used = ByteReader(bytes.data() + usedAt, 4).u32();
    require(used <= IndexBlock::capacity() && recordBytes(block) == used, "records fill what the header says");
    std::vector<char> again(indexBlockBytes);
    block.encode(again.data(), uuidOf(1));
    require(agree(bytes, again, 0, keysAt) && agree(bytes, again, 52, 72), "encoding gives the same header");
    require(again[keysAt] == (bytes[keysAt] == 1), "keys is 1");
    // encoding puts removals in front of the rest
    if (block.sections.empty() && block.uses.empty())
        require(agree(bytes, again, headerBytes, headerBytes + used), "encoding gives the same removals");
    IndexBlock same;
    require(same.decode(again.data(), uuidOf(1)) == Status::ok, "what was encoded is accepted");
    require(same.removals.size() == block.removals.size() && same.sections.size() == block.sections.size() &&
            same.uses.size() == block.uses.size(), "no record is lost");
    std::vector<char> third(indexBlockBytes);
    same.encode(third.data(), uuidOf(1));
    require(again == third, "no record is changed");
}

enum Content : uint8_t { removals, sections, uses, all };

std::string
seed(const Content content, const bool keys)
{
    IndexBlock block;
    block.position = {2, 17};
    block.serial = 9;
    block.previous = 8;
    block.part = content == removals ? IndexBlock::Part::removalsAgain : IndexBlock::Part::contents;
    block.keys = keys;
    block.removalBlocks = 1;
    block.turn = 3;
    block.turnCursor = ClusterNo(5);
    for (uint32_t i = 0; i < 6 && (content == removals || content == Content::all); ++i) {
        IndexRemoval r;
        r.kind = static_cast<IndexRemoval::Kind>(1 + i % 3);
        r.cluster = ClusterNo(i);
        r.after = Sequence(100 + i);
        r.offset = 96 + 8 * i;
        block.removals.push_back(r);
    }
    for (uint32_t i = 0; i < 4 && (content == sections || content == Content::all); ++i) {
        IndexSection s;
        s.cluster = ClusterNo(i);
        s.state = static_cast<uint8_t>(4 + i);
        s.whole = i % 2;
        s.sequence = Sequence(10 + i);
        s.end = 65536;
        s.total = i == 1 ? 70000 : 0;
        for (uint32_t n = 0; n < 3 * i; ++n) {
            IndexObject o;
            o.hashed = {i, 77 * n};
            o.place = n;
            o.size = 100;
            o.timestamp = 1600000000;
            o.packed = n;
            o.key = keyOf(n);
            s.objects.push_back(o);
        }
        block.sections.push_back(s);
    }
    for (uint32_t i = 0; i < 5 && (content == uses || content == Content::all); ++i)
        block.uses.push_back({ClusterNo(i), 77 * i});
    std::string bytes(indexBlockBytes, '\0');
    block.encode(&bytes[0], uuidOf(1));
    return bytes;
}

std::vector<std::string>
seeds()
{
    std::vector<std::string> every;
    for (const bool keys: {false, true}) {
        for (const auto content: {removals, sections, uses, Content::all}) {
            for (const uint8_t repair: {0, 1})
                every.push_back(seedOf(repair, seed(content, keys)));
        }
        auto many = seed(sections, keys); // objects beyond the end of the records
        many[headerBytes + 44] = '\xff';
        every.push_back(seedOf(1, many));
    }
    return every;
}

const Target target("index-block", run, seeds);

} // namespace
} // namespace Fuzz

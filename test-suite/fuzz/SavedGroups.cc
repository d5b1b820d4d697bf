// SPDX-License-Identifier: GPL-2.0-or-later
/* Chunks of what is known of groups. First byte: 1 = with the right checksum. */

#include "test-suite/fuzz/Target.h"
#include "test-suite/unit/support/LayoutSupport.h"

#include "fs/cluster/layout/SavedGroups.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace Fuzz {
namespace {

constexpr size_t headerBytes = 64;

/// the fields of the header and of the records
void
checkFields(const std::vector<char> &bytes, const std::vector<char> &again, const SavedGroups::Chunk &chunk)
{
    require(agree(bytes, again, 0, 40), "encoding gives the same header");
    auto at = headerBytes;
    for (const auto &g: chunk.groups) {
        constexpr size_t flagOfSheet = 33; // any number but 1 means no
        require(agree(bytes, again, at, at + flagOfSheet), "encoding gives the same groups");
        require(again[at + flagOfSheet] == (bytes[at + flagOfSheet] == 1), "sheet is 1");
        require(agree(bytes, again, at + flagOfSheet + 1, at + g.bytes()), "encoding gives the same members");
        at += g.bytes();
    }
    require(at <= groupsChunkBytes, "records lie within the chunk");
}

void
run(Input in)
{
    const bool repair = in.u8() & 1;
    auto bytes = take(in, groupsChunkBytes);
    if (repair)
        repairGroups(bytes.data());
    SavedGroups::Chunk chunk;
    if (SavedGroups::Decode(bytes.data(), chunk, uuidOf(1)) != Status::ok)
        return;
    std::vector<char> again(groupsChunkBytes);
    SavedGroups::Encode(again.data(), chunk, uuidOf(1));
    checkFields(bytes, again, chunk);
    SavedGroups::Chunk same;
    require(SavedGroups::Decode(again.data(), same, uuidOf(1)) == Status::ok, "what was encoded is accepted");
    require(same.groups.size() == chunk.groups.size(), "no group is lost");
}

std::string
seed(const uint32_t count)
{
    SavedGroups::Chunk chunk;
    chunk.generation = 3;
    chunk.index = 1;
    for (uint32_t i = 0; i < count; ++i) {
        SavedGroups::GroupRecord r;
        r.name = i;
        r.site = 7 * i;
        r.leader = keyOf(i);
        r.kind = static_cast<uint8_t>(i % 4);
        r.sheet = i % 2;
        for (uint8_t m = 0; m < i; ++m)
            r.members.push_back({keyOf(100 + m), m, 2, true, false, true, m % 2 == 1});
        chunk.groups.push_back(r);
    }
    std::string bytes(groupsChunkBytes, '\0');
    SavedGroups::Encode(&bytes[0], chunk, uuidOf(1));
    return bytes;
}

std::vector<std::string>
seeds()
{
    std::vector<std::string> all;
    for (const uint32_t count: {0U, 1U, 9U}) {
        const auto bytes = seed(count);
        all.push_back(seedOf(0, bytes));
        all.push_back(seedOf(1, bytes));
    }
    auto many = seed(9);
    many[39] = '\x7f'; // groups beyond the end of the chunk
    all.push_back(seedOf(1, many));
    return all;
}

const Target target("saved-groups", run, seeds);

} // namespace
} // namespace Fuzz

// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks of the journal. First byte: 1 = with the right checksum. */

#include "test-suite/fuzz/Target.h"
#include "test-suite/unit/support/LayoutSupport.h"

#include "fs/cluster/layout/JournalBlock.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace Fuzz {
namespace {

constexpr size_t headerBytes = 48;

void
run(Input in)
{
    const bool repair = in.u8() & 1;
    auto bytes = take(in, journalBlockBytes);
    if (repair)
        repairJournalBlock(bytes.data());
    JournalBlock block;
    if (block.decode(bytes.data(), uuidOf(1)) != Status::ok)
        return;
    size_t used = 0;
    for (const auto &record: block.records)
        used += record.encodedBytes();
    require(used <= JournalBlock::Capacity(), "records lie within the block");
    std::vector<char> again(journalBlockBytes);
    block.encode(again.data(), uuidOf(1));
    require(agree(bytes, again, 0, headerBytes - 4), "encoding gives the same header");
    require(agree(bytes, again, headerBytes, headerBytes + used), "encoding gives the same records");
    JournalBlock same;
    require(same.decode(again.data(), uuidOf(1)) == Status::ok, "what was encoded is accepted");
    require(same.records.size() == block.records.size(), "no record is lost");
}

std::string
seed(const unsigned count)
{
    JournalBlock block;
    block.checkpoint = 4;
    block.index = 1;
    block.run = 2;
    size_t used = 0;
    for (unsigned i = 0; i < count; ++i) {
        JournalRecord record;
        record.kind = static_cast<JournalRecord::Kind>(1 + i % 3);
        record.key = keyOf(i);
        record.sequence = Sequence(100 + i);
        record.cluster = ClusterNo(i);
        used += record.encodedBytes();
        if (used > JournalBlock::Capacity())
            break;
        block.records.push_back(record);
    }
    std::string bytes(journalBlockBytes, '\0');
    block.encode(&bytes[0], uuidOf(1));
    return bytes;
}

std::vector<std::string>
seeds()
{
    std::vector<std::string> all;
    for (const unsigned count: {0U, 3U, 1000U}) {
        const auto bytes = seed(count);
        all.push_back(seedOf(0, bytes));
        all.push_back(seedOf(1, bytes));
    }
    auto cutOff = seed(1000);
    constexpr size_t three = 25 + 13 + 5; // bytes of a removal, an announcement and a release
    ++cutOff[36]; // count of records
    cutOff[journalBlockBytes - JournalBlock::Capacity() % three] = '\1'; // a removal, for which there is no room
    all.push_back(seedOf(1, cutOff));
    return all;
}

const Target target("journal", run, seeds);

} // namespace
} // namespace Fuzz

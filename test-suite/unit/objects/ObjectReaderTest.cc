// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading one object, on parts put together by hand: what the device holds may be anything. */

#include "test-suite/unit/support/PartsSupport.h"

#include "fs/cluster/objects/ObjectReader.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr ClusterNo home{5}; ///< of the object's front
constexpr uint32_t front = 4096; ///< where that is in its cluster
constexpr uint32_t frontBytes = 500;
constexpr uint32_t partBytes = 1000;
constexpr ClusterNo first{20}; ///< of the parts

class ObjectReaderTest : public ::testing::Test
{
protected:
    ObjectReaderTest() { p.allFree(); }

    Status fetch(ObjectReader &reader, const uint64_t offset) {
        std::vector<Status> answers;
        reader.fetch(offset, [&](const Status s) { answers.push_back(s); });
        EXPECT_TRUE(p.until([&] { return !answers.empty(); }));
        return answers.empty() ? Status::aborted : answers.front();
    }

    /// puts a part on the media, with such a header
    void write(const ClusterNo c, Directory part) {
        const auto bytes = bytesOf(c.value(), partBytes);
        auto &header = part.header;
        if (!header.payloadCrc)
            header.payloadCrc = partCrc(bytes.data(), bytes.size(), p.context.uuid, c, p.catalog.clusters()[c].sequence);
        auto *const at = device.media.data() + p.context.geometry.clusterOffset(c);
        part.encode(at, partPayloadAt);
        memcpy(at + partPayloadAt, bytes.data(), bytes.size());
    }

    /// what belongs in front of a part
    Directory rightFor(const ClusterNo c, const uint32_t number) const {
        Directory part;
        part.header.kind = ClusterKind::part;
        part.header.number = c;
        part.header.uuid = p.context.uuid;
        part.header.sequence = p.catalog.clusters()[c].sequence;
        part.header.end = partPayloadAt + partBytes;
        part.header.partNumber = number;
        part.header.key = keyOf(1);
        return part;
    }

    PartsDevice device;
    Parts p{device};
    const Tracker tracker{MB};
    const ReaderGroup readers{p.context, p.cache, tracker, p.journal};
};

} // namespace

/// each field must be what the index says, or else it is some other part
TEST_F(ObjectReaderTest, checksPartsInEveryRespect) {
    const struct {
        const char *what;
        void (*change)(ClusterHeader &);
        Status expected;
    } cases[] = {
        {"nothing", [](ClusterHeader &) {}, Status::ok},
        {"kind", [](ClusterHeader &h) { h.kind = ClusterKind::packed; }, Status::corrupt},
        {"number", [](ClusterHeader &h) { ++h.number; }, Status::corrupt},
        {"sequence", [](ClusterHeader &h) { ++h.sequence; }, Status::corrupt},
        {"end", [](ClusterHeader &h) { --h.end; }, Status::corrupt},
        {"part number", [](ClusterHeader &h) { ++h.partNumber; }, Status::corrupt},
        {"checksum", [](ClusterHeader &h) { h.payloadCrc = 12345; }, Status::corrupt},
        {"key", [](ClusterHeader &h) { h.key = keyOf(2); }, Status::notFound},
    };
    for (const auto &c: cases) {
        const auto slot = p.placed(1, home, front, frontBytes, p.chain({first}, partBytes, frontBytes + partBytes, frontBytes));
        auto part = rightFor(first, 0);
        c.change(part.header);
        write(first, part);
        const bool isCorrupt = c.expected == Status::corrupt;
        const auto corrupt = p.context.counters.corrupt;
        {
            ObjectReader reader(readers, keyOf(1), slot);
            EXPECT_EQ(fetch(reader, frontBytes), c.expected) << c.what;
            EXPECT_EQ(p.context.counters.corrupt - corrupt, isCorrupt ? 1U : 0U) << c.what;
            std::string got(partBytes, '\0');
            if (c.expected == Status::ok) {
                EXPECT_EQ(reader.copy(frontBytes, &got[0], partBytes), int64_t(partBytes));
                EXPECT_TRUE(got == bytesOf(first.value(), partBytes));
            } else {
                EXPECT_EQ(reader.copy(frontBytes, &got[0], partBytes), -1) << c.what;
            }
        }
        EXPECT_EQ(p.catalog.index().find(keyOf(1)) == noSlot, isCorrupt) << c.what;
        if (!isCorrupt)
            p.catalog.erase(slot);
        p.cache.windows.forget(first);
    }
}

/// a window is worth its memory if somebody finds it there; the one who had it read would have waited anyway
TEST_F(ObjectReaderTest, tellsWhatWasFoundInMemory) {
    const auto slot = p.placed(1, home, front, frontBytes, p.chain({first}, partBytes, frontBytes + partBytes, frontBytes));
    write(first, rightFor(first, 0));
    std::string got(partBytes, '\0');
    const ClusterRange part{first, p.catalog.clusters()[first].sequence, 0, 1};
    ObjectReader one(readers, keyOf(1), slot);
    EXPECT_EQ(fetch(one, frontBytes), Status::ok);
    EXPECT_EQ(one.copy(frontBytes, &got[0], partBytes), int64_t(partBytes));
    EXPECT_EQ(one.copy(frontBytes, &got[0], partBytes), int64_t(partBytes));
    ASSERT_TRUE(p.cache.windows.peek(part));
    EXPECT_FALSE(p.cache.windows.peek(part)->again);
    ObjectReader two(readers, keyOf(1), slot);
    EXPECT_EQ(two.copy(frontBytes, &got[0], partBytes), int64_t(partBytes));
    EXPECT_TRUE(p.cache.windows.peek(part)->again);
}

/// a group of which the media have nothing: each object that is asked for goes, the others stay
TEST_F(ObjectReaderTest, forgetsWhatIsNotThere) {
    const auto one = p.placed(1, home, front, frontBytes);
    const auto two = p.placed(2, home, 2 * front, frontBytes, noCluster, true);
    {
        ObjectReader reader(readers, keyOf(1), one);
        EXPECT_EQ(fetch(reader, 0), Status::corrupt);
        EXPECT_EQ(p.cache.use.groupReads().reads, 1U);
        EXPECT_EQ(p.catalog.index().find(keyOf(1)), noSlot);
        EXPECT_EQ(p.journal.removals(), std::vector<Key>{keyOf(1)}) << "it must not be back after a crash";
        EXPECT_EQ(p.catalog.index().find(keyOf(2)), two);
        EXPECT_EQ(fetch(reader, 0), Status::corrupt) << "for the reader, nothing has changed";
    }
    EXPECT_EQ(p.catalog.clusters()[home].errors, 2U);
    EXPECT_EQ(p.catalog.objects(), 1U);
}

/// the record that it opened is not the object's any more, and says nothing of its group
TEST_F(ObjectReaderTest, readsNoGroupOfWhatIsGone) {
    for (const bool replaced: {false, true}) {
        const auto one = p.placed(1, home, front, frontBytes);
        const auto two = p.placed(2, home, 2 * front, frontBytes, noCluster, true);
        {
            ObjectReader reader(readers, keyOf(1), one);
            EXPECT_TRUE(reader.reads(one));
            EXPECT_FALSE(reader.reads(two));
            p.catalog.erase(one);
            if (replaced)
                p.placed(1, home.value() + 1, front, frontBytes);
            EXPECT_FALSE(reader.reads(one));
            EXPECT_EQ(fetch(reader, 0), Status::corrupt);
            EXPECT_EQ(p.cache.use.groupReads().reads, 0U);
        }
        EXPECT_EQ(p.catalog.index().find(keyOf(1)) != noSlot, replaced) << "the newer one is not to blame";
        p.catalog.erase(two);
    }
}

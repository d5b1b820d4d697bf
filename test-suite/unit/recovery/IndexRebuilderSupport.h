// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tests of merging share: a start that is told what it finds. */

#ifndef SQUID_TEST_SUITE_UNIT_RECOVERY_INDEXREBUILDERSUPPORT_H
#define SQUID_TEST_SUITE_UNIT_RECOVERY_INDEXREBUILDERSUPPORT_H

#include "test-suite/unit/support/PartsSupport.h"

namespace ClusterFs {
namespace Testing {

class IndexRebuilderTest : public ::testing::Test
{
protected:
    IndexRebuilderTest() { p.catalog.beginAdding(0); }
    explicit IndexRebuilderTest(const Config &config): device(256 * MB, config) { p.catalog.beginAdding(0); }

    static bool Never() { return false; } ///< whether to go on: the shortest slices

    void announce(const Plain<ClusterNo> c, const Plain<Sequence> after) {
        JournalRecord r;
        r.kind = JournalRecord::Kind::announce;
        r.cluster = c;
        r.sequence = after;
        f.journal(r);
    }
    void release(const Plain<ClusterNo> c) {
        JournalRecord r;
        r.kind = JournalRecord::Kind::release;
        r.cluster = c;
        f.journal(r);
    }
    void removal(const uint64_t n, const Plain<Sequence> upTo) {
        JournalRecord r;
        r.key = keyOf(n);
        r.sequence = upTo;
        f.journal(r);
    }
    /// what the log says of a cluster, without its objects
    void table(const Plain<ClusterNo> c, const ClusterState state, const Plain<Sequence> s, const uint32_t end = 65536) {
        if (state == ClusterState::announced) {
            IndexRemoval r;
            r.kind = IndexRemoval::Kind::announced;
            r.cluster = c;
            r.after = s;
            f.announced(r);
            return;
        }
        IndexSection r;
        r.cluster = c;
        r.state = static_cast<uint8_t>(state);
        r.sequence = s;
        r.end = end;
        sections_.emplace(c, r);
        f.section(r, false, serial);
    }
    void tablePart(const Plain<ClusterNo> c, const uint32_t bytes, const Plain<ClusterNo> next, const uint64_t total = 0, const uint32_t head = 0) {
        IndexSection r;
        r.cluster = c;
        r.state = static_cast<uint8_t>(ClusterState::part);
        r.end = partPayloadAt + bytes;
        r.nextPart = next;
        r.total = total;
        r.headBytes = head;
        f.section(r, false, serial);
    }
    struct LoggedObject {
        ClusterNo cluster;
        IndexObject object;
    };
    LoggedObject objectRecord(const uint64_t n, const Plain<ClusterNo> c, const uint32_t size = 100, const uint32_t offset = 0) const {
        LoggedObject r;
        r.cluster = c;
        r.object.hashed = p.catalog.index().hashOf(keyOf(n));
        r.object.place = (offset ? offset : 1024 + 1024 * static_cast<uint32_t>(n % 32)) / extentAlignment;
        r.object.size = size;
        return r;
    }
    /// what the log says of an object in a cluster that it knows
    void add(const LoggedObject &r) {
        auto &section = sections_[r.cluster];
        section.cluster = r.cluster;
        section.objects = {r.object};
        f.section(section, false, serial);
    }
    void object(const uint64_t n, const Plain<ClusterNo> c, const uint32_t size = 100) { add(objectRecord(n, c, size)); }

    /// a cluster on the device with one object in it
    void found(const uint64_t n, const Plain<ClusterNo> c, const Plain<Sequence> s, const bool doubtful = false, const uint32_t size = 200,
               const std::vector<PartReference> &parts = {}) {
        Directory d;
        d.header.number = c;
        d.header.sequence = s;
        d.header.end = 60000;
        DirectoryEntry e;
        e.key = keyOf(n);
        e.offset = 2048;
        e.size = size;
        e.info.size = size;
        e.parts = static_cast<uint32_t>(parts.size());
        for (const auto &part: parts)
            e.info.size += part.bytes;
        d.entries.push_back(e);
        d.parts = parts;
        take(c, d, doubtful);
    }
    /// in the shortest slices. \returns how many
    unsigned take(const Plain<ClusterNo> c, const Directory &d, const bool doubtful = false) {
        unsigned slices = 1;
        while (!f.directory(c, d, doubtful, Never))
            ++slices;
        return slices;
    }
    void foundPart(const Plain<ClusterNo> c, const Plain<Sequence> s, const uint32_t bytes) {
        Directory d;
        d.header.kind = ClusterKind::part;
        d.header.number = c;
        d.header.sequence = s;
        d.header.end = partPayloadAt + bytes;
        f.directory(c, d, false);
    }
    /// \returns the cluster that is to be checked next, or noCluster
    ClusterNo contested() {
        for (unsigned slices = 0; f.mayBeContested() && slices < 1000; ++slices) {
            if (f.contested(asked_, Never))
                return asked_.cluster;
        }
        return noCluster;
    }
    /// what was asked for last can't be read
    void unreadable() { read(nullptr); }
    /// \param bytes of what was asked for last
    /// \returns the slices in which they were taken
    unsigned read(const char *const bytes) {
        unsigned slices = 1;
        while (!f.check(asked_, bytes, Never))
            ++slices;
        return slices;
    }

    void finish() {
        while (!f.endLog(Never))
            ;
        while (!f.finish(Never))
            ;
        const auto &t = p.catalog.clusters();
        EXPECT_EQ(t.inState(ClusterState::unknown), 0U);
        EXPECT_EQ(t.inState(ClusterState::free), p.catalog.free().size());
    }
    /// the cluster where an object is, or noCluster
    ClusterNo where(const uint64_t n) const {
        const auto slot = p.catalog.index().find(keyOf(n));
        return slot == noSlot ? noCluster : p.catalog.index()[slot].cluster;
    }

    PartsDevice device;
    Parts p{device};
    RecoveryStats stats;
    IndexRebuilder f{p.context, stats};
    IndexRebuilder::Contested asked_;
    uint64_t serial = 1; ///< of the checkpoint that says something
    std::map<ClusterNo, IndexSection> sections_; ///< that were told
    const uint32_t full = 65536 - partPayloadAt; ///< payload of a full part
};

} // namespace Testing
} // namespace ClusterFs

#endif

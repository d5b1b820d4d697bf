// SPDX-License-Identifier: GPL-2.0-or-later
/* A recovery that only looks. */

#include "IndexView.h"

#include "fs/cluster/base/Bytes.h"

#include <algorithm>
#include <unordered_map>

namespace ClusterFs::Cli {

/// turns in a row in which nothing was in flight and recovery did not end
constexpr unsigned maxIdleTurns = 1000000;

Config
IndexView::ConfigFor(const Superblock &superblock)
{
    Config config;
    config.clusterKb = superblock.geometry.clusterBytes / 1024;
    config.stagingMb = 2; // never used
    return config;
}

IndexView::IndexView(Image &image, const Superblock &superblock, const Log &log):
    image_(image),
    context_(image.device(), image.clock(), ConfigFor(superblock), log, superblock),
    journal_(context_),
    recovery_(context_, journal_, superblock)
{
}

bool
IndexView::load(std::string &error)
{
    auto &device = image_.device();
    recovery_.start();
    for (unsigned idle = 0; !recovery_.done(); ) {
        device.poll();
        recovery_.poll();
        if (!device.idle()) {
            device.wait(10);
            idle = 0;
        } else if (++idle > maxIdleTurns) {
            error = "reading the index does not come to an end";
            return false;
        }
    }
    return true;
}

bool
IndexView::holdsObjects(const ClusterNo n) const
{
    const auto &c = catalog().clusters()[n];
    return c.state == ClusterState::packed && c.live > 0;
}

/// whether a key can be the one of an index record
bool
IndexView::suits(const Key &key, const SlotNo slot) const
{
    const auto &index = catalog().index();
    return index.hashedOf(slot) == index.hashOf(key);
}

/// lists what the index has in a cluster
void
IndexView::collect(FoundCluster &found) const
{
    const auto &index = catalog().index();
    for (auto slot = catalog().clusters()[found.number].first; slot != noSlot; slot = index[slot].sibling) {
        const auto &record = index[slot];
        if (record.dead())
            continue;
        FoundObject object;
        object.info = catalog().info(slot);
        object.cluster = found.number;
        object.offset = record.offset();
        object.firstPart = record.parted() ? record.firstPart() : noCluster;
        object.size = catalog().payloadBytes(slot);
        object.slot = slot;
        found.objects.push_back(object);
    }
    std::sort(found.objects.begin(), found.objects.end(), [](const FoundObject &a, const FoundObject &b) {
        return a.offset < b.offset;
    });
}

/// checks one extent; its key comes from the directory, or else from itself
void
IndexView::judge(FoundObject &object, const FoundCluster &found, const DirectoryEntry *entry) const
{
    const auto &c = catalog().clusters()[found.number];
    const auto whole = uint64_t(object.offset) + ExtentHeader::encodedBytes + object.size;
    object.status = found.read;
    if (entry && suits(entry->key, object.slot)) {
        object.key = entry->key;
        object.named = true;
    }
    if (object.status != Status::ok)
        return;
    object.status = Status::corrupt;
    if (whole > c.end)
        return;
    ExtentHeader expected;
    expected.size = object.size;
    expected.sequence = c.sequence;
    expected.key = object.key;
    if (!object.named) {
        ByteReader reader(found.bytes + object.offset, ExtentHeader::encodedBytes);
        reader.skip(16); // checksum, size and sequence number
        expected.key = reader.key();
        if (!suits(expected.key, object.slot))
            return;
    }
    object.status = checkExtent(found.bytes + object.offset, c.end - object.offset, expected, context_.uuid, found.number, object.offset);
    if (object.status != Status::ok)
        return;
    object.key = expected.key;
    object.named = true;
    object.bytes = found.bytes + object.offset + ExtentHeader::encodedBytes;
}

void
IndexView::examine(const ClusterNo n, FoundCluster &found)
{
    found = FoundCluster();
    found.number = n;
    const auto &c = catalog().clusters()[n];
    collect(found);
    found.read = image_.read(context_.geometry.clusterOffset(n), c.end, found.bytes);
    found.directoryStatus = found.read;
    std::unordered_map<uint32_t, const DirectoryEntry *> entries;
    if (found.read == Status::ok) {
        found.directoryStatus = found.directory.decode(found.bytes, c.end, n, context_.uuid, context_.geometry.clusterBytes);
        const auto &h = found.directory.header;
        if (found.directoryStatus == Status::ok && (h.kind != ClusterKind::packed || h.sequence != c.sequence || h.end != c.end))
            found.directoryStatus = Status::corrupt;
    }
    if (found.directoryStatus == Status::ok) {
        for (const auto &e: found.directory.entries)
            entries[e.offset] = &e;
    }
    for (auto &object: found.objects) {
        const auto entry = entries.find(object.offset);
        judge(object, found, entry == entries.end() ? nullptr : entry->second);
    }
}

void
IndexView::examineParts(const FoundObject &object, std::vector<ClusterNo> &damaged)
{
    const auto &clusters = catalog().clusters();
    uint32_t number = 0;
    for (auto n = object.firstPart; n != noCluster; n = clusters[n].nextPart, ++number) {
        const auto &c = clusters[n];
        const char *bytes = nullptr;
        Directory front;
        const auto &h = front.header;
        // recovery has made sure that the end is within the cluster, and behind the front
        const bool whole = image_.read(context_.geometry.clusterOffset(n), c.end, bytes) == Status::ok &&
                           front.decode(bytes, partPayloadAt, n, context_.uuid, context_.geometry.clusterBytes) == Status::ok &&
                           h.kind == ClusterKind::part && h.sequence == c.sequence && h.end == c.end &&
                           h.partNumber == number && (!object.named || h.key == object.key) &&
                           partCrc(bytes + partPayloadAt, c.end - partPayloadAt, context_.uuid, n, c.sequence) == h.payloadCrc;
        if (!whole)
            damaged.push_back(n);
    }
}

} // namespace ClusterFs::Cli

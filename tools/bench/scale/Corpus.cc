// SPDX-License-Identifier: GPL-2.0-or-later
/* Made objects. */

#include "tools/bench/scale/Corpus.h"

#include "fs/cluster/catalog/Catalog.h"
#include "tools/base/Random.h"

#include <algorithm>
#include <cstring>

using namespace ClusterFs;

namespace ScaleBench {

Key
keyOf(const uint64_t number)
{
    const uint64_t words[2] = {Tools::mix(number + 1), Tools::mix(~number)};
    Key key;
    memcpy(key.bytes.data(), words, sizeof(words));
    return key;
}

void
fillPayload(char *const to, const size_t size, const Key &key)
{
    size_t done = std::min(size, key.bytes.size());
    memcpy(to, key.bytes.data(), done);
    while (done < size) {
        const auto more = std::min(done, size - done);
        memcpy(to + done, to, more);
        done += more;
    }
}

uint32_t
Corpus::inCluster() const
{
    const auto each = DirectoryEntry::encodedBytes + Catalog::ExtentBytes(objectBytes);
    return static_cast<uint32_t>((geometry.clusterBytes - ClusterHeader::encodedBytes - extentAlignment) / each);
}

uint32_t
Corpus::clusters() const
{
    return static_cast<uint32_t>((objects + inCluster() - 1) / inCluster());
}

uint32_t
Corpus::clustersOfCopies() const
{
    return static_cast<uint32_t>((copies + inCluster() - 1) / inCluster());
}

uint32_t
Corpus::OffsetOf(const uint32_t i, const uint32_t inCluster, const uint32_t objectBytes)
{
    return static_cast<uint32_t>(roundUp(Directory::BytesFor(inCluster, 0), extentAlignment)) + i * Catalog::ExtentBytes(objectBytes);
}

ObjectInfo
Corpus::info() const
{
    ObjectInfo i;
    i.timestamp = made;
    i.expires = made + 86400;
    i.size = objectBytes;
    return i;
}

Directory
Corpus::directory(const ClusterNo n) const
{
    Directory d;
    if (n < first || n >= first + clusters() + clustersOfCopies())
        return d;
    const bool copy = n >= first + clusters();
    const auto begin = uint64_t(n - first - (copy ? clusters() : 0)) * inCluster();
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(inCluster(), (copy ? copies : objects) - begin));
    d.header.number = n;
    d.header.uuid = uuid;
    d.header.sequence = sequenceOf(n);
    d.header.written = made;
    d.header.end = OffsetOf(count, count, objectBytes);
    // what was moved at one time came from all over the store
    const auto apart = copies ? objects / copies : 1;
    for (uint32_t i = 0; i < count; ++i) {
        DirectoryEntry e;
        e.key = keyOf((begin + i) * (copy ? apart : 1));
        e.offset = OffsetOf(i, count, objectBytes);
        e.size = objectBytes;
        e.info = info();
        d.entries.push_back(e);
    }
    return d;
}

} // namespace ScaleBench

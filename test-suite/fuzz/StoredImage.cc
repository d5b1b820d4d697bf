// SPDX-License-Identifier: GPL-2.0-or-later
/* Using a small device. */

#include "test-suite/fuzz/StoredImage.h"

#include "test-suite/fuzz/Target.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace Fuzz {
namespace {

constexpr size_t pageBytes = 4096;
constexpr uint64_t smallObjects = 40;
constexpr uint64_t firstLarge = 100; ///< these have parts
constexpr uint64_t largeObjects = 3;
constexpr uint64_t firstLate = 200; ///< stored after the checkpoint

Config
imageConfig(const bool keys)
{
    Config c = smallConfig();
    c.clusterKb = 16;
    c.objectKb = 16;
    c.localityMb = 1;
    c.persist = 1;
    c.list = keys;
    return c;
}

} // namespace
} // namespace Fuzz

Fuzz::StoredImage::StoredImage(const Ending ending):
    config_(imageConfig(ending == Ending::stopWithKeys))
{
    Store store(bytes, config_, true);
    store.start();
    geometry_ = store.geometry();
    fill(store);
    require(store.checkpoint(), "the image has a checkpoint");
    if (ending == Ending::kill || ending == Ending::killInCheckpoint)
        changeMuch(store);
    if (ending == Ending::killInCheckpoint) {
        store.engine->requestCheckpoint();
        store.step();
        store.engine->remove(keyOf(5));
        for (int i = 0; i < 3; ++i)
            store.step();
        put(store, firstLate - 1, 3000);
    }
    if (ending == Ending::stop || ending == Ending::stopWithKeys)
        require(store.engine->close(60000) == Status::ok, "the image is closed");
    store.crash();
    keep(store.media);
}

void
Fuzz::StoredImage::put(Store &store, const uint64_t object, const size_t size)
{
    auto &list = of(object);
    list.push_back(bytesOf(object * 100 + list.size(), size));
    require(store.store(keyOf(object), list.back()) == Status::ok, "the image takes its objects");
}

/// objects in packed clusters and in parts; some are replaced or deleted
void
Fuzz::StoredImage::fill(Store &store)
{
    for (uint64_t i = 0; i < smallObjects; ++i)
        put(store, i, 50 + i * i % 37 * 100);
    for (uint64_t i = 0; i < largeObjects; ++i)
        put(store, firstLarge + i, 30000 + i * 17000);
    require(store.pack(), "the image is packed");
    for (uint64_t i = 0; i < smallObjects; i += 7)
        put(store, i, 700 + i);
    store.engine->remove(keyOf(2));
    for (uint64_t i = 10; i < smallObjects; i += 10)
        store.engine->collocate(keyOf(i), {keyOf(i + 1), keyOf(i + 2), keyOf(i + 3)});
    require(store.pack(), "the image is packed again");
}

/// What the journal leads to: deletes, new clusters, a large object with a new
/// head, and so much more that clusters are emptied and objects are relocated.
void
Fuzz::StoredImage::changeMuch(Store &store)
{
    bool done = false;
    const std::string head = bytesOf(7777, 300);
    auto changed = of(firstLarge).back();
    changed.replace(0, 200, head);
    store.engine->replaceHead(keyOf(firstLarge), 200, head, infoOf(store.clock.wallSeconds()), [&](Status) { done = true; });
    require(store.until([&] { return done; }), "a head is replaced");
    of(firstLarge).push_back(changed);
    for (uint64_t i = 3; i < smallObjects; i += 3)
        store.engine->remove(keyOf(i));
    for (uint64_t i = 0; i < 90 && !store.engine->stats().counters.relocatedObjects; ++i) {
        put(store, firstLate + i, 9000 + i);
        for (uint64_t used = 0; used < smallObjects; ++used)
            store.engine->touch(keyOf(used));
        // what is relocated at the end of that time is packed below
        require(store.pack() || store.engine->stats().counters.relocatedObjects > 0, "late objects are packed");
    }
    require(store.engine->stats().counters.relocatedObjects > 0, "the image has relocated objects");
    require(store.pack(), "relocated objects are packed");
}

void
Fuzz::StoredImage::keep(const MemoryDevice &media)
{
    for (uint64_t at = 0; at < media.size(); at += pageBytes) {
        const std::string page(media.data() + at, pageBytes);
        if (page.find_first_not_of('\0') != page.npos)
            pages_.emplace(at, page);
    }
}

void
Fuzz::StoredImage::copyTo(MemoryDevice &media) const
{
    for (const auto &page: pages_)
        memcpy(media.data() + page.first, page.second.data(), pageBytes);
}

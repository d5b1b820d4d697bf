// SPDX-License-Identifier: GPL-2.0-or-later
/* Whole devices that something has written over. The input: a byte of choices,
 * then changes, see change(). */

#include "test-suite/fuzz/StoredImage.h"
#include "test-suite/fuzz/Target.h"

#include <memory>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace Fuzz {
namespace {

constexpr unsigned maxChanges = 64;
constexpr unsigned maxSteps = 20000; ///< of a start
constexpr uint64_t newObject = 1000; ///< stored after the start

/* bits of the first byte, above the ending */
constexpr uint8_t goOn = 4; ///< use the device after the start
constexpr uint8_t expire = 8; ///< with lifetimes
constexpr uint8_t otherPolicies = 16;

/* kinds of changes */
enum Kind : uint8_t { superblock, indexBlock, journalBlock, cluster, groups, kindMask = 7 };
constexpr uint8_t repaired = 0x80; ///< with the right checksum afterwards
constexpr uint8_t copied = 0x40; ///< all of another structure first

/// makes what TestStore expects a promise
class Strict final : public ::testing::EmptyTestEventListener
{
    void OnTestPartResult(const ::testing::TestPartResult &result) override { require(!result.failed(), result.summary()); }
};

void
beStrict()
{
    static bool done = false;
    if (!done)
        ::testing::UnitTest::GetInstance()->listeners().Append(new Strict); // takes it over
    done = true;
}

const StoredImage &
image(const Ending ending)
{
    static std::unique_ptr<StoredImage> all[endingCount];
    auto &one = all[static_cast<unsigned>(ending)];
    if (!one)
        one = std::make_unique<StoredImage>(ending);
    return *one;
}

/// a structure with one checksum
struct Place {
    uint64_t at;
    uint32_t size;
};

Place
placeOf(const Geometry &g, const uint8_t kind, const uint8_t which)
{
    constexpr unsigned journalBlocks = 100; // of those there are
    switch (kind & kindMask) {
    case superblock:
        return {which % 2 * superblockSpacing, superblockBytes};
    case indexBlock:
        return {g.logOffset(which % g.logBlocks), indexBlockBytes};
    case groups:
        return {g.groupsStart[which % 2] + which / 2 % (g.groupsBytes / groupsChunkBytes) * groupsChunkBytes, groupsChunkBytes};
    case journalBlock:
        return {g.journalStart[which % 2] + uint64_t(which / 2 % journalBlocks) * journalBlockBytes, journalBlockBytes};
    default:
        return {g.clusterOffset(ClusterNo(which % g.clusterCount)), g.clusterBytes};
    }
}

/// Of extents only the front of their cluster is repaired: what they hold is
/// known to nobody but their checksum.
void
repair(char *const bytes, const uint8_t kind, const uint32_t size)
{
    switch (kind & kindMask) {
    case superblock:
        repairSuperblock(bytes);
        return;
    case indexBlock:
        repairIndexBlock(bytes);
        return;
    case groups:
        repairGroups(bytes);
        return;
    case journalBlock:
        repairJournalBlock(bytes);
        return;
    default:
        repairFront(bytes, size);
    }
}

/// One change: kind (1 byte), which structure (1), which other one (1, when it
/// is to be copied), offset (2), count (1), and as many bytes as that says.
void
change(char *const device, const Geometry &g, Input &in)
{
    const auto kind = in.u8();
    const auto place = placeOf(g, kind, in.u8());
    if (kind & copied)
        memmove(device + place.at, device + placeOf(g, kind, in.u8()).at, place.size);
    const auto offset = in.u16() % place.size;
    const auto bytes = take(in, std::min<size_t>({in.u8(), in.left(), place.size - offset}));
    std::copy(bytes.begin(), bytes.end(), device + place.at + offset);
    if (kind & repaired)
        repair(device + place.at, kind, place.size);
}

/// What a reader gets is one of the versions, or an error. An object of no bytes
/// is read without its extent: only the index says so, whose checksum was put right.
void
checkObject(TestStore &store, const Key &key, const Versions &versions)
{
    std::string got;
    if (store.load(key, got) != Status::ok || got.empty())
        return;
    const auto known = versions.find(key.bytes);
    require(known != versions.end() && std::find(known->second.begin(), known->second.end(), got) != known->second.end(),
            "what is read was stored under that key");
}

void
checkAll(TestStore &store, const Versions &versions)
{
    for (const auto &object: versions)
        checkObject(store, Key{object.first}, versions);
    Key key;
    ObjectInfo info;
    unsigned looks = ~0U;
    for (uint64_t cursor = 0; store.engine->next(cursor, key, info, looks);)
        checkObject(store, key, versions);
}

/// \returns whether the device was taken
bool
start(TestStore &store)
{
    if (store.open() != Status::ok) {
        require(!store.lastError.empty(), "a refusal has a reason");
        return false;
    }
    require(store.until([&] { return store.engine->state() != EngineState::recovering; }, maxSteps), "a start ends");
    return true;
}

void
use(TestStore &store, Versions &versions)
{
    for (const uint64_t i: {0, 1, 2, 3, 4, 5}) {
        const auto key = keyOf(newObject + i);
        versions[key.bytes] = {bytesOf(newObject + i, 100 + i * i * 2000)};
        store.store(key, versions[key.bytes].back());
        store.engine->touch(keyOf(i));
    }
    store.engine->remove(keyOf(newObject));
    store.engine->remove(keyOf(4));
    store.pack();
    require(!store.remembers(keyOf(newObject)) && !store.remembers(keyOf(4)), "what was deleted is gone");
    checkAll(store, versions);
}

void
run(Input in)
{
    beStrict();
    const auto choice = in.u8();
    const auto &base = image(static_cast<Ending>(choice % endingCount));
    auto config = base.config();
    if (choice & expire)
        config.fileLifetime = config.clusterLifetime = 30;
    if (choice & otherPolicies) {
        config.replacement = &fifoEviction;
        config.layout = &overwriteLayout;
    }
    TestStore store(StoredImage::bytes, config, true);
    base.copyTo(store.media);
    for (unsigned i = 0; i < maxChanges && in.left(); ++i)
        change(store.media.data(), base.geometry(), in);
    if (!start(store))
        return;
    checkAll(store, base.versions());
    if (!(choice & goOn))
        return;
    auto versions = base.versions();
    use(store, versions);
    store.engine->close(60000);
    require(start(store), "what was used is taken again");
    checkAll(store, versions);
}

/* seeds: each field of each kind of structure with numbers that often are wrong */

std::string
changeOf(const uint8_t kind, const uint8_t which, const uint16_t offset, const std::string &bytes)
{
    const char head[] = {static_cast<char>(kind), static_cast<char>(which), static_cast<char>(offset & 0xff),
                         static_cast<char>(offset >> 8), static_cast<char>(bytes.size())};
    return std::string(head, sizeof(head)) + bytes;
}

/// all of another structure, with one byte of its own
std::string
copyOf(const uint8_t kind, const uint8_t which, const uint8_t from, const uint16_t offset, const char byte)
{
    auto bytes = changeOf(kind | copied | repaired, which, offset, std::string(1, byte));
    return bytes.insert(2, 1, static_cast<char>(from));
}

/// place and size in bytes
using Fields = std::vector<std::pair<uint16_t, uint8_t>>;

const Fields superblockFields = {{20, 1}, {36, 8}, {44, 4}, {48, 4}, {52, 8}, {60, 1}, {61, 8}, {69, 8}, {77, 4}, {81, 4},
                                 {85, 4}, {89, 4}, {93, 4}, {97, 4}, {101, 4}, {105, 4}, {109, 4}, {113, 4}, {117, 4}, {121, 4},
                                 {125, 8}, {133, 8}, {141, 8}};
const Fields indexFields = {{24, 4}, {28, 4}, {32, 8}, {40, 8}, {48, 1}, {49, 1}, {52, 4}, {56, 4}, {60, 4}, {64, 4}, {68, 4}};
/* the first record, whether it is a removal or a section with an object */
const Fields removalFields = {{80, 1}, {81, 4}, {85, 8}};
const Fields sectionFields = {{81, 1}, {82, 1}, {84, 4}, {88, 8}, {96, 4}, {100, 4}, {104, 8}, {112, 4}, {116, 4}, {120, 4},
                              {124, 4}, {128, 4}, {132, 4}, {136, 4}, {140, 4}, {144, 4}, {148, 8}};
const Fields groupsFields = {{24, 8}, {32, 4}, {36, 4}, {64, 8}, {96, 1}, {98, 2}, {116, 1}, {117, 1}};
const Fields journalFields = {{24, 8}, {32, 4}, {36, 4}, {40, 4}, {48, 1}, {49, 4}, {53, 8}};
const Fields frontFields = {{8, 1}, {12, 4}, {32, 8}, {48, 4}, {52, 4}, {56, 4}, {60, 4}, {64, 4}, {68, 8},
                            {96, 8}, {112, 4}, {116, 4}, {120, 8}, {128, 8}, {136, 8}, {144, 8}, {152, 1}, {154, 2}, {156, 4}};

/// one input for each field of a structure and each number that often is wrong
/// \param before the first byte, and changes that come first
void
addFields(std::vector<std::string> &all, const std::string &before, const uint8_t kind, const uint8_t which, const Fields &fields)
{
    for (const auto &field: fields) {
        for (const char byte: {'\0', '\1', '\xff'})
            all.push_back(before + changeOf(kind | repaired, which, field.first, std::string(field.second, byte)));
        all.push_back(before + changeOf(kind | repaired, which, field.first, "\x29")); // only the lowest byte
    }
}

std::vector<std::string>
seeds()
{
    std::vector<std::string> all;
    for (uint8_t ending = 0; ending < endingCount; ++ending) {
        for (const uint8_t bits: {0, goOn | 0, goOn | expire | otherPolicies})
            all.push_back(std::string(1, static_cast<char>(ending | bits)));
    }
    const std::string stopped(1, static_cast<char>(static_cast<uint8_t>(Ending::stop) | goOn));
    const std::string killed(1, static_cast<char>(static_cast<uint8_t>(Ending::kill) | goOn));
    // of a store without an index log, all clusters are scanned
    const auto scanned = killed + changeOf(superblock | repaired, 0, 20, "\3") + changeOf(superblock | repaired, 1, 20, "\3");
    for (const uint8_t region: {0, 1}) {
        addFields(all, stopped, superblock, region, superblockFields);
        addFields(all, stopped, groups, region, groupsFields);
        addFields(all, killed, journalBlock, region, journalFields);
        all.push_back(killed + copyOf(journalBlock, 2 | region, region, 32, '\1'));
    }
    for (uint8_t block = 0; block < 6; ++block) {
        addFields(all, stopped, indexBlock, block, indexFields);
        addFields(all, stopped, indexBlock, block, removalFields);
        addFields(all, stopped, indexBlock, block, sectionFields);
        all.push_back(killed + copyOf(indexBlock, block, static_cast<uint8_t>(block + 1), 28, static_cast<char>(block)));
    }
    for (const uint8_t n: {0, 3, 20}) {
        addFields(all, killed, cluster, n, frontFields);
        addFields(all, scanned, cluster, n, frontFields);
        all.push_back(scanned + copyOf(cluster, 50, n, 12, 50));
    }
    return all;
}

const Target target("image", run, seeds);

} // namespace
} // namespace Fuzz

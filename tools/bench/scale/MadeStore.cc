// SPDX-License-Identifier: GPL-2.0-or-later
/* Making stores. */

#include "tools/bench/scale/MadeStore.h"

#include "fs/cluster/catalog/ClusterTable.h"
#include "fs/cluster/catalog/Record.h"
#include "fs/cluster/layout/IndexBlock.h"
#include "fs/cluster/layout/JournalBlock.h"
#include "fs/cluster/recovery/SuperblockFile.h"
#include "tools/bench/scale/HollowDevice.h"

#include <algorithm>
#include <fcntl.h>
#include <random>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

using namespace ClusterFs;

namespace ScaleBench {

namespace {

constexpr unsigned deviceMilliseconds = 60000;
constexpr uint32_t blocksInPiece = 256;
constexpr unsigned piecesAhead = 8;
constexpr uint32_t usualObjectBytes = 13 * 1024; ///< what formatting expects
constexpr uint32_t logShare = 3; ///< of what there is to say, the log has room for so much

void
need(const bool well, const std::string &what)
{
    if (!well)
        throw std::runtime_error(what);
}

void
write(Device &device, const uint64_t offset, const BufferPointer &buffer, const uint32_t size)
{
    need(doAndWait(device, IoOp::write, offset, buffer, size, deviceMilliseconds) == Status::ok, "the device takes no writes");
}

/// Index blocks, one behind the other from the beginning of the log.
class LogWriter
{
public:
    LogWriter(Device &device, const Geometry &g, const Uuid &uuid):
        device_(device), geometry_(g), uuid_(uuid), piece_(std::make_shared<Buffer>(size_t(blocksInPiece) * indexBlockBytes)) {}

    /// what comes now
    void part(const IndexBlock::Part p) {
        if (bytes_)
            close();
        block_ = IndexBlock();
        block_.part = p;
        block_.serial = block_.removalBlocks = 1;
    }

    /// \returns whether so many bytes of records go into the block; if not, it is another one now
    bool room(const size_t bytes) {
        if (bytes_ + bytes <= IndexBlock::capacity())
            return true;
        part(block_.part);
        return false;
    }

    IndexBlock &block(const size_t bytes) {
        bytes_ += bytes;
        return block_;
    }

    void close() {
        block_.position = {0, next_++};
        block_.encode(piece_->data() + size_t(filled_++) * indexBlockBytes, uuid_);
        bytes_ = 0;
        const auto apart = geometry_.logOffset(next_) != geometry_.logOffset(next_ - 1) + indexBlockBytes;
        if (filled_ == blocksInPiece || apart)
            flush();
    }

    void flush() {
        if (filled_)
            write(device_, geometry_.logOffset(next_ - filled_), piece_, filled_ * indexBlockBytes);
        filled_ = 0;
    }

    uint32_t blocks() const { return next_; }

private:
    Device &device_;
    const Geometry &geometry_;
    const Uuid &uuid_;
    BufferPointer piece_;
    IndexBlock block_;
    size_t bytes_ = 0; ///< of records in it
    uint32_t filled_ = 0; ///< blocks of the piece
    uint32_t next_ = 0;
};

} // namespace

MadeStore::MadeStore(const Shape &shape, const std::string &path): shape_(shape), path_(path)
{
    std::string error;
    auto &g = superblock_.geometry;
    need(g.plan(roundDown(shape.deviceBytes, 1 << 20), shape.clusterKb * 1024, usualObjectBytes, error), error);
    superblock_.startLog();
    corpus_.geometry = g;
    corpus_.objectBytes = shape.objectBytes;
    corpus_.objects = shape.objects;
    corpus_.copies = shape.copies;
    const auto said = shape.objects * IndexObject::encodedBytes + uint64_t(corpus_.clusters()) * 2 * IndexSection::encodedBytes;
    const auto blocks = logShare * (said / (IndexBlock::capacity() * 9 / 10) + 8);
    if (blocks > g.logBlocks)
        superblock_.logClusters = static_cast<uint32_t>((blocks - g.logBlocks) / (g.clusterBytes / indexBlockBytes) + 1);
    corpus_.first = ClusterNo(superblock_.logClusters);
    need(used() <= g.clusterCount,
         std::to_string(shape.objects) + " objects of " + std::to_string(shape.objectBytes) + " bytes do not fit into " +
         std::to_string(g.clusterCount) + " clusters");
}

uint64_t
MadeStore::used() const
{
    return uint64_t(corpus_.first.value()) + corpus_.clusters() + corpus_.clustersOfCopies();
}

bool
MadeStore::Fits(const Shape &shape)
{
    try {
        const MadeStore planned(shape, "");
        return true;
    } catch (const std::runtime_error &) {
        return false;
    }
}

std::unique_ptr<AioDevice>
MadeStore::open(const Clock &clock) const
{
    AioDevice::OpenOptions options;
    options.path = path_;
    std::string error;
    auto device = AioDevice::Open(clock, options, [](LogLevel, const std::string &) {}, error);
    need(device != nullptr, error);
    return device;
}

void
MadeStore::make()
{
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    need(fd >= 0, path_ + ": it can't be made");
    const auto size = static_cast<off_t>(roundUp(HollowDevice::FileBytes(corpus_.geometry), 1 << 20));
    const bool done = ftruncate(fd, 0) == 0 && ftruncate(fd, size) == 0;
    ::close(fd);
    need(done, path_ + ": the file system has no files of " + std::to_string(size) + " bytes");

    SystemClock clock;
    std::mt19937_64 random(1);
    for (auto &b: superblock_.uuid)
        b = static_cast<uint8_t>(random());
    for (auto &word: superblock_.secret)
        word = random();
    corpus_.uuid = superblock_.uuid;
    corpus_.made = clock.wallSeconds();
    const auto file = open(clock);
    HollowDevice device(clock, *file, corpus_);
    writeLog(device);
    if (corpus_.copies)
        writeJournal(device);
    const auto buffer = std::make_shared<Buffer>(superblockBytes);
    for (superblock_.update = 1; superblock_.update <= 2; ++superblock_.update) {
        superblock_.encode(buffer->data());
        write(device, superblockOffset(superblock_.update), buffer, superblockBytes);
    }
    need(doAndWait(device, IoOp::flush, 0, nullptr, 0, deviceMilliseconds) == Status::ok, "the device can't be flushed");
}

/// one checkpoint that names all there is
void
MadeStore::writeLog(Device &device)
{
    const auto &g = corpus_.geometry;
    const KeyHasher hash(superblock_.secret, g.baseBuckets);
    const auto tickWrites = g.clusterCount / 64 + 1; // see StoreContext::heatTickWrites()
    LogWriter log(device, g, superblock_.uuid);
    log.part(IndexBlock::Part::removals);
    log.close();
    log.part(IndexBlock::Part::contents);
    Record record = Record();
    record.setInfo(corpus_.info());
    for (uint32_t c = 0; c < corpus_.clusters(); ++c) {
        IndexSection s;
        s.cluster = corpus_.first + c;
        s.state = static_cast<uint8_t>(ClusterState::packed);
        s.whole = true;
        s.sequence = corpus_.sequenceOf(s.cluster);
        s.heat = static_cast<uint32_t>(s.sequence.value());
        s.written = static_cast<uint32_t>(corpus_.made);
        const auto begin = uint64_t(c) * corpus_.inCluster();
        const auto count = static_cast<uint32_t>(std::min<uint64_t>(corpus_.inCluster(), corpus_.objects - begin));
        s.end = Corpus::OffsetOf(count, count, corpus_.objectBytes);
        const auto heat = static_cast<uint32_t>(s.sequence.value() / tickWrites & 0xff) << 3;
        bool opened = false;
        for (uint32_t i = 0; i < count; ++i) {
            IndexObject o;
            o.hashed = hash(keyOf(begin + i));
            record.setPlace(Corpus::OffsetOf(i, count, corpus_.objectBytes), heat);
            o.place = record.place;
            o.size = corpus_.objectBytes;
            o.timestamp = record.timestamp;
            o.packed = record.packed();
            opened = log.room(IndexObject::encodedBytes + (opened ? 0 : IndexSection::encodedBytes)) && opened;
            if (!opened)
                log.block(IndexSection::encodedBytes).sections.push_back(s);
            opened = true;
            log.block(IndexObject::encodedBytes).sections.back().objects.push_back(o);
        }
    }
    log.part(IndexBlock::Part::removalsAgain);
    log.close();
    log.flush();
    superblock_.clean = !corpus_.copies;
    superblock_.lastSequence = Sequence(corpus_.clusters());
    superblock_.objects = corpus_.objects;
    superblock_.checkpoint = superblock_.serial = superblock_.removalBlocks = superblock_.turn = 1;
    superblock_.log.blocks = g.logBlocksWith(superblock_.logClusters);
    superblock_.log.head = {0, log.blocks()};
    need(superblock_.log.sane(), "the index log has " + std::to_string(superblock_.log.blocks) + " blocks, too few for " + std::to_string(log.blocks()));
}

/// the clusters with newer copies were announced
void
MadeStore::writeJournal(Device &device) const
{
    const auto buffer = std::make_shared<Buffer>(journalBlockBytes);
    const auto begin = corpus_.first + corpus_.clusters();
    const auto end = begin + corpus_.clustersOfCopies();
    JournalBlock block;
    block.checkpoint = block.run = 1;
    size_t bytes = 0;
    for (auto n = begin; n <= end; ++n) {
        JournalRecord r;
        r.kind = JournalRecord::Kind::announce;
        r.cluster = n;
        r.sequence = corpus_.sequenceOf(begin) - 1;
        bytes += r.encodedBytes();
        if (n == end || bytes > JournalBlock::Capacity()) {
            block.encode(buffer->data(), superblock_.uuid);
            write(device, corpus_.geometry.journalStart[1] + uint64_t(block.index) * journalBlockBytes, buffer, journalBlockBytes);
            ++block.index;
            block.records.clear();
            bytes = r.encodedBytes();
        }
        block.records.push_back(r);
    }
}

uint64_t
MadeStore::readLog(uint64_t &bytes) const
{
    SystemClock clock;
    const auto file = open(clock);
    HollowDevice device(clock, *file, corpus_);
    Superblock s;
    std::string error;
    need(readSuperblock(device, s, error) == Status::ok, error);
    const auto used = s.log.used();
    uint32_t next = 0;
    bool failed = false;
    unsigned inFlight = 0;
    bytes = 0;
    const auto begin = clock.micros();
    std::vector<BufferPointer> idle;
    for (unsigned i = 0; i < piecesAhead; ++i)
        idle.push_back(std::make_shared<Buffer>(size_t(blocksInPiece) * indexBlockBytes));
    while (next < used || inFlight) {
        while (next < used && !idle.empty()) {
            const auto offset = corpus_.geometry.logOffset(s.log.at(next).block);
            uint32_t count = 0;
            while (count < blocksInPiece && next < used && corpus_.geometry.logOffset(s.log.at(next).block) == offset + uint64_t(count) * indexBlockBytes) {
                ++next;
                ++count;
            }
            const auto buffer = idle.back();
            idle.pop_back();
            Io io;
            io.op = IoOp::read;
            io.offset = offset;
            io.size = count * indexBlockBytes;
            io.buffer = buffer->data();
            io.done = [&, buffer](const Status status) {
                --inFlight;
                failed = failed || status != Status::ok;
                idle.push_back(buffer);
            };
            ++inFlight;
            bytes += io.size;
            device.submit(std::move(io));
        }
        device.wait(10);
        device.poll();
    }
    need(!failed, "the index log can't be read");
    return clock.micros() - begin;
}

std::set<uint64_t>
MadeStore::damage() const
{
    SystemClock clock;
    const auto file = open(clock);
    HollowDevice device(clock, *file, corpus_);
    const auto buffer = std::make_shared<Buffer>(indexBlockBytes);
    const auto offset = corpus_.geometry.logOffset(superblock_.log.used() / 2);
    need(doAndWait(device, IoOp::read, offset, buffer, indexBlockBytes, deviceMilliseconds) == Status::ok, "a block can't be read");
    IndexBlock block;
    need(block.decode(buffer->data(), superblock_.uuid) == Status::ok, "a block is not what was written");
    std::set<uint64_t> described;
    for (const auto &section: block.sections) {
        // in a made store, the place says which object it is
        const auto begin = uint64_t(section.cluster - corpus_.first) * corpus_.inCluster();
        for (const auto &o: section.objects) {
            Record r = Record();
            r.place = o.place;
            const auto count = static_cast<uint32_t>(std::min<uint64_t>(corpus_.inCluster(), corpus_.objects - begin));
            described.insert(begin + (r.offset() - Corpus::OffsetOf(0, count, corpus_.objectBytes)) /
                                     (Corpus::OffsetOf(1, count, corpus_.objectBytes) - Corpus::OffsetOf(0, count, corpus_.objectBytes)));
        }
    }
    memset(buffer->data(), 0, indexBlockBytes);
    write(device, offset, buffer, indexBlockBytes);
    return described;
}

} // namespace ScaleBench

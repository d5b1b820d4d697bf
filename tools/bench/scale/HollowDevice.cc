// SPDX-License-Identifier: GPL-2.0-or-later
/* What of a disk is kept, and what is made again. */

#include "tools/bench/scale/HollowDevice.h"

#include <algorithm>
#include <cstring>

using namespace ClusterFs;

namespace ScaleBench {

namespace {

constexpr uint64_t wholeBytes = uint64_t(16) << 30; ///< of the first clusters, which may become part of the index log
constexpr uint32_t shareOfRoom = 8; ///< of a cluster behind them, this part has room: a directory takes less
constexpr uint32_t firstRead = 16384; ///< of a cluster's front; more when its directory is longer
constexpr char blockMagic[] = "CLINDEX\n"; ///< of a block of the index log

bool
begins(const char *const bytes, const char (&magic)[9])
{
    return memcmp(bytes, magic, 8) == 0;
}

uint64_t
wholeClusters(const Geometry &g)
{
    return std::min<uint64_t>(g.clusterCount, wholeBytes / g.clusterBytes);
}

} // namespace

HollowDevice::HollowDevice(const Clock &clock, AioDevice &file, const Corpus &corpus):
    Device(clock, corpus.geometry.deviceBytes, file.alignment(), file.depth()),
    file_(file),
    corpus_(corpus)
{
    file_.setDepth(AioDevice::maxDepth);
}

HollowDevice::~HollowDevice()
{
    // buffers of what is under way belong to the engine, which is gone
    while (!file_.idle()) {
        file_.poll();
        file_.wait(10);
    }
    for (const auto &f: fronted_)
        delete f.request;
    for (auto *request: made_)
        delete request;
}

uint64_t
HollowDevice::FileBytes(const Geometry &g)
{
    return g.clusterStart + wholeClusters(g) * g.clusterBytes +
           (g.clusterCount - wholeClusters(g)) * (g.clusterBytes / shareOfRoom) + superblockSpacing;
}

uint64_t
HollowDevice::inFile(const uint64_t offset) const
{
    const auto &g = corpus_.geometry;
    const auto whole = g.clusterStart + wholeClusters(g) * g.clusterBytes;
    if (offset < whole)
        return offset;
    return whole + (offset - whole) / g.clusterBytes * (g.clusterBytes / shareOfRoom) + (offset - whole) % g.clusterBytes;
}

bool
HollowDevice::start(Request *const request)
{
    const auto &io = request->io;
    const auto &g = corpus_.geometry;
    if (io.op == IoOp::flush || io.offset < g.clusterStart) {
        pass(request, io.size);
        return true;
    }
    ClusterHeader header;
    if (io.op == IoOp::read)
        readFront(request, std::min(firstRead, g.clusterBytes / shareOfRoom));
    else if (begins(io.buffer, blockMagic))
        pass(request, io.size);
    else if (Directory::Peek(io.buffer, io.size, header) && header.kind == ClusterKind::packed &&
             header.directoryBytes() <= g.clusterBytes / shareOfRoom)
        pass(request, std::min(io.size, static_cast<uint32_t>(roundUp(header.directoryBytes(), alignment()))));
    else if (std::all_of(io.buffer, io.buffer + io.size, [](const char c) { return !c; }))
        finish(request, Status::ok, 0); // formatting ends what may have been at the end of the disk
    else
        finish(request, Status::ioError, ENOTSUP);
    return true;
}

/// does a request in the file, or the beginning of it
void
HollowDevice::pass(Request *const request, const uint32_t size)
{
    auto io = request->io;
    io.ioClass = IoClass::urgent; // whose turn it is was decided here
    io.offset = inFile(io.offset);
    io.size = size;
    io.done = [this, request](const Status status) { finish(request, status, status == Status::ok ? 0 : file_.stats().lastErrno); };
    file_.submit(std::move(io));
}

void
HollowDevice::readFront(Request *const request, const uint32_t size)
{
    const auto &g = corpus_.geometry;
    const auto n = (request->io.offset - g.clusterStart) / g.clusterBytes;
    const auto front = std::make_shared<Buffer>(size);
    Io io;
    io.op = IoOp::read;
    io.offset = inFile(g.clusterStart + n * g.clusterBytes);
    io.size = size;
    io.buffer = front->data();
    io.done = [this, request, front, size](const Status status) {
        ClusterHeader header;
        if (status != Status::ok)
            finish(request, status, file_.stats().lastErrno);
        else if (begins(front->data(), blockMagic))
            pass(request, request->io.size);
        else if (Directory::Peek(front->data(), size, header) && header.directoryBytes() > size)
            readFront(request, static_cast<uint32_t>(roundUp(header.directoryBytes(), alignment())));
        else
            fronted_.push_back({request, front, size});
    };
    file_.submit(std::move(io));
}

/// the bytes that a read of a cluster asks for
void
HollowDevice::make(Request &request, const char *const front, const uint32_t size) const
{
    const auto &io = request.io;
    const auto &g = corpus_.geometry;
    const auto n = ClusterNo(static_cast<uint32_t>((io.offset - g.clusterStart) / g.clusterBytes));
    const auto from = static_cast<uint32_t>((io.offset - g.clusterStart) % g.clusterBytes);
    memset(io.buffer, 0, io.size);
    Directory d;
    if (d.decode(front, size, n, corpus_.uuid, g.clusterBytes) != Status::ok)
        d = corpus_.directory(n);
    if (d.entries.empty())
        return;
    const auto copy = [&](const char *const bytes, const uint32_t at, const uint32_t length) {
        const auto begin = std::max(at, from);
        const auto end = std::min(at + length, from + io.size);
        if (begin < end)
            memcpy(io.buffer + (begin - from), bytes + (begin - at), end - begin);
    };
    std::vector<char> bytes(Directory::BytesFor(d.entries.size(), 0));
    d.encode(bytes.data(), bytes.size());
    copy(bytes.data(), 0, static_cast<uint32_t>(bytes.size()));
    for (const auto &e: d.entries) {
        const auto length = static_cast<uint32_t>(ExtentHeader::encodedBytes) + e.size;
        if (e.offset >= from + io.size || e.offset + length <= from)
            continue;
        bytes.resize(length);
        fillPayload(bytes.data() + ExtentHeader::encodedBytes, e.size, e.key);
        sealExtent(bytes.data(), {e.size, d.header.sequence, e.key}, corpus_.uuid, n, e.offset);
        copy(bytes.data(), e.offset, length);
    }
}

void
HollowDevice::reap()
{
    file_.poll();
    std::vector<Request *> made;
    made.swap(made_);
    for (auto *request: made)
        finish(request, Status::ok, 0);
}

void
HollowDevice::wait(const unsigned milliseconds)
{
    if (fronted_.empty() && made_.empty() && !awake_ && !hasAnswers())
        file_.wait(milliseconds);
    awake_ = false;
    for (const auto &f: fronted_) {
        make(*f.request, f.front->data(), f.size);
        made_.push_back(f.request);
    }
    fronted_.clear();
}

} // namespace ScaleBench

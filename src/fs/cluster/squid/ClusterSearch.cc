// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/layout/Superblock.h"
#include "fs/cluster/squid/ClusterSearch.h"
#include "fs/cluster/squid/SwapDir.h"

#include <algorithm>

namespace {

/// seconds between looks at a read that has not been answered
const double Soon = 0.005;

/// seconds between looks at staging
const double Settling = 0.1;

} // namespace

ClusterFs::ClusterSearch::ClusterSearch(SwapDir &dir, const UrlChoice &choice, std::function<void(const Key &)> found):
    dir_(dir),
    starts_(dir.starts()),
    choice_(choice),
    found_(std::move(found)),
    geometry_(dir.engine()->superblock()->geometry),
    uuid_(dir.engine()->superblock()->uuid)
{
    dir_.device()->watch([this](const Io &io) {
        noteWrite(io);
    });
}

ClusterFs::ClusterSearch::~ClusterSearch()
{
    if (dir_.starts() == starts_ && dir_.device())
        dir_.device()->watch(nullptr);
}

/// whether the engine is still the one that the search began with, and takes deletes; if not, the search is over
bool
ClusterFs::ClusterSearch::usable()
{
    const auto same = dir_.started() && dir_.starts() == starts_;
    if (same && dir_.engine()->state() == EngineState::serving)
        return true;
    phase_ = Phase::over;
    failure_ = "cache_dir " + std::string(dir_.path) + " is " + (same ? dir_.stateText() : "not the one that the search began with");
    return false;
}

/// looks at a cluster that the engine writes
void
ClusterFs::ClusterSearch::noteWrite(const Io &io)
{
    if (phase_ == Phase::over || io.offset < geometry_.clusterStart)
        return;
    const auto at = io.offset - geometry_.clusterStart;
    const ClusterNo c(static_cast<uint32_t>(at / geometry_.clusterBytes));
    ClusterHeader header; // parts of large objects, and blocks of the index log, have no URLs
    if (at % geometry_.clusterBytes || !Directory::Peek(io.buffer, io.size, header) || header.kind != ClusterKind::packed)
        return;
    Directory directory;
    if (directory.decode(io.buffer, io.size, c, uuid_, geometry_.clusterBytes) != Status::ok)
        return;
    for (const auto &e: directory.entries)
        lookAt(io.buffer, io.size, e);
}

/// looks at an object
/// \param cluster that it is in, of so many bytes
void
ClusterFs::ClusterSearch::lookAt(const char * const cluster, const uint64_t bytes, const DirectoryEntry &e)
{
    const auto payload = uint64_t(e.offset) + ExtentHeader::encodedBytes;
    if (payload + e.size > bytes)
        return; // damaged
    std::string url;
    if (findStoredUrl(cluster + payload, e.size, url) && choice_.matches(url))
        matches_.push_back(e.key);
}

double
ClusterFs::ClusterSearch::go()
{
    if (!usable())
        return 0;
    for (const auto &key: matches_)
        found_(key);
    matches_.clear();
    if (phase_ == Phase::settling)
        return settle();
    if (read_ && !read_->answered)
        return Soon;
    if (read_)
        return looking_ ? look() : take();

    const auto now = dir_.device()->clock().micros();
    if (now < pauseUntil_)
        return static_cast<double>(pauseUntil_ - now) / 1e6;
    if (geometry_.has(next_)) {
        begin();
        return Soon;
    }
    phase_ = Phase::settling;
    settled_ = now + uint64_t(dir_.persistSeconds()) * 1000000;
    return 0;
}

/// begins to read the next clusters
void
ClusterFs::ClusterSearch::begin()
{
    began_ = dir_.device()->clock().micros();
    const auto most = alone_ ? 1 : std::max(1U, readBytes / geometry_.clusterBytes);
    alone_ -= alone_ ? 1 : 0;
    read_ = std::make_shared<Read>();
    read_->clusters = std::min(most, geometry_.clusterCount - next_.value());
    read_->buffer = std::make_shared<Buffer>(size_t(read_->clusters) * geometry_.clusterBytes);
    looked_ = 0;
    Io io;
    io.op = IoOp::read;
    io.ioClass = IoClass::background;
    io.offset = geometry_.clusterOffset(next_);
    io.size = read_->clusters * geometry_.clusterBytes;
    io.buffer = read_->buffer->data();
    io.done = [read = read_, &clock = dir_.device()->clock()](const Status status) {
        read->answered = clock.micros();
        read->status = status;
    };
    dir_.device()->submit(std::move(io));
}

/// takes the answer of a read
double
ClusterFs::ClusterSearch::take()
{
    const auto atLeast = uint64_t(read_->clusters) * geometry_.clusterBytes * 1000000 / maxRate;
    pauseUntil_ = began_ + std::max(atLeast, 2 * (read_->answered - began_));
    if (read_->status == Status::ok) {
        open();
        return 0;
    }
    if (read_->status != Status::busy && read_->clusters == 1) {
        ++unread_;
        ++next_;
    } else if (read_->status != Status::busy) {
        alone_ = read_->clusters;
    }
    read_ = nullptr;
    return Soon;
}

/// makes the directory of a cluster that was read ready
void
ClusterFs::ClusterSearch::open()
{
    // A cluster that was written while it was read may be damaged here. noteWrite() has seen the new one, and what
    // lived in the old one had moved before.
    const auto cluster = read_->buffer->data() + size_t(looked_) * geometry_.clusterBytes;
    const auto status = directory_.decode(cluster, geometry_.clusterBytes, next_, uuid_, geometry_.clusterBytes);
    if (status != Status::ok || directory_.header.kind != ClusterKind::packed)
        directory_.entries.clear();
    entry_ = 0;
    looking_ = true;
}

/// looks at some objects of the cluster that is open
double
ClusterFs::ClusterSearch::look()
{
    const auto cluster = read_->buffer->data() + size_t(looked_) * geometry_.clusterBytes;
    for (auto left = turnObjects; left && entry_ < directory_.entries.size(); --left, ++entry_)
        lookAt(cluster, geometry_.clusterBytes, directory_.entries[entry_]);
    if (entry_ < directory_.entries.size())
        return 0;
    ++next_;
    ++looked_;
    looking_ = false;
    if (looked_ < read_->clusters)
        open();
    else
        read_ = nullptr;
    return 0;
}

/// waits until staging has packed what it held when all clusters were read
double
ClusterFs::ClusterSearch::settle()
{
    if (dir_.device()->clock().micros() >= settled_ || !dir_.engine()->stats().stagedObjects)
        phase_ = matches_.empty() ? Phase::over : phase_;
    return over() ? 0 : Settling;
}

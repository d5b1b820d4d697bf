// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/squid/ClusterSearch.h"
#include "fs/cluster/squid/EngineContext.h"
#include "fs/cluster/squid/ObjectText.h"
#include "fs/cluster/squid/SwapDir.h"
#include "fs/cluster/squid/TurnMeter.h"
#include "store/SwapMeta.h"

#include <algorithm>

static_assert(ClusterFs::swapMetaMagic == Store::SwapMetaMagic && ClusterFs::swapMetaUrl == Store::STORE_META_URL);

namespace {

/// seconds between looks at a read that has not been answered
const double Soon = 0.005;

/// bytes that swap metadata take, which have the URL and the headers that Vary names
const uint32_t UsualFront = 2048;
const uint32_t LongestFront = 1 << 18;

} // namespace

ClusterFs::ClusterSearch::ClusterSearch(SwapDir &dir, const Follows follows, TurnMeter &turns, Visitor visitor):
    dir_(dir),
    starts_(dir.starts()),
    follows_(follows),
    turns_(turns),
    visitor_(std::move(visitor)),
    geometry_(dir.engine()->superblock()->geometry),
    uuid_(dir.engine()->superblock()->uuid),
    phase_(follows == Follows::moves ? Phase::reading : Phase::staging),
    buffer_(std::make_shared<Buffer>(std::max(readBytes, geometry_.clusterBytes), Buffer::Pages::whenUsed))
{
    if (follows_ == Follows::nothing)
        return;
    notePacking();
    dir_.watch([this] { notePacking(); });
}

ClusterFs::ClusterSearch::~ClusterSearch()
{
    if (follows_ == Follows::moves)
        dir_.watch(nullptr);
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

const ClusterFs::Catalog &
ClusterFs::ClusterSearch::catalog() const
{
    return contextOf(*dir_.engine()).catalog;
}

/// Meets the objects that the engine is packing. They were chosen before their cluster got its sequence number, and leave
/// staging after the answer of the device, which comes in a later turn of the engine.
void
ClusterFs::ClusterSearch::notePacking()
{
    if (phase_ == Phase::over || !usable() || sequence_ == contextOf(*dir_.engine()).sequence)
        return;
    const TurnMeter::Turn turn(turns_);
    sequence_ = contextOf(*dir_.engine()).sequence;
    const auto &staging = catalog().staging();
    auto left = packedObjects;
    for (StageNo s{0}; s < staging.slotsTouched(); ++s) {
        if (staging[s].state != StageState::packing)
            continue;
        if (left) {
            --left;
            meetStaged(s);
        } else {
            packed_.push_back({s, staging[s].id, staging[s].key});
        }
    }
}

void
ClusterFs::ClusterSearch::meetStaged(const StageNo s)
{
    const auto &staging = catalog().staging();
    for (const auto within: {UsualFront, LongestFront}) {
        front_.resize(std::min(staging[s].size, within));
        Staging::Cursor cursor;
        front_.resize(staging.copy(s, 0, front_.data(), front_.size(), cursor));
        std::string url;
        if (findStoredUrl(front_.data(), front_.size(), url))
            return visitor_({staging[s].key, url, stagedCluster, 0});
    }
}

/// meets some of those that were too many in a turn of the engine
double
ClusterFs::ClusterSearch::meetPacked()
{
    for (auto left = turnObjects; left && !packed_.empty(); --left) {
        const auto object = packed_.back();
        packed_.pop_back();
        const auto &staged = catalog().staging()[object.stage];
        if (staged.id == object.id && staged.state != StageState::free) {
            meetStaged(object.stage);
            continue;
        }
        const auto slot = catalog().index().find(object.key);
        if (slot == noSlot)
            continue;
        const auto &record = catalog().index()[slot];
        if (record.staged())
            meetStaged(record.stage());
        else if (record.cluster < next_)
            again_.insert(record.cluster);
    }
    return 0;
}

double
ClusterFs::ClusterSearch::goOverStaging()
{
    const auto &staging = catalog().staging();
    auto left = turnObjects;
    for (auto looks = turnStages; looks && left && stage_ < staging.slotsTouched(); --looks, ++stage_) {
        const auto state = staging[stage_].state;
        if (state != StageState::complete && state != StageState::packing)
            continue;
        meetStaged(stage_);
        --left;
    }
    if (stage_ >= staging.slotsTouched())
        stagingIsOver();
    return 0;
}

void
ClusterFs::ClusterSearch::stagingIsOver()
{
    if (follows_ == Follows::nothing) {
        phase_ = Phase::reading;
    } else if (packed_.empty()) {
        phase_ = again_.empty() ? Phase::over : Phase::reading;
        stage_ = StageNo(0);
    }
}

double
ClusterFs::ClusterSearch::go()
{
    if (!usable())
        return 0;
    if (!packed_.empty())
        return meetPacked();
    if (phase_ == Phase::staging)
        return goOverStaging();
    if (!read_)
        return read();
    if (!read_->answered)
        return Soon;
    if (looking_)
        return meetClusters();
    return read_->piece ? take() : request();
}

/// begins to read the next clusters that hold objects
double
ClusterFs::ClusterSearch::read()
{
    const auto &clusters = catalog().clusters();
    const auto holds = [&clusters](const ClusterNo c) {
        return clusters[c].state == ClusterState::packed && clusters[c].live;
    };
    for (auto looks = turnClusters; geometry_.has(next_) && !holds(next_); ++next_) {
        if (!--looks)
            return 0;
    }
    if (geometry_.has(next_)) {
        const auto most = alone_ ? 1 : std::max(1U, readBytes / geometry_.clusterBytes);
        const auto first = next_;
        while (geometry_.has(next_) && next_ - first < most && holds(next_))
            ++next_;
        alone_ -= std::min(alone_, next_ - first);
        begin(first, next_ - first);
        return request();
    }
    if (!again_.empty()) {
        const auto first = *again_.begin();
        again_.erase(again_.begin());
        begin(first, 1);
        return request();
    }
    phase_ = follows_ == Follows::moves ? Phase::staging : Phase::over;
    return 0;
}

void
ClusterFs::ClusterSearch::begin(const ClusterNo first, const uint32_t count)
{
    read_ = std::make_shared<Read>();
    read_->buffer = buffer_;
    read_->first = first;
    read_->clusters = count;
    const auto end = static_cast<uint32_t>(roundUp(catalog().clusters()[first].end, dir_.device()->alignment()));
    read_->bytes = count > 1 ? count * geometry_.clusterBytes : std::min(end, geometry_.clusterBytes);
    read_->newest = contextOf(*dir_.engine()).sequence;
    read_->answered = 1; // there is no request
    looked_ = 0;
}

/// asks for the next piece of a read, when it is time
double
ClusterFs::ClusterSearch::request()
{
    const auto now = dir_.device()->clock().micros();
    if (now < pauseUntil_)
        return static_cast<double>(pauseUntil_ - now) / 1e6;
    began_ = now;
    read_->piece = std::min(readBytes, read_->bytes - read_->moved);
    read_->answered = 0;
    Io io;
    io.op = IoOp::read;
    io.ioClass = IoClass::background;
    io.offset = geometry_.clusterOffset(read_->first) + read_->moved;
    io.size = read_->piece;
    io.buffer = buffer_->data() + read_->moved;
    io.done = [read = read_, &clock = dir_.device()->clock()](const Status status) {
        read->answered = clock.micros();
        read->status = status;
    };
    dir_.device()->submit(std::move(io));
    return Soon;
}

/// takes the answer of a request
double
ClusterFs::ClusterSearch::take()
{
    const auto atLeast = uint64_t(read_->piece) * 1000000 / maxRate;
    pauseUntil_ = began_ + std::max(atLeast, 2 * (read_->answered - began_));
    if (read_->status == Status::ok) {
        read_->moved += read_->piece;
        read_->piece = 0;
        if (read_->moved == read_->bytes)
            open();
        return 0;
    }
    const auto isAgain = read_->first + read_->clusters != next_;
    if (read_->status != Status::busy && read_->clusters == 1) {
        ++unread_;
    } else if (isAgain) {
        again_.insert(read_->first);
    } else {
        alone_ += read_->status == Status::busy ? 0 : read_->clusters;
        next_ = read_->first;
    }
    read_ = nullptr;
    return Soon;
}

/// makes the directory of a cluster that was read ready
void
ClusterFs::ClusterSearch::open()
{
    const auto c = read_->first + looked_;
    const auto cluster = buffer_->data() + size_t(looked_) * geometry_.clusterBytes;
    const auto size = std::min(read_->bytes, geometry_.clusterBytes);
    const auto status = directory_.decode(cluster, size, c, uuid_, geometry_.clusterBytes);
    const auto &entry = catalog().clusters()[c];
    // Of a cluster that was written while it was read, the new objects were met in staging, and those before had moved.
    const auto isSame = entry.state == ClusterState::packed && entry.sequence <= read_->newest;
    if (status != Status::ok || directory_.header.kind != ClusterKind::packed) {
        directory_.entries.clear();
        unread_ += isSame;
    }
    entry_ = 0;
    looking_ = true;
}

/// meets some objects of the cluster that is open
double
ClusterFs::ClusterSearch::meetClusters()
{
    const auto cluster = buffer_->data() + size_t(looked_) * geometry_.clusterBytes;
    for (auto left = turnObjects; left && entry_ < directory_.entries.size(); --left, ++entry_)
        meet(cluster, directory_.entries[entry_]);
    if (entry_ < directory_.entries.size())
        return 0;
    ++looked_;
    looking_ = false;
    if (looked_ < read_->clusters)
        open();
    else
        read_ = nullptr;
    return 0;
}

/// \param cluster that the object is in
void
ClusterFs::ClusterSearch::meet(const char * const cluster, const DirectoryEntry &e)
{
    const auto payload = uint64_t(e.offset) + ExtentHeader::encodedBytes;
    if (payload + e.size > std::min(read_->bytes, geometry_.clusterBytes))
        return; // damaged
    std::string url;
    if (findStoredUrl(cluster + payload, e.size, url))
        visitor_({e.key, url, read_->first + looked_, e.offset});
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The checkpoint daemon. */

#include "fs/cluster/recovery/Checkpointer.h"

#include "fs/cluster/base/Messages.h"
#include "fs/cluster/recovery/SuperblockFile.h"

#include <algorithm>

namespace ClusterFs {
namespace {
constexpr uint64_t superblockMicros = 60000000; ///< for its write and the flush after it
constexpr double journalShare = 0.5; ///< of the journal that may be used before a checkpoint is due
constexpr uint64_t retryMicros = 10000000; ///< between tries when they fail
constexpr uint32_t logShare = 3; ///< the log is to hold that many times what there is to say
} // namespace
} // namespace ClusterFs

ClusterFs::Checkpointer::Checkpointer(StoreContext &context, Journal &journal, LearnedGroups &learned, const Superblock &superblock):
    context_(context),
    journal_(journal),
    superblock_(superblock),
    log_(context.geometry, superblock),
    groups_(context, learned),
    io_(context, std::max(LogWriter::blocksInPiece * indexBlockBytes, groupsChunkBytes)),
    tried_(context.clock.micros())
{
}

void
ClusterFs::Checkpointer::beBrief()
{
    brief_ = true;
    if (checkpoint_)
        checkpoint_->beBrief();
}

void
ClusterFs::Checkpointer::poll()
{
    if (held_ || !context_.recovered || context_.health.level != Health::Level::good)
        return;
    if (!running()) {
        checkpoint_.reset();
        if (!due())
            return;
        ++runs_;
        begin();
    }
    checkpoint_->poll();
    if (checkpoint_->state() == Checkpoint::State::givenUp) {
        begin();
        checkpoint_->poll();
    }
}

bool
ClusterFs::Checkpointer::due()
{
    const auto since = context_.clock.micros() - tried_;
    const bool time = since >= uint64_t(context_.config.checkpoint) * 1000000 && context_.catalog.changes().any();
    const bool space = journal_.used() >= journalShare && (!lastFailed_ || since >= retryMicros);
    waiting_ = requested_ || time || space;
    // An object may be deleted while its cluster is being written. The journal
    // before this checkpoint says so, but only that of later ones is sure to
    // be read: begin when nothing is being written.
    return waiting_ && !context_.catalog.clusters().inState(ClusterState::writing);
}

/// The log must hold all there is to say, twice, and what changes in one turn of it.
void
ClusterFs::Checkpointer::askForRoom() const
{
    const auto &catalog = context_.catalog;
    const auto &g = context_.geometry;
    const auto inUse = catalog.clusters().inState(ClusterState::packed) + catalog.clusters().inState(ClusterState::part);
    const auto bytes = catalog.index().linked() * IndexObject::Bytes(catalog.index().keepsKeys()) +
                       uint64_t(inUse) * 2 * IndexSection::encodedBytes;
    const auto wanted = logShare * (bytes / (IndexBlock::capacity() * 9 / 10) + 8);
    if (wanted <= g.logBlocks)
        return;
    const auto clusters = (wanted - g.logBlocks) / (g.clusterBytes / indexBlockBytes) + 1;
    context_.logClustersWanted = std::max(context_.logClustersWanted, static_cast<uint32_t>(std::min<uint64_t>(clusters, g.clusterCount / 2)));
}

void
ClusterFs::Checkpointer::begin()
{
    requested_ = waiting_ = false;
    tried_ = context_.clock.micros();
    askForRoom();
    checkpoint_.emplace(context_, journal_, log_, groups_, io_, superblock_, [this](const Status status) { ended(status); });
    if (brief_)
        checkpoint_->beBrief();
}

void
ClusterFs::Checkpointer::ended(const Status status)
{
    if (status == Status::ok) {
        superblock_ = checkpoint_->superblock();
        lastFailed_ = false;
        ++completed_;
        completedAt_ = context_.clock.micros();
        return;
    }
    ++context_.counters.checkpointErrors;
    if (!lastFailed_)
        say<Message::checkpointFailed>(context_.log, statusText(status));
    lastFailed_ = true;
    if (status != Status::full)
        context_.health.writeDone(status, context_.log);
}

ClusterFs::Status
ClusterFs::Checkpointer::superblockNow(const bool clean, const uint64_t maxMicros)
{
    const auto deadline = context_.clock.micros() + maxMicros;
    auto newer = superblock_;
    newer.clean = clean;
    newer.lastSequence = context_.sequence;
    newer.written = context_.written();
    ++newer.update;
    const auto buffer = std::make_shared<Buffer>(superblockBytes);
    newer.encode(buffer->data());
    const auto left = [&] {
        const auto now = context_.clock.micros();
        return static_cast<unsigned>(now < deadline ? (deadline - now) / 1000 : 0);
    };
    auto status = doAndWait(context_.device, IoOp::write, superblockOffset(newer.update), buffer, superblockBytes, left());
    if (status == Status::ok)
        status = doAndWait(context_.device, IoOp::flush, 0, nullptr, 0, left());
    if (status == Status::ok)
        superblock_ = newer;
    return status;
}

ClusterFs::Status
ClusterFs::Checkpointer::writeCleanSuperblock(const uint64_t maxMicros)
{
    return superblockNow(true, maxMicros);
}

ClusterFs::Status
ClusterFs::Checkpointer::writeDirtySuperblock()
{
    return superblockNow(false, superblockMicros);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Replacing the first bytes of an object. */

#include "fs/cluster/objects/HeadReplacer.h"

#include <algorithm>
#include <cassert>

ClusterFs::HeadReplacer::HeadReplacer(StoreContext &context, WriterGroup &writers, std::unique_ptr<ObjectReader> reader, Task task):
    context_(context),
    writers_(writers),
    reader_(std::move(reader)),
    task_(std::move(task))
{
}

void
ClusterFs::HeadReplacer::Start(StoreContext &context, WriterGroup &writers, std::unique_ptr<ObjectReader> reader, Task task)
{
    const auto me = std::make_shared<HeadReplacer>(context, writers, std::move(reader), std::move(task));
    if (me->moves())
        writers.moves.begin(me->task_.newKey);
    // in the next turn: done must not be called before this returns
    context.later.emplace_back([me] { me->collect(); });
}

void
ClusterFs::HeadReplacer::collect()
{
    const uint64_t front = reader_->frontBytes();
    if (task_.oldHeadSize > front) {
        finish(Status::unsupported); // the old head goes on in the parts
        return;
    }
    char piece[16 * 1024];
    for (;;) {
        const auto offset = task_.oldHeadSize + rest_.size();
        if (offset >= front)
            break;
        const auto n = reader_->copy(offset, piece, std::min<uint64_t>(sizeof(piece), front - offset));
        if (n <= 0) {
            const auto me = shared_from_this();
            reader_->fetch(offset, [me](const Status status) {
                if (status == Status::ok)
                    me->collect();
                else
                    me->finish(status);
            });
            return;
        }
        rest_.append(piece, static_cast<size_t>(n));
    }
    finish(store());
}

ClusterFs::Status
ClusterFs::HeadReplacer::store()
{
    auto &catalog = context_.catalog;
    auto &staging = catalog.staging();
    const auto slot = catalog.index().find(task_.key);
    if (slot == noSlot || !reader_->reads(slot))
        return Status::notFound; // deleted or replaced meanwhile
    if (moves() && writers_.moves.changed(task_.newKey))
        return Status::notFound;
    const auto &old = catalog.index()[slot];
    if (old.staged() && staging[old.stage()].state != StageState::complete)
        return Status::busy; // on its way to the device

    if (!old.staged() && catalog.index().full())
        return Status::full; // the old version keeps its record until its cluster is free

    const auto firstPart = old.parted() ? old.firstPart() : noCluster;
    if (firstPart != noCluster && moves())
        return Status::unsupported;
    size_t parts = 0;
    uint64_t total = task_.newHead.size() + rest_.size();
    const auto front = total;
    for (auto c = firstPart; c != noCluster; c = catalog.clusters()[c].nextPart) {
        ++parts;
        total += catalog.clusters()[c].end - partPayloadAt;
    }
    if (roundUp(Directory::BytesFor(1, parts), extentAlignment) + ExtentHeader::encodedBytes + front + extentAlignment >
            context_.geometry.clusterBytes)
        return Status::unsupported;
    if (front + Staging::chunkBytes > staging.bytesFree())
        return Status::busy;

    auto info = task_.info;
    info.flags &= flagsOfCaller;
    info.size = total;
    const auto stage = staging.open(task_.newKey, info);
    if (stage == noStage)
        return Status::busy;
    if (!staging.append(stage, task_.newHead.data(), task_.newHead.size()) ||
            !staging.append(stage, rest_.data(), rest_.size())) {
        staging.drop(stage);
        return Status::busy;
    }
    staging.close(stage, total, context_.heatOf(1));
    if (firstPart != noCluster) {
        catalog.disownParts(slot);
        catalog.putHead(stage, firstPart);
        ++context_.newHeads;
    }
    const auto status = writers_.publish(stage);
    if (status != Status::ok) {
        staging.drop(stage);
        if (firstPart != noCluster)
            catalog.freeParts(firstPart);
        return status;
    }
    staging.complete(stage, context_.clock.micros());
    writers_.packing.noteComplete(stage);
    context_.counters.headUpdates += !moves();
    return Status::ok;
}

void
ClusterFs::HeadReplacer::finish(const Status status)
{
    reader_.reset();
    if (moves())
        writers_.moves.end(task_.newKey);
    const auto done = std::move(task_.done);
    task_.done = nullptr;
    if (done)
        done(status);
}

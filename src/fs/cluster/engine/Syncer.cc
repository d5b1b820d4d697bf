// SPDX-License-Identifier: GPL-2.0-or-later
/* Having what is stored on the disk now. */

#include "fs/cluster/engine/Syncer.h"

#include <iterator>
#include <utility>

ClusterFs::Syncer::Syncer(StoreContext &context, Journal &journal, Packer &packer):
    context_(context),
    journal_(journal),
    packer_(packer)
{
}

void
ClusterFs::Syncer::begin(std::function<void(Status)> done)
{
    Sync sync;
    const auto &staging = context_.catalog.staging();
    for (StageNo s{0}; s < staging.slotsTouched(); ++s) {
        const Awaited object{s, staging[s].id};
        if (isStaged(object))
            sync.objects.push_back(object);
    }
    sync.ticket = journal_.issued();
    sync.done = std::move(done);
    syncs_.push_back(std::move(sync));
    packer_.packAll(true);
    journal_.hurry();
    context_.device.pollAgain();
}

/// whether it is finished, and its bytes are not all on the device
bool
ClusterFs::Syncer::isStaged(const Awaited &object) const
{
    const auto &o = context_.catalog.staging()[object.stage];
    if (o.id != object.id)
        return false;
    // an object whose parts are still being written is finished, and not complete
    return o.state == StageState::complete || o.state == StageState::packing || (o.state == StageState::writing && o.record != noSlot);
}

void
ClusterFs::Syncer::poll()
{
    if (stopped_ || syncs_.empty())
        return;
    if (context_.health.level != Health::Level::good) {
        refuseAll(context_.health.level == Health::Level::gone ? Status::offline : Status::ioError);
        return;
    }
    bool packs = false;
    for (auto i = syncs_.begin(); i != syncs_.end(); ++i)
        packs = advance(i) || packs;
    packer_.packAll(packs);
}

/// \returns whether it still waits for packing
bool
ClusterFs::Syncer::advance(const std::list<Sync>::iterator sync)
{
    if (sync->step == Step::pack) {
        while (!sync->objects.empty() && !isStaged(sync->objects.back()))
            sync->objects.pop_back();
        if (!sync->objects.empty())
            return true;
        sync->step = Step::record;
    }
    // the journal idles without having written all when it had to drop records
    if (sync->step == Step::record && (journal_.written() >= sync->ticket || journal_.idle()))
        flush(sync);
    return false;
}

void
ClusterFs::Syncer::flush(const std::list<Sync>::iterator sync)
{
    sync->step = Step::flush;
    Io io;
    io.op = IoOp::flush;
    io.ioClass = IoClass::urgent; // somebody waits
    const auto alive = context_.alive;
    io.done = [this, alive, sync](const Status status) {
        if (!*alive)
            return;
        context_.health.writeDone(status, context_.log);
        const auto done = std::move(sync->done);
        syncs_.erase(sync);
        done(status);
    };
    context_.device.submit(std::move(io));
}

/// Answers all calls but those whose flush is under way, which has an answer of its own.
void
ClusterFs::Syncer::refuseAll(const Status status)
{
    std::list<Sync> refused;
    for (auto i = syncs_.begin(); i != syncs_.end();) {
        const auto next = std::next(i);
        if (i->step != Step::flush)
            refused.splice(refused.end(), syncs_, i);
        i = next;
    }
    packer_.packAll(false);
    for (const auto &sync: refused)
        sync.done(status);
}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Mistakes that the tests must notice: each takes one safeguard out of the engine."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutant:
    """before occurs in file exactly once and becomes after. file: below src/fs/cluster. tests: the unit tests that must
    notice it (a filter of GoogleTest's); without, random worlds must."""
    name: str
    file: str
    before: str
    after: str
    tests: str = ""


MUTANTS = (
    # bytes
    Mutant("extents-unchecked", "layout/Cluster.cc",
           "    return crc == wanted ? Status::ok : Status::corrupt;\n", "    return Status::ok;\n"),
    Mutant("extents-of-an-older-cluster", "layout/Cluster.cc", "size != expected.size || sequence != expected.sequence ||",
           "size != expected.size ||",
           tests="ClusterFormat.*"),
    Mutant("directories-unchecked", "layout/Cluster.cc", "    if (crc.u32() != frontCrc(buffer, used) || header.number", "    if (header.number",
           tests="ClusterFormat.*"),
    Mutant("superblocks-unchecked", "layout/Superblock.cc", "    if (tail.u32() != crc32c(buffer, crcAt)) {", "    if (false) {",
           tests="Superblock.*"),
    Mutant("parts-unchecked", "reading/ObjectReader.cc",
           "    return crc == h.payloadCrc ? Status::ok : Status::corrupt;\n", "    return Status::ok;\n"),
    Mutant("empty-objects-unchecked", "reading/ObjectReader.cc", "    return !writing_ && stage_ == noStage && !size_ && !offset;\n",
           "    return false;\n", tests="EngineError.anObjectWithoutBytes*"),
    Mutant("another-key-with-the-same-tag", "reading/ObjectReader.cc", "    return owner == key_ ? Status::ok : Status::notFound;\n",
           "    return Status::ok;\n", tests="EngineReader.*"),
    Mutant("another-staged-key-with-the-same-tag", "engine/Core.cc",
           "    if (r.staged() && shared.catalog.staging[r.place].key != key)\n        return noSlot;\n", "", tests="Engine.*:EngineReader.*"),
    Mutant("carried-unchecked", "replacement/Carrier.cc",
           "checkExtent(extent, Catalog::ExtentBytes(w.payload), header, shared_.uuid, c, w.offset) != Status::ok", "false"),
    Mutant("carried-under-another-key", "replacement/Carrier.cc", "    if (catalog.index.find(header.key) != w.slot ||\n            ", "    if (",
           tests="WritingTest.carrier*"),
    Mutant("older-large-copies-lose-their-parts", "recovery/Findings.cc", "        if (partsAreHere(o))\n            link(o); // it may have to come back\n", "",
           tests="FindingsTest.aLargeCopy*"),
    Mutant("placed-though-deleted", "writing/Packer.cc",
           "        if (!item.offset || o.id != item.id || o.state != StageState::packing)\n            continue; // deleted while it was being written, or before\n", ""),
    Mutant("packed-though-deleted-before", "writing/Packer.cc",
           "    if (o.id != item.id || o.state != StageState::packing)\n        return; // deleted since it was chosen\n", "", tests="*PackingTurns.*"),
    Mutant("clusters-reused-while-read", "index/Catalog.cc", "    if (!c.pins)\n        makeFree(n);\n", "    makeFree(n);\n"),
    Mutant("parts-reused-while-read", "writing/ObjectWriter.cc", "        o.firstPart = c;\n        pinParts();\n", "        o.firstPart = c;\n",
           tests="EngineReader.*"),
    # order on the device
    Mutant("one-superblock", "recovery/Checkpointer.cc", "superblockOffset(newer_.update), superblockBytes);\n}\n\nvoid\n",
           "superblockOffset(0), superblockBytes);\n}\n\nvoid\n"),
    Mutant("superblock-before-its-checkpoint", "recovery/Checkpointer.cc",
           "        step_ = Step::superblock;\n        submit(IoOp::flush, 0, 0);\n", "        step_ = Step::superblock;\n        next();\n"),
    Mutant("used-before-announced", "writing/Allocator.cc", "        if (a.ticket > journal_.written())\n            break;\n", "",
           tests="WritingTest.allocator*"),
    Mutant("packed-but-not-flushed", "engine/Core.cc", "    shared.device.submit(std::move(io));\n", "    io.done(Status::ok);\n"),
    Mutant("no-flush-owed", "writing/Packer.cc", "    dirty_ = true;\n", ""),
    Mutant("packed-though-refused", "writing/Packer.cc", "        failed(pack);\n        return;\n", ""),
    Mutant("whole-before-its-parts", "writing/ObjectWriter.cc",
           "    if (!o.writesInFlight) {\n        shared.catalog.staging.complete", "    if (true) {\n        shared.catalog.staging.complete"),
    Mutant("whole-though-a-part-failed", "writing/ObjectWriter.cc", "        object->failed = object->broken = true; // an unfinished writer notices at its next call\n", "",
           tests="EngineReader.*:EngineError.*"),
    Mutant("carried-from-clusters-reused-at-once", "replacement/Carrier.cc",
           "    if (shared_.catalog.clusters[c].carried > 1)\n        return; // not only ours\n", ""),
    # deletes
    Mutant("deletes-not-logged", "recovery/Journal.cc", "    ++shared_.counters.journalDeletes;\n    add(record);\n",
           "    ++shared_.counters.journalDeletes;\n"),
    Mutant("deletes-not-remembered", "recovery/Findings.cc",
           "    if (removed(logged.hashed, catalog.clusters[r.cluster].sequence)) {\n        reject(r);\n        return;\n    }\n", ""),
    Mutant("deletes-not-in-the-index-log", "index/Changes.cc", "        gone_.push_back({n, offset});\n", "        (void)offset;\n"),
    Mutant("index-log-forgets-too-early", "recovery/IndexLog.cc", "    if (anew_)\n        return start_;\n    auto oldest",
           "    if (attempt_.blocks)\n        return start_;\n    auto oldest"),
    Mutant("deletes-not-flushed", "recovery/Journal.cc", "    busy_ = true;\n    flushOwed_ = false;\n    releaseAtRisk_ = 0;",
           "    releaseAtRisk_ = 0;\n    return;"),
    Mutant("failed-flushes-not-repeated", "recovery/Journal.cc", "            flushOwed_ = true;\n", "", tests="WritingTest.aFlush*"),
    Mutant("parts-before-their-announcement", "writing/WriterGroup.cc", "    if (waiting_.empty() && ticket <= journal->written())\n", "    if (waiting_.empty() || ticket <= journal->written())\n", tests="WritingTest.parts*"),
    Mutant("doubt-not-written", "writing/Packer.cc", "flagsOfCaller | flagDoubtful;", "flagsOfCaller;", tests="WritingTest.packer*"),
    Mutant("unreadable-objects-not-logged", "engine/Core.cc", "    shared.onUnreadable = [this](const Key &key) { journal.removal(key, shared.sequence); };\n", "", tests="EngineError.whatCouldNotBeRead*"),
    Mutant("deletes-wait-for-the-end-of-a-start", "engine/Core.cc", "    if (recovery.knowsJournal()) //", "    if (recovery.done()) //",
           tests="EngineReturn.*"),
    Mutant("deletes-forgotten-by-a-start", "engine/Core.cc", "    recovery.removedNow(key);\n", ""),
    Mutant("unknown-deletes-not-logged", "engine/Core.cc", "    if (slot != noSlot || shared.mayReturn())\n        journal.removal", "    if (slot != noSlot)\n        journal.removal",
           tests="EngineReturn.*"),
    Mutant("unknown-replacements-not-logged", "writing/WriterGroup.cc", "    if (older != noSlot || shared.mayReturn())\n", "    if (older != noSlot)\n",
           tests="EngineReturn.*"),
    Mutant("evicted-copies-forgotten", "replacement/Evictor.cc",
           "(carrier_.copied(l.cluster) || shared_.leftBehind.mayConcern(entry.sequence))", "(carrier_.copied(l.cluster))", tests="EngineReturn*"),
    Mutant("older-copies-forgotten", "replacement/Carrier.cc", "            shared_.leftBehind.note(found->since);\n", "            ;\n", tests="EngineReturn*"),
    # what must be kept
    Mutant("room-without-need", "replacement/Evictor.cc", " && leaving_.empty() && isShort(); ++n", " && leaving_.empty(); ++n"),
    Mutant("unreadable-places-spoil-whole-objects", "replacement/Evictor.cc", "        l->oneByOne = status != Status::ok && isThere &&", "        l->oneByOne = false && isThere &&", tests="EngineError.aClusterThatIsPutOutOfUse*"),
    Mutant("whole-objects-go-with-damaged-ones", "replacement/Evictor.cc", "    if (!fits(c) || (hasRoomFor(entry.liveBytes) && !carrier_.full()))\n        evict(c);\n", "    finish(c);\n",
           tests="EngineError.aClusterThatIsPutOutOfUse*"),
    # what a start reads, and what it says
    Mutant("older-copies-are-read-whole", "recovery/Findings.cc", "            span_.from = std::min(span_.from, from);\n", "            span_.from = 0 * from;\n", tests="FindingsTest.*"),
    Mutant("a-start-ends-in-one-turn", "recovery/Findings.cc", "        if (nextToFinish_ < catalog.clusters.count() && !goOn())\n            return false;\n", "", tests="UseOrder.*"),
    Mutant("use-by-a-clock-that-goes-round", "recovery/Findings.cc", "shared_.sequence - c.sequence : shared_.sequence - c.heat));", "~c.sequence : ~c.heat));", tests="FindingsTest.*"),
    Mutant("torn-clusters-uncounted", "recovery/Recovery.cc", "    stats_.clustersTorn += !isWhole && isBegun;\n", "    (void)isBegun;\n", tests="EngineLoss.*"),
    Mutant("forgotten-objects-count-as-lost", "recovery/Findings.cc", "!o.doubtful && !wasGivenUp(o);", "!o.doubtful;", tests="EngineLoss.*"),
    Mutant("a-hole-in-the-journal-uncounted", "recovery/Recovery.cc", "            lost = i + 1;\n", "            ;\n", tests="EngineLoss.*"),
    # checkpoints
    Mutant("checkpoints-of-an-idle-store", "recovery/Checkpointer.cc", " * 1000000 && shared_.catalog.changes.any();", " * 1000000;", tests="Checkpointer.*"),
    Mutant("a-stop-names-all", "recovery/Checkpointer.cc", "    turnDone_ = anew_ || brief_;", "    turnDone_ = anew_;", tests="Checkpointer.*"),
    Mutant("the-log-stops-at-a-bad-cluster", "replacement/Evictor.cc", "c.state == ClusterState::bad && shared_.geometry", "false && shared_.geometry", tests="EngineSpace.*"),
    # waiting
    Mutant("a-cluster-is-packed-in-one-turn", "writing/Packer.cc", "    objects_ = turnObjects;\n", "    objects_ = ~0U;\n",
           tests="PackingTurns.*"),
    Mutant("reads-wait-for-writes", "reading/ReadCache.cc", "    window->writing = true;\n    writingBytes_ += window->buffer->size();\n", "", tests="ReadCacheTest.*"),
    Mutant("no-next-part-when-memory-is-full", "reading/ReadCache.cc", "    evict(size, false);\n    if (counted() + size > limit_)\n", "    if (counted() + size > limit_)\n",
           tests="EngineReader.*"),
    Mutant("reads-wait-for-an-idle-device", "reading/ReadCache.cc", "    return device_.queued() < queuedMost && makeRoom(load.size);\n",
           "    return !device_.inFlight() && makeRoom(load.size);\n"),
    Mutant("a-page-takes-all-turns", "reading/Prefetcher.cc", "    return !device.queued() && device.inFlight() < std::max(1U, device.depth() / 2);\n", "    return true;\n", tests="Prefetch.*"),
    # limits
    Mutant("all-parts-of-many-objects-go-at-once", "index/Catalog.cc", "        records -= std::min(records, 1 + parts - clusters.inState(ClusterState::part));\n", "        records -= parts >= clusters.inState(ClusterState::part);\n", tests="PartsLeave.*"),
    Mutant("arrivals-of-what-is-gone-stay", "writing/Packer.cc", "    if (arrivals_.size() >= 2 * size_t(staging.objects()) + arrivalsSpare) {\n", "    if (false) {\n", tests="WritingTest.packerRemembers*"),
    Mutant("each-start-renews-the-budget-of-regrouping", "locality/Regrouper.cc", "std::min(shared_.catalog.liveBytes(), startClusters * shared_.geometry.clusterBytes);", "shared_.catalog.liveBytes() + 0 * startClusters;", tests="RegroupingBudget.*"),
    Mutant("a-full-queue-is-a-bad-disk", "device/Device.cc", "        return refuse(io, Status::busy, 0);\n", "        return refuse(io, Status::ioError, 0);\n", tests="DeviceTest.fullQueue*"),
    Mutant("a-cluster-of-memory-for-each-slow-object", "writing/ObjectWriter.cc", "    auto size = std::max(has, leastFilling);\n", "    auto size = std::max<uint64_t>(has, group_.shared.geometry.clusterBytes);\n", tests="EngineSlow.*"),
    Mutant("memory-of-large-objects-uncounted", "writing/WriterGroup.cc", "    while (fillingBytes_ + bytes > most) {\n", "    while (false) {\n", tests="EngineSlow.*"),
    Mutant("slow-objects-hold-all-of-staging", "writing/ObjectWriter.cc", "    if (held <= staging.bytesLimit() / 2)\n        return true;\n", "    return true;\n", tests="EngineSlow.*"),
    Mutant("drips-never-make-way", "writing/WriterGroup.cc", "        if (!giveWay(nullptr, idleMicros) && !slowGivesWay())\n", "        if (!giveWay(nullptr, idleMicros))\n", tests="EngineSlow.*"),
    Mutant("slow-objects-never-make-way", "writing/WriterGroup.cc", "    makeWay();\n    const bool lost", "    const bool lost", tests="EngineSlow.*"),
)

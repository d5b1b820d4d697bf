# SPDX-License-Identifier: GPL-2.0-or-later
"""Mistakes that the simulation must notice: each takes one safeguard out of the engine."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutant:
    """before occurs in file exactly once and becomes after. file: below src/fs/cluster."""
    name: str
    file: str
    before: str
    after: str


MUTANTS = (
    Mutant("extents-unchecked", "layout/Cluster.cc",
           "    return crc == wanted ? Status::ok : Status::corrupt;\n", "    return Status::ok;\n"),
    Mutant("parts-unchecked", "reading/ObjectReader.cc",
           "    return crc == h.payloadCrc ? Status::ok : Status::corrupt;\n", "    return Status::ok;\n"),
    Mutant("one-superblock", "recovery/Checkpointer.cc", "superblockOffset(newer_.update), superblockBytes);\n}\n\nvoid\n",
           "superblockOffset(0), superblockBytes);\n}\n\nvoid\n"),
    Mutant("superblock-before-its-checkpoint", "recovery/Checkpointer.cc",
           "        step_ = Step::superblock;\n        submit(IoOp::flush, 0, 0);\n", "        step_ = Step::superblock;\n        next();\n"),
    Mutant("deletes-not-logged", "recovery/Journal.cc", "    ++shared_.counters.journalDeletes;\n    add(record);\n",
           "    ++shared_.counters.journalDeletes;\n"),
    Mutant("deletes-not-remembered", "recovery/Findings.cc", "    if (removed(record.bucket, record.tag, c.sequence))\n        return;\n", ""),
    Mutant("deletes-not-flushed", "recovery/Journal.cc", "    busy_ = true;\n    flushOwed_ = false;\n    releaseAtRisk_ = 0;",
           "    releaseAtRisk_ = 0;\n    return;"),
    Mutant("packed-but-not-flushed", "engine/Core.cc", "    shared.device.submit(std::move(io));\n", "    io.done(Status::ok);\n"),
    Mutant("clusters-reused-while-read", "index/Catalog.cc", "    if (!c.pins)\n        makeFree(n);\n", "    makeFree(n);\n"),
    Mutant("carried-from-clusters-reused-at-once", "replacement/Carrier.cc",
           "    if (shared_.catalog.clusters[c].carried > 1)\n        return; // not only ours\n", ""),
)

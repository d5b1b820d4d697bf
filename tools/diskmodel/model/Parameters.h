// SPDX-License-Identifier: GPL-2.0-or-later
/* What a modelled disk is like. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_MODEL_PARAMETERS_H
#define CLUSTERFS_TOOLS_DISKMODEL_MODEL_PARAMETERS_H

#include "tools/base/Json.h"

#include <string>

namespace DiskModel {

using namespace Tools;

enum class Kind { hdd, ssd, fast };

/// A named model and its numbers. All of them are kept for every model; those
/// that do not belong to its kind mean nothing.
struct Parameters {
    std::string model = "fast"; ///< hdd, hdd10k, ssd or fast
    Kind kind = Kind::fast;

    double rpm = 7200; ///< revolutions a minute
    double seekMin = 0.6; ///< milliseconds to the next track
    double seekMax = 8.85; ///< milliseconds across the whole disk
    double rate = 120; ///< MB/s under the head at the outer edge
    double zone = 0.33; ///< share of the rate that is lost at the inner edge
    double stroke = 1; ///< share of the platter that the device covers, from outside
    double ncq = 32; ///< commands of which the drive chooses the next
    double readAhead = 1024; ///< KB that the head reads on by itself; 0 = none
    double segments = 16; ///< of the read cache
    double writeCache = 32768; ///< KB; 0 = writes wait for the platter
    double interfaceRate = 300; ///< MB/s between drive and host
    double overhead = 60; ///< microseconds for each command

    double readLatency = 80; ///< microseconds
    double writeLatency = 50; ///< microseconds; a flush takes twice that
    double readIops = 20000; ///< at most
    double writeIops = 15000;
    double readBandwidth = 400; ///< MB/s of the bus that all requests share
    double writeBandwidth = 300;
    double jitter = 0.1; ///< latencies vary by this share either way
    double floor = 0; ///< microseconds taken off, for what the plumbing itself costs

    double spin = 0; ///< microseconds before an event in which the program does not sleep
    double seed = 1; ///< of the jitter

    /// a model with its own numbers \throws BadRequest
    static Parameters Of(const std::string &model);

    /// These numbers, changed by "name=value,name=value". "model=" changes all
    /// the others and comes first. \throws BadRequest with the names that exist
    Parameters with(const std::string &settings) const;

    /// the values that matter to this model
    Json json() const;

    /// the names, with units, defaults and what they mean, a line each
    static std::string Help();
};

} // namespace DiskModel

#endif

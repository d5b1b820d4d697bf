// SPDX-License-Identifier: GPL-2.0-or-later
/* A small flash drive. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_MODEL_SSDMODEL_H
#define CLUSTERFS_TOOLS_DISKMODEL_MODEL_SSDMODEL_H

#include "tools/diskmodel/model/Model.h"

#include <random>

namespace DiskModel {

/// Latency with jitter, a limit of requests a second for reads and one for
/// writes, and a bus that all of them share. No garbage collection, no wear.
class SsdModel : public Model
{
public:
    SsdModel(const Parameters &, Completions &, MediaCounters &);

    void submit(Request &) override;

private:
    Nanos latency(bool write);

    Parameters parameters_;
    Completions &completions_;
    MediaCounters &counters_;
    std::mt19937_64 random_;
    Nanos readSlot_ = 0; ///< before this, no other read may begin
    Nanos writeSlot_ = 0;
    Nanos busFree_ = 0;
};

} // namespace DiskModel

#endif

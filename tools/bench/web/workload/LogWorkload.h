// SPDX-License-Identifier: GPL-2.0-or-later
/* Replay of a real log. */

#ifndef CLUSTERFS_BENCH_WEB_WORKLOAD_LOGWORKLOAD_H
#define CLUSTERFS_BENCH_WEB_WORKLOAD_LOGWORKLOAD_H

#include "tools/bench/web/workload/Workload.h"
#include "tools/replay/LogFile.h"

#include <utility>

namespace WebBench {

using namespace Replay;

/// Each visit is one request of the log. An object's URL is made of its size
/// and a hash of its real one.
class LogWorkload: public Workload
{
public:
    /// \param users how many there are; the log's clients are spread over them
    LogWorkload(Log log, uint32_t users): log_(std::move(log)), users_(users) {}

    std::optional<uint32_t> nextUser() const override;
    Nanos nextTime() const override;
    bool next(uint32_t user, Visit &) override;
    CorpusTotals totals() const override;

    const Log &log() const { return log_; }

private:
    std::string path(uint32_t object) const;
    bool ended() const { return at_ == log_.entries.size(); }

    Log log_;
    uint32_t users_;
    size_t at_ = 0; ///< the next entry
};

} // namespace WebBench

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the workload that the command line describes. */

#ifndef CLUSTERFS_BENCH_WEB_WORKLOAD_FACTORY_H
#define CLUSTERFS_BENCH_WEB_WORKLOAD_FACTORY_H

#include "tools/bench/web/corpus/Fitted.h"
#include "tools/bench/web/workload/LogWorkload.h"
#include "tools/bench/web/workload/PagesWorkload.h"

#include <memory>
#include <string>

namespace Tools {
class CommandLine;
}

namespace WebBench {

using namespace Tools;

/// The options that say what is asked for. Numbers that are 0 and texts that
/// are empty stand for the default of the workload.
class WorkloadSettings
{
public:
    std::string workload = "pages";
    uint64_t seed = 1;

    /// adds the options
    void declare(CommandLine &);

    /// \param users how many there will be
    /// \returns nothing, with the reason in error
    std::unique_ptr<Workload> make(const CommandLine &, uint32_t users, std::string &error) const;

    bool isLog() const { return workload == "log"; }
    bool isOnce() const { return order_ == "once"; }

private:
    void declarePages(CommandLine &);
    bool fits(const CommandLine &, std::string &error) const;
    Chooser::Config choice(const CommandLine &) const;
    std::unique_ptr<PagesWorkload> makePages(const CommandLine &, std::string &error) const;
    std::unique_ptr<Corpus> makeCorpus(const CommandLine &, std::string &error) const;
    std::unique_ptr<Workload> makeFlood(const CommandLine &, std::string &error) const;
    std::unique_ptr<Workload> makeSingles(const CommandLine &) const;
    std::unique_ptr<Workload> makeLog(uint32_t users, std::string &error) const;
    bool isPages() const { return workload == "pages"; }
    double perPage() const;
    uint64_t population() const;

    uint64_t corpusSeed_ = 1;
    std::string order_;
    double zipf_ = 0.8;
    double drift_ = 0;
    double objects_ = 0;

    // pages
    uint64_t sites_ = 100;
    uint64_t pages_ = 50;
    uint64_t corpusBytes_ = 0;
    std::string trace_;
    double pageBytes_ = 570000;
    double context_ = Fitted::recordedSharedShare;
    double revisit_ = 0;
    double change_ = 0;
    double flood_ = 0.5;

    // single objects
    uint64_t objectBytes_ = 0;
    uint64_t minBytes_ = 1 << 20;
    uint64_t maxBytes_ = 64 << 20;

    // logs
    std::string log_;
    Log::Options logOptions_;
};

} // namespace WebBench

#endif

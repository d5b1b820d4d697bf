// SPDX-License-Identifier: GPL-2.0-or-later
/* The experiments by name. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_EXPERIMENTS_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_EXPERIMENTS_H

#include "Options.h"
#include "Trace.h"

#include <functional>

namespace Papers {

/// something that the program can do
struct Experiment {
    const char *name;
    const char *help; ///< a line
    void (*declare)(CommandLine &, Options &);
    /// runs it. \returns whether all that was read was right
    bool (*run)(const Options &, Json &);
};

/// the trace that the option "trace" names, or else the one that is made
Trace givenTrace(const Options &, const std::function<Trace()> &make);

/* one for each source file */
extern const Experiment hummingbirdExperiment;
extern const Experiment describeExperiment;
extern const Experiment cfsExperiment;
extern const Experiment cfsDayExperiment;
extern const Experiment dameloExperiment;
extern const Experiment tfsExperiment;
extern const Experiment bandwidthExperiment;

} // namespace Papers

#endif

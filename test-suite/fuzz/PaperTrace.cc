// SPDX-License-Identifier: GPL-2.0-or-later
/* Traces for the experiments of the papers. */

#include "test-suite/fuzz/TextFile.h"

#include "tools/bench/papers/Trace.h"

using namespace Papers;

namespace Fuzz {
namespace {

void
run(Input in)
{
    const TextFile file(takeRest(in));
    Trace trace;
    std::string error;
    if (!trace.load(file.path(), error)) {
        require(!error.empty(), "a refusal has a reason");
        return;
    }
    require(error.empty() && !trace.events.empty(), "a trace has requests");
    for (const auto size: trace.sizes)
        require(size >= Trace::bytesLeast && size <= Trace::maxBytes, "sizes are within bounds");
    Grouping grouping(trace.clients);
    for (const auto &event: trace.events) {
        require(event.object < trace.sizes.size() && event.client < trace.clients, "objects and clients are known");
        const auto hint = grouping.hintOf(event);
        require(hint.group == Hint::none || hint.group < trace.sizes.size(), "groups are known");
    }
    require(trace.meanBytes() >= Trace::bytesLeast && trace.meanBytes() <= Trace::maxBytes, "so is the mean");
}

std::vector<std::string>
seeds()
{
    return {"0 0 5000 html\n0 1 300 other\n1 0 7 html-stale\n0 2 1073741824 other-stale\n", "0 0 1 html", "1 0 1 html\n",
            "0 1 1 html\n", "0 0 1073741825 html\n", "0 0 1 page\n", "16777216 0 1 html\n", "0 0 1 html\r\n\n"};
}

const Target target("paper-trace", run, seeds);

} // namespace
} // namespace Fuzz

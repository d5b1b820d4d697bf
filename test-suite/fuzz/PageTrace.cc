// SPDX-License-Identifier: GPL-2.0-or-later
/* Recorded page loads for the benchmarks' web load, compressed or not. */

#include "test-suite/fuzz/TextFile.h"

#include "tools/bench/web/corpus/Corpus.h"
#include "tools/bench/web/corpus/TraceFile.h"

using namespace WebBench;

namespace Fuzz {
namespace {

void
run(Input in)
{
    const TextFile file(takeRest(in));
    std::vector<TraceSession> sessions;
    std::string error;
    if (!readTrace(file.path(), sessions, error)) {
        require(!error.empty(), "a refusal has a reason");
        return;
    }
    require(!sessions.empty(), "a trace has sessions");
    for (const auto &session: sessions) {
        require(!session.empty(), "a session has pages");
        for (const auto &page: session) {
            require(!page.empty() && page.size() <= maxMembers, "a page has objects, not too many");
            for (size_t i = 0; i < page.size(); ++i) {
                require(page[i].size > 0 && page[i].size <= largestObject, "an object has a size within bounds");
                require(page[i].parent < i || !page[i].parent, "what asked for an object came before it");
            }
        }
    }
}

std::vector<std::string>
seeds()
{
    const std::string head = "session\tpage\tseq\tstart\turl\treferer\tstatus\tbytes\tsize_source\tkind\n";
    const std::string lines = "s1\tp1\t0\t0\tu1\t-\t200\t5000\tx\thtml\ns1\tp1\t1\t5\tu2\tu1\t200\t300\tx\tcss\n"
                              "s1\tp1\t2\t9\tu3\tu2\t200\t40000\tx\tfont\ns1\tp2\t0\t20\tu4\t-\t200\t700\tx\thtml\r\n"
                              "s1\tp2\t1\t21\tu2\tu4\t304\t0\tx\tcss\ns2\tp1\t0\t0\tu1\t-\t200\t1\tx\tother";
    // two lines, compressed by gzip
    const unsigned char packed[] = {
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x2b, 0x4e, 0x2d, 0x2e, 0xce, 0xcc, 0xcf, 0xe3, 0x2c, 0x48,
        0x4c, 0x4f, 0xe5, 0x2c, 0x2d, 0xca, 0xe1, 0x2c, 0x4a, 0x4d, 0x4b, 0x2d, 0x4a, 0x2d, 0xe2, 0x4c, 0xaa, 0x2c, 0x49, 0x2d,
        0xe6, 0xcc, 0xce, 0xcc, 0x4b, 0xe1, 0x2a, 0xe6, 0x2c, 0xe0, 0x4c, 0xe4, 0xd4, 0xe5, 0x34, 0x34, 0xe2, 0xcc, 0x28, 0xc9,
        0xcd, 0x01, 0xf3, 0x93, 0x80, 0x22, 0xe6, 0x9c, 0x99, 0xb9, 0x40, 0x6d, 0x5c, 0x00, 0x04, 0xbd, 0x7d, 0xbe, 0x44, 0x00,
        0x00, 0x00,
    };
    const std::string large = "s1\tp1\t0\t0\tu1\t-\t200\t" + std::to_string(largestObject + 1) + "\tx\tbinary\n";
    return {head + lines, head, lines, head + large, "url_sha1_16\tkind\treferer_sha1_16\tbytes\tpage\tsession\na\timage\t-\t12\tp\ts\n",
            {packed, packed + sizeof(packed)}};
}

const Target target("page-trace", run, seeds);

} // namespace
} // namespace Fuzz

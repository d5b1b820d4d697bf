// SPDX-License-Identifier: GPL-2.0-or-later
/* What is asked for, in which order and by whom. */

#ifndef CLUSTERFS_BENCH_WEB_WORKLOAD_WORKLOAD_H
#define CLUSTERFS_BENCH_WEB_WORKLOAD_WORKLOAD_H

#include "tools/base/Clock.h"
#include "tools/bench/web/corpus/Corpus.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace WebBench {

using namespace Tools;

/// One request of a visit.
struct Item {
    static constexpr uint32_t none = UINT32_MAX;

    /// what a browser tells about why it asks
    enum class Role {
        document, ///< the user went to this page
        embedded, ///< something that a page or style sheet needs
        bare ///< no browser: nothing is told
    };

    std::string path;
    std::string referer; ///< a path, or empty
    uint32_t parent = none; ///< the item that must have arrived before; none: at once
    Kind kind = Kind::html;
    Role role = Role::bare;
};

using Visit = std::vector<Item>;

/// A sequence of visits that its seed decides. Who makes which visit may
/// depend on what took how long.
class Workload
{
public:
    virtual ~Workload() = default;

    /// \returns who has to make the next visit; nothing when any user may
    virtual std::optional<uint32_t> nextUser() const { return std::nullopt; }

    /// \returns when the next visit began, counted from the first one; 0 when nothing says that
    virtual Nanos nextTime() const { return 0; }

    /// Makes the next visit. \returns false when there are no more
    virtual bool next(uint32_t user, Visit &) = 0;

    /// what it may ask for; objects that are asked for only once are not counted
    virtual CorpusTotals totals() const = 0;
};

} // namespace WebBench

#endif

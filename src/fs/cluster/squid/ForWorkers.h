// SPDX-License-Identifier: GPL-2.0-or-later
/* What workers have from the owner of a cache_dir beside its objects. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_FORWORKERS_H
#define SQUID_SRC_FS_CLUSTER_SQUID_FORWORKERS_H

#include "fs/cluster/sharing/Services.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace ClusterFs {

class PageText;
class SwapDir;

/// Answers a question about a cache_dir of this process: a question is one of the words below, some with an argument behind a space. An
/// answer that there can't be is the line "error: reason".
std::unique_ptr<PageText> answerTo(SwapDir &, const std::string &question);

namespace Question {
inline constexpr const char *list = "list"; ///< see ListText
inline constexpr const char *map = "map"; ///< see MapText
inline constexpr const char *search = "search"; ///< UrlChoice::spelled(): see FoundText
inline constexpr const char *clear = "clear"; ///< starts a clear: see LiveJob::Report()
inline constexpr const char *job = "job"; ///< the same, of the job that runs or ran last
inline constexpr const char *stop = "stop"; ///< the same, after it was stopped
inline constexpr const char *metrics = "metrics"; ///< see metricsText()
}

/// the kinds of Figure that workers tell
enum class FigureKind : uint64_t {
    hit = 1, ///< a client has waited for one: microseconds
    miss, ///< the same
    page ///< a client has opened some: how many
};

/// The owner's part.
class ForWorkers final : public Services
{
public:
    /// \param answered is called when something has become ready for a worker
    ForWorkers(SwapDir &dir, std::function<void()> answered): dir_(dir), answered_(std::move(answered)) {}

    /* Services */
    std::unique_ptr<Reader> answer(const std::string &question) override;
    void add(const Figure &) override;

private:
    SwapDir &dir_;
    const std::function<void()> answered_;
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The statistics as text. */

#include "fs/cluster/engine/Report.h"

#include <algorithm>
#include <cstdio>

namespace ClusterFs {
namespace {

/// a value as the page shows it; one overload for each alternative of Statistic::Value
class ValueText
{
public:
    explicit ValueText(const std::string &unit): unit_(unit) {}

    std::string operator ()(std::monostate) const { return ""; }
    std::string operator ()(const std::string &text) const { return text; }
    std::string operator ()(const uint64_t n) const {
        if (unit_ != "bytes")
            return std::to_string(n);
        char megabytes[32];
        snprintf(megabytes, sizeof(megabytes), " (%.1f MB)", static_cast<double>(n) / 1048576.0);
        return std::to_string(n) + megabytes;
    }
    std::string operator ()(const double v) const {
        char number[64];
        snprintf(number, sizeof(number), "%.3f", v);
        return number + (unit_.empty() || unit_ == "bytes" ? "" : " " + unit_);
    }
    std::string operator ()(const Histogram *const h) const {
        return "p50 " + std::to_string(h->percentile(0.5)) + ", p90 " + std::to_string(h->percentile(0.9)) +
               ", p99 " + std::to_string(h->percentile(0.99)) + ", max " + std::to_string(h->most());
    }

private:
    const std::string unit_;
};

} // namespace
} // namespace ClusterFs

std::string
ClusterFs::reportText(const Snapshot &snapshot)
{
    constexpr size_t width = 28; // of names, with the colon
    std::string page, section;
    for (const auto &row: statistics()) {
        const auto value = row.value(snapshot);
        if (std::holds_alternative<std::monostate>(value))
            continue;
        if (section != row.section)
            page += "\n[" + (section = row.section) + "]\n";
        std::string name = std::string(row.name) + ':';
        name.resize(std::max(width, name.size()), ' ');
        page += name + ' ' + std::visit(ValueText(row.unit), value) + '\n';
    }
    return page;
}

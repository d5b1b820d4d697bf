// SPDX-License-Identifier: GPL-2.0-or-later
/* Results as JSON text. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_JSON_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_JSON_H

#include <cstdint>
#include <string>

namespace Papers {

/// One JSON object or list, put together in order.
class Json
{
public:
    void put(const char *name, const std::string &value);
    void put(const char *name, const char *value) { put(name, std::string(value)); }
    void put(const char *name, double value); ///< null when it is not finite
    void put(const char *name, uint64_t value);
    void put(const char *name, unsigned value) { put(name, static_cast<uint64_t>(value)); }
    void put(const char *name, bool value);
    void put(const char *name, const Json &value);

    /// makes it a list; not together with put()
    void add(const Json &value);
    void add(double value);

    std::string text() const;

private:
    std::string &lead(const char *name);

    std::string text_;
    bool list_ = false;
};

} // namespace Papers

#endif

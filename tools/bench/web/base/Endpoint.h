// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a server listens. */

#ifndef CLUSTERFS_BENCH_WEB_BASE_ENDPOINT_H
#define CLUSTERFS_BENCH_WEB_BASE_ENDPOINT_H

#include <cstdint>
#include <string>

namespace WebBench {

/// where a server listens
struct Endpoint {
    uint32_t address = 0; ///< IPv4, host byte order; 0 is any
    uint16_t port = 0;

    /// Reads "127.0.0.1:3128" or "localhost:3128". \returns false with the reason in error
    bool parse(const std::string &, std::string &error);
    std::string text() const;
};

/// Raises the limit of open descriptors as far as it goes. \returns the limit
uint64_t raiseDescriptorLimit();

} // namespace WebBench

#endif

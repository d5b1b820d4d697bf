// SPDX-License-Identifier: GPL-2.0-or-later
/* The requests of which a cache_dir has told its engine. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_NOTEDREQUESTS_H
#define SQUID_SRC_FS_CLUSTER_SQUID_NOTEDREQUESTS_H

#include "fs/cluster/base/Types.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/// Squid asks several times for an object that is not there, and the engine is to hear of each request once, because each time
/// counts as evidence for what belongs together.
class NotedRequests
{
public:
    static constexpr size_t most = 1024; ///< requests that are remembered

    /// Remembers a request.
    /// \param request its number; Squid gives them one after the other. 0 = unknown
    /// \returns whether it was not remembered with this key: a variant has another one
    bool add(const uint64_t request, const Key &key) {
        auto &noted = noted_[request % most];
        if (request && noted.request == request && noted.key == key)
            return false;
        noted = {request, key};
        return true;
    }

private:
    struct Noted {
        uint64_t request = 0;
        Key key;
    };
    std::array<Noted, most> noted_;
};

} // namespace ClusterFs

#endif

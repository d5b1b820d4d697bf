// SPDX-License-Identifier: GPL-2.0-or-later
/* squid -z */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_STOREMAKER_H
#define SQUID_SRC_FS_CLUSTER_SQUID_STOREMAKER_H

#include "fs/cluster/api/Config.h"
#include "fs/cluster/base/Types.h"
#include "fs/cluster/device/Preallocation.h"

#include <string>

namespace ClusterFs {

/// Makes a store where a cache_dir wants one: leaves alone what is ours, formats what is blank,
/// refuses the rest. All of this is done as the user that will use the store, and waits for the disk.
class StoreMaker
{
public:
    /// \param sizeMb as configured; 0 = all there is
    /// \param log gets what the device has to say
    StoreMaker(const std::string &path, uint64_t sizeMb, const Config &, const Log &log);

    /// \returns false with the reason in error. Then everything is as before: a better size,
    /// say, is as welcome as if nothing had happened.
    bool make(std::string &error);

    /// \returns what squid -z could do about a failed start, to be appended to the reason; maybe nothing
    static std::string Advice(const std::string &path, uint64_t sizeMb);

private:
    bool makeFile(std::string &error);
    bool formatBlank(std::string &error) const;

    const std::string path_;
    const uint64_t sizeMb_;
    const Config config_;
    const Log log_;
    Preallocation file_; ///< made, or made longer
};

} // namespace ClusterFs

#endif

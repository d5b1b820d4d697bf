// SPDX-License-Identifier: GPL-2.0-or-later
/* squid -z */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_STOREMAKER_H
#define SQUID_SRC_FS_CLUSTER_SQUID_STOREMAKER_H

#include "fs/cluster/api/Config.h"
#include "fs/cluster/base/Types.h"
#include "fs/cluster/device/Preallocation.h"

#include <string>

namespace ClusterFs {

/// Makes a store for a cache_dir: leaves a store of ours as it is, formats a blank device or file,
/// and refuses everything else. Squid calls it as the user that will use the store. Blocks.
class StoreMaker
{
public:
    /// \param sizeMb MB, as configured; 0 = the whole device
    /// \param log takes the warnings of the device
    StoreMaker(const std::string &path, uint64_t sizeMb, const Config &, const Log &log);

    /// Makes the store, if there is none.
    /// \returns false with the reason in error; a file is then as it was before, so that
    /// another try with another size succeeds
    bool make(std::string &error);

    /// \returns advice to run squid -z after a failed start, to be appended to the reason; empty if that would not help
    static std::string Advice(const std::string &path, uint64_t sizeMb);

private:
    bool makeFile(std::string &error);
    bool formatBlank(std::string &error) const;

    const std::string path_;
    const uint64_t sizeMb_; ///< see StoreMaker()
    const Config config_;
    const Log log_;
    Preallocation file_; ///< the file that was created or extended, if one was
};

} // namespace ClusterFs

#endif

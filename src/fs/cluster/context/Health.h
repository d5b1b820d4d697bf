// SPDX-License-Identifier: GPL-2.0-or-later
/* The health of the device. */

#ifndef SQUID_SRC_FS_CLUSTER_CONTEXT_HEALTH_H
#define SQUID_SRC_FS_CLUSTER_CONTEXT_HEALTH_H

#include "fs/cluster/base/Types.h"

namespace ClusterFs {

/// The health of the device. Errors lead to three steps: a cluster is put out
/// of use, then nothing is written any more, then the device is out of service.
/// The second and the third step are taken only when another place fails, too,
/// because most requests may go to one bad place; but 64 write errors in a row
/// are enough for the second. Superblocks are read as soon as writing ends: a
/// disk that died under load then cuts few replies whose hit had begun. A
/// request that our own queue refused (busy) never reached the device and says
/// nothing about it. \see HealthProbe
class Health
{
public:
    enum class Level : uint8_t { good, noWrites, gone };

    static constexpr unsigned maxWriteErrors = 8; ///< in a row, then another place is tried
    static constexpr unsigned maxWriteErrorsAnywhere = 64; ///< in a row, of all writes or of those of clusters, even if another place works
    static constexpr unsigned maxReadErrors = 64; ///< in a row, then superblocks are read
    static constexpr unsigned maxClusterErrors = 3; ///< read errors of one cluster that put it out of use

    Level level = Level::good;
    bool writesSuspect = false; ///< many writes have failed: HealthProbe is to write elsewhere
    bool suspect = false; ///< many requests have failed: HealthProbe is to read superblocks

    /// \param cluster whether a cluster was written. Their errors are counted apart, too: when a backing store is full,
    /// blocks that were written before, such as the journal's, still take writes.
    void writeDone(Status, const Log &, bool cluster = false);
    /// \param well whether a write elsewhere succeeded
    void writeProbed(bool well, const Log &);
    void readDone(Status);
    /// \param answers whether a superblock could be read
    void probed(bool answers, const Log &);

private:
    void noMoreWrites(const Log &);
    void sayBad(unsigned failed, const char *what, const Log &);

    unsigned writeErrors_ = 0;
    unsigned clusterErrors_ = 0;
    unsigned readErrors_ = 0;
    bool saidBad_ = false;
};

} // namespace ClusterFs

#endif

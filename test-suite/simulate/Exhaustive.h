// SPDX-License-Identifier: GPL-2.0-or-later
/* All short histories, each ended by a power cut at each request in each way. */

#ifndef CLUSTERFS_TEST_SIMULATE_EXHAUSTIVE_H
#define CLUSTERFS_TEST_SIMULATE_EXHAUSTIVE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace Simulate {

/// Plays histories and, for each request of them, the power cuts that may come
/// while it is under way: any of the writes that are not flushed may be lost, and
/// the last one may be torn.
class Exhaustive
{
public:
    /// plays all histories of that many operations, on an empty device and behind others
    /// that leave objects on it
    /// \param first the operations with which they begin: calls with all words of one length
    /// share the work of a call with an empty one
    void playAll(unsigned operations, const std::string &first);
    /// plays one history
    /// \param known so many of its first operations are not cut short, because an earlier history had them
    void play(const std::string &operations, size_t known = 0);

    uint64_t histories() const { return histories_; }
    uint64_t crashes() const { return crashes_; } ///< different ones, of all histories
    uint64_t starts() const { return starts_; } ///< after all crashes
    uint64_t failed() const { return failed_; } ///< crashes, and histories without one, that broke a promise

private:
    uint64_t histories_ = 0;
    uint64_t crashes_ = 0;
    uint64_t starts_ = 0;
    uint64_t failed_ = 0;
};

} // namespace Simulate

#endif

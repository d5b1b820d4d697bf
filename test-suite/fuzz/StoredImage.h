// SPDX-License-Identifier: GPL-2.0-or-later
/* A small device that an engine has used, and what was stored on it. */

#ifndef CLUSTERFS_TEST_SUITE_FUZZ_STOREDIMAGE_H
#define CLUSTERFS_TEST_SUITE_FUZZ_STOREDIMAGE_H

#include "test-suite/unit/support/LayoutSupport.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace Fuzz {

/// all that was ever stored, by the bytes of the key
using Versions = std::map<std::array<uint8_t, 16>, std::vector<std::string>>;

/// how the last run ended
enum class Ending : uint8_t {
    stop, ///< in order
    kill, ///< after clusters and deletes that only the journal names
    killInCheckpoint, ///< so that two journals count
    stopWithKeys ///< in order, with Config::list
};
constexpr unsigned endingCount = 4;

/// the same at each making
class StoredImage
{
public:
    explicit StoredImage(Ending);

    static constexpr uint64_t bytes = 7 * ClusterFs::Testing::MB;

    /// \param media of that size, all zeros
    void copyTo(ClusterFs::MemoryDevice &media) const;

    const ClusterFs::Config &config() const { return config_; }
    const ClusterFs::Geometry &geometry() const { return geometry_; }
    const Versions &versions() const { return versions_; }

private:
    using Store = ClusterFs::Testing::TestStore;

    std::vector<std::string> &of(uint64_t object) { return versions_[ClusterFs::Testing::keyOf(object).bytes]; }
    void put(Store &, uint64_t object, size_t size);
    void fill(Store &);
    void changeMuch(Store &);
    void keep(const ClusterFs::MemoryDevice &);

    ClusterFs::Config config_;
    ClusterFs::Geometry geometry_;
    Versions versions_;
    std::map<uint64_t, std::string> pages_; ///< by place; those that are not all zeros
};

} // namespace Fuzz

#endif

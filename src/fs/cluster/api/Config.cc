// SPDX-License-Identifier: GPL-2.0-or-later
/* Settings as a whole. */

#include "fs/cluster/api/Config.h"

#include "fs/cluster/api/Options.h"
#include "fs/cluster/base/Messages.h"

#include <algorithm>

bool
ClusterFs::Config::set(const std::string &name, const std::string &value, std::string &error)
{
    if (const auto option = findOption(name))
        return option->take(*this, value, error);
    error = messageText<Message::optionUnknown>(name);
    return false;
}

std::string
ClusterFs::Config::get(const std::string &name) const
{
    const auto option = findOption(name);
    return option ? option->valueIn(*this) : std::string();
}

bool
ClusterFs::Config::validate(std::string &error) const
{
    if (clusterKb & (clusterKb - 1)) {
        error = messageText<Message::notPowerOfTwo>(clusterKb);
        return false;
    }
    for (const std::string name: {"staging", "read-cache"}) {
        const auto mb = findOption(name)->read(*this);
        if (mb >= leastMb())
            continue;
        error = messageText<Message::littleMemory>(name, mb, clusterKb,
                std::to_string(leastMb()) + (leastMb() > 2 ? ", or choose a smaller cluster-size" : ""));
        return false;
    }
    if (memoryMb && memoryMb < leastMemoryMb()) {
        error = messageText<Message::memoryTooSmall>(memoryMb, stagingMb, localityMb, leastMb(), leastMemoryMb());
        return false;
    }
    return true;
}

/// Shares for learning and for what comes in; neither is taken before it is needed, and staging lends what it does not take.
void
ClusterFs::Config::shareMemory()
{
    constexpr uint32_t localityShare = 5, mostLocality = 65536; // MB
    constexpr uint32_t stagingShare = 8, usualMost = 256; // MB
    if (!memoryMb)
        return;
    if (!localityGiven)
        localityMb = std::min(memoryMb / localityShare, mostLocality);
    if (!stagingGiven)
        stagingMb = std::max(leastMb(), std::min(memoryMb / stagingShare, usualMost));
}

void
ClusterFs::Config::suitOthers()
{
    stagingMb = std::max(stagingMb, leastMb());
    readCacheMb = std::max(readCacheMb, leastMb());
    if (memoryMb)
        memoryMb = std::max(memoryMb, leastMemoryMb());
}

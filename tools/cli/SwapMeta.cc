// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding the URL in Squid's swap metadata. */

#include "SwapMeta.h"

#include <cstdint>
#include <cstring>

namespace ClusterFs::Cli {

constexpr char metaMagic = 3;
constexpr char urlField = 4;

bool
findUrl(const char *object, const size_t size, std::string &url)
{
    int32_t total = 0;
    size_t at = sizeof(metaMagic) + sizeof(total);
    if (size < at || object[0] != metaMagic)
        return false;
    memcpy(&total, object + sizeof(metaMagic), sizeof(total));
    if (total < 0 || static_cast<size_t>(total) > size)
        return false;

    const auto end = static_cast<size_t>(total);
    int32_t length = 0;
    while (at < end && end - at >= 1 + sizeof(length)) {
        const char type = object[at];
        memcpy(&length, object + at + 1, sizeof(length));
        at += 1 + sizeof(length);
        if (length < 0 || static_cast<size_t>(length) > end - at)
            return false;
        if (type == urlField) {
            // the value ends with a NUL
            url.assign(object + at, strnlen(object + at, static_cast<size_t>(length)));
            return true;
        }
        at += static_cast<size_t>(length);
    }
    return false;
}

} // namespace ClusterFs::Cli

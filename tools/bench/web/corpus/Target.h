// SPDX-License-Identifier: GPL-2.0-or-later
/* URLs that say all about their objects. */

#ifndef CLUSTERFS_BENCH_WEB_CORPUS_TARGET_H
#define CLUSTERFS_BENCH_WEB_CORPUS_TARGET_H

#include "tools/replay/Kind.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace WebBench {

using namespace Replay;

/// What a path tells. Paths have the form /FOLDERS/NAME-SIZE-vVERSION.EXTENSION,
/// so that origin and client need nothing in common but this.
struct Target {
    Kind kind = Kind::html;
    uint64_t size = 0; ///< bytes of the body
    uint64_t seed = 0; ///< of the body's BodyStream: a hash of the whole path

    /// \returns false when the path is not of that form
    bool parse(std::string_view path);
};

/// \returns the first folder of a path, which has no slash: what is in it is of one site
std::string_view siteOf(std::string_view path);

/// \param folder begins with a slash and has none at its end
/// \param name has no slash
std::string makePath(std::string_view folder, std::string_view name, Kind, uint64_t size, uint32_t version);

} // namespace WebBench

#endif

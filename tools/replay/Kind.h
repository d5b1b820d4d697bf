// SPDX-License-Identifier: GPL-2.0-or-later
/* Kinds of objects, and how browsers ask for them. */

#ifndef CLUSTERFS_TOOLS_REPLAY_KIND_H
#define CLUSTERFS_TOOLS_REPLAY_KIND_H

#include <array>
#include <cstdint>
#include <string_view>

namespace Replay {

/// the largest object that a log or a path may speak of, in bytes
constexpr uint64_t largestObject = uint64_t(1) << 36;

/// binary is a download, which no page embeds
enum class Kind : unsigned char { html, css, js, image, font, other, binary };

constexpr unsigned kindCount = 7;

/// What is the same for all objects of a kind. The texts live forever.
struct KindInfo {
    std::string_view name; ///< as in traces
    std::string_view extension; ///< of its URLs
    char letter; ///< with which the names of its objects begin
    std::string_view contentType;
    std::string_view accept; ///< what browsers send when they want one
    std::string_view destination; ///< Sec-Fetch-Dest of one that is embedded in a page
    std::string_view mode; ///< Sec-Fetch-Mode, likewise
};

const KindInfo &infoOf(Kind);

/// \returns false when no kind has that name
bool kindNamed(std::string_view name, Kind &);

/// \returns false when no kind has that extension
bool kindOfExtension(std::string_view extension, Kind &);

/// \returns the kind that the URL of a real log entry suggests
Kind guessKind(std::string_view url);

} // namespace Replay

#endif

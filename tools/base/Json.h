// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON as the programs write it. */

#ifndef CLUSTERFS_TOOLS_BASE_JSON_H
#define CLUSTERFS_TOOLS_BASE_JSON_H

#include <nlohmann/json.hpp>

#include <string>

namespace Tools {

/// values whose fields are in the order in which they were put
using Json = nlohmann::ordered_json;

/// JSON in ASCII. A number that is not finite becomes null, and what is not UTF-8 the character U+FFFD.
/// \param indent spaces for each level, or -1: all in one line
std::string jsonText(const Json &, int indent = -1);

/// A text for JSON in which each byte beyond ASCII stands for itself, as U+0080 to
/// U+00FF, whatever its encoding was: nothing is lost of what is not UTF-8.
std::string bytesText(const std::string &);

} // namespace Tools

#endif

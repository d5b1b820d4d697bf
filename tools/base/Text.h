// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading numbers and fields from text, strictly. */

#ifndef CLUSTERFS_TOOLS_BASE_TEXT_H
#define CLUSTERFS_TOOLS_BASE_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace Tools {

/// reads all of a text as a whole decimal number \returns false when it is none
bool parseWhole(std::string_view, uint64_t &result);

/// reads all of a text as a finite decimal number \returns false when it is none
bool parseReal(std::string_view, double &result);

/// splits at every separator
std::vector<std::string_view> split(std::string_view, char separator);

/// splits at runs of spaces
std::vector<std::string_view> splitWords(std::string_view);

/// the text, cut to a length fit for a message, unprintable bytes replaced
std::string fit(std::string_view);
/// the same in quotes
std::string shown(std::string_view);

/// whether two texts are equal but for the case of ASCII letters
bool equalNoCase(std::string_view, std::string_view);

} // namespace Tools

#endif

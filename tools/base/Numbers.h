// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers as people write them, within bounds. */

#ifndef CLUSTERFS_TOOLS_BASE_NUMBERS_H
#define CLUSTERFS_TOOLS_BASE_NUMBERS_H

#include <cstdint>
#include <stdexcept>
#include <string>

namespace Tools {

/// What is wrong with something that a person or a program asked for: one line
/// that names the thing, the value and the way out.
class BadRequest: public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/* Each reads all of a text. what names the number in the error, as "--size".
 * All throw BadRequest unless it is a number from least to most. */

/// a whole decimal number
uint64_t wholeFrom(const std::string &what, const std::string &text, uint64_t least, uint64_t most);
/// the same; may end in K, M, G or T, for powers of 1024
uint64_t scaledFrom(const std::string &what, const std::string &text, uint64_t least, uint64_t most);
/// the same, of bytes: the error has the bounds as sizeText()
uint64_t bytesFrom(const std::string &what, const std::string &text, uint64_t least, uint64_t most);
double realFrom(const std::string &what, const std::string &text, double least, double most);

/// a number without digits that say nothing
std::string realText(double);

/// bytes for people, as "1.5 GB" (powers of 1024)
std::string sizeText(uint64_t bytes);

} // namespace Tools

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers as people write them. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_BASE_NUMBERS_H
#define CLUSTERFS_TOOLS_DISKMODEL_BASE_NUMBERS_H

#include <cstdint>
#include <stdexcept>
#include <string>

namespace DiskModel {

/// what is wrong with something that a person or a program asked for
class BadRequest : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// \param what names the number in the error
/// \throws BadRequest unless the whole text is a number from least to most
double parseNumber(const std::string &what, const std::string &text, double least, double most);

/// a whole number; 0x introduces hexadecimal digits \throws BadRequest
uint64_t parseWhole(const std::string &what, const std::string &text, uint64_t least, uint64_t most);

/// bytes: a whole number with K, M, G or T behind it for powers of 1024 \throws BadRequest
uint64_t parseSize(const std::string &what, const std::string &text, uint64_t least, uint64_t most);

/// bytes for people, as "1.5 GB" (powers of 1024)
std::string sizeText(uint64_t bytes);

} // namespace DiskModel

#endif

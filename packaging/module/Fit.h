// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether the module was compiled for the Squid that it is in. */

#ifndef CLUSTERFS_PACKAGING_MODULE_FIT_H
#define CLUSTERFS_PACKAGING_MODULE_FIT_H

#include <string>

namespace ClusterFs {

/// Compares what can be seen of the running program with the headers and the program that the module was made for:
/// the version, the options of configure, sizes of objects and of functions that know the layout of a class, and
/// the order of virtual functions. A security update of the distribution that changes none of these fits.
/// \returns false with the reason in why
bool fits(std::string &why);

/// a symbol of the program that the module was made for
struct KnownSymbol {
    const char *name; ///< as the linker has it
    unsigned long size; ///< bytes
};

extern const KnownSymbol KnownSymbols[]; ///< written by fingerprint
extern const unsigned KnownSymbolCount;

} // namespace ClusterFs

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The papers' calls, each tried by a file of its own, since they have the same names. */

#ifndef CLUSTERFS_TEST_SUITE_LIBRARY_C_FACES_H
#define CLUSTERFS_TEST_SUITE_LIBRARY_C_FACES_H

#include <clusterfs/clusterfs.h>

const char *try_cfs(clusterfs_store *store);
const char *try_hummingbird(clusterfs_store *store);

#endif

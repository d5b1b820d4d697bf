/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CFS's calls under their own names, as a program in C has them, and with the types that the paper gives them. */

#include "faces.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define CLUSTERFS_BARE_NAMES
#include <clusterfs/cfs.h>

/* Returns nil, or the step that went wrong. */
const char *
try_cfs(clusterfs_store *store)
{
    char url[40] = "http://example.org/", page[100], copy[100];
    int n;

    memset(page, 'a', sizeof(page));
    if (clusterfs_cfs_begin(store) != 0)
        return "begin";
    if (create(url, page, sizeof(page)) != 0 || sync() != 0)
        return "create";
    n = length(url);
    if (n != (int)sizeof(page))
        return "length";
    memset(copy, 0, sizeof(copy));
    if (read(url, copy) != 0 || sync() != 0 || memcmp(copy, page, sizeof(page)) != 0)
        return "read";
    if (remove(url) != 0 || length(url) >= 0)
        return "remove";
    return clusterfs_cfs_end() == 0 ? NULL : "end";
}

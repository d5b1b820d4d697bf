/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hummingbird's calls under their own names, as a proxy in C has them: an HTML page and its picture. */

#include "faces.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CLUSTERFS_BARE_NAMES
#include <clusterfs/hummingbird.h>

static void *
bytes_of(char what, size_t size)
{
    void *bytes = malloc(size);
    if (bytes)
        memset(bytes, what, size);
    return bytes;
}

/* Returns nil, or the step that went wrong. */
const char *
try_hummingbird(clusterfs_store *store)
{
    char page[] = "http://example.org/", picture[] = "http://example.org/picture", film[] = "http://example.org/film";
    void *buf = NULL;

    if (clusterfs_hummingbird_begin(store, NULL) != 0)
        return "begin";
    if (write_file(page, bytes_of('p', 700), 700) != 700 || write_file(picture, bytes_of('i', 9000), 9000) != 9000)
        return "write_file";
    if (write_nomem_file(film, bytes_of('f', 300000), 300000) != 300000)
        return "write_nomem_file";
    if (collocate_files(page, picture) < 0)
        return "collocate_files";
    if (pack_files_daemon() < 0 || free_main_memory_data_daemon() < 0)
        return "daemons";
    if (read_file(picture, &buf) != 9000 || ((char *)buf)[8999] != 'i')
        return "read_file";
    if (delete_file(picture) >= 0)
        return "delete_file of a file that is read";
    if (done_read_file(picture, buf) < 0)
        return "done_read_file";
    if (delete_file(picture) < 0 || read_file(picture, &buf) >= 0)
        return "delete_file";
    if (read_file(film, &buf) != 300000 || ((char *)buf)[299999] != 'f' || done_read_file(film, buf) < 0)
        return "read_file of a large file";
    if (pack_files_from_head_daemon() < 0 || free_disk_space_daemon() < 0 || sync_hot_clusters_daemon() < 0)
        return "the other daemons";
    return clusterfs_hummingbird_end() == 0 ? NULL : "end";
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of Hummingbird, the file system for caching web proxies (sections 3.3 to 3.5 of its paper), on a store of clusterfs.h.
 * They have their names of the paper where CLUSTERFS_BARE_NAMES is defined before this header is included.
 *
 *     write_file, write_nomem_file      take a file over, and its memory with it
 *     read_file, done_read_file         lend a file's bytes, and take them back
 *     delete_file                       fails while somebody reads the file
 *     collocate_files                   says that two files are wanted together; with the option replicas, a file that was named with
 *                                       several others may lie in a cluster of each
 *     ..._daemon                        do housekeeping now, down to a threshold
 *
 * The process has one store, and any number of threads may call. A call that fails returns the negative of a clusterfs_error.
 *
 * The paper's parameters are options of the store: size of a cluster (cluster-size), of the table of files (object-size), lifetimes
 * (file-lifetime, cluster-lifetime), disk data layout (layout), eviction (replacement), recovery (checkpoint, delete-count,
 * delete-time, persist, and warm for the hot clusters). The recovery daemon is clusterfs_open(). The other daemons run by themselves, too.
 */

#ifndef CLUSTERFS_HUMMINGBIRD_H
#define CLUSTERFS_HUMMINGBIRD_H

#include <clusterfs/clusterfs.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- the store: the paper has no call for it ---- */

/** How far the daemons go, on each device. Set it to zeros and struct_size first. */
typedef struct clusterfs_hummingbird_thresholds {
    size_t struct_size;   /**< sizeof(clusterfs_hummingbird_thresholds): later versions have more members; 0 means nothing in them */
    uint64_t files;       /**< bytes of files that need not be packed into clusters */
    uint64_t memory;      /**< bytes of clusters that may stay in memory */
    uint64_t disk;        /**< bytes of the disk that shall be free */
} clusterfs_hummingbird_thresholds;

/** Gives the calls below a store, which the caller goes on to own, and closes after clusterfs_hummingbird_end().
 * \param thresholds nil = all 0
 * \returns 0; CLUSTERFS_BUSY when there is one, CLUSTERFS_ARGUMENT */
int clusterfs_hummingbird_begin(clusterfs_store *store, const clusterfs_hummingbird_thresholds *thresholds);

/** Takes the store away. No other thread may be in a call of this header.
 * \returns 0; CLUSTERFS_BUSY while files are being read, and the store stays */
int clusterfs_hummingbird_end(void);

/* ---- its calls ---- */

/** Stores a file in place of an older one.
 * \param fname a text that ends with NUL
 * \param buf sz bytes from malloc(), which belong to the store when the call succeeds, and to the caller when not
 * \returns its size; CLUSTERFS_TOO_LARGE for 2^31 bytes and more, CLUSTERFS_CLOSED when there is no store, and as clusterfs_write() */
int clusterfs_hummingbird_write_file(const char *fname, void *buf, size_t sz);

/** The same for a file that is not to stay in memory, see CLUSTERFS_NO_CACHE. */
int clusterfs_hummingbird_write_nomem_file(const char *fname, void *buf, size_t sz);

/** Lends all bytes of a file.
 * \param buf receives their address, which is valid until clusterfs_hummingbird_done_read_file(); never nil, even if there are none
 * \returns the size of the file; CLUSTERFS_TOO_LARGE for 2^31 bytes and more, CLUSTERFS_CLOSED, and as clusterfs_read() */
int clusterfs_hummingbird_read_file(const char *fname, void **buf);

/** Takes back what a read has lent. \param buf the address that it gave
 * \returns 0; CLUSTERFS_ARGUMENT when it was not lent for this file, or was given back */
int clusterfs_hummingbird_done_read_file(const char *fname, void *buf);

/** Forgets a file. \returns 0; CLUSTERFS_BUSY while it is being read, CLUSTERFS_CLOSED, and as clusterfs_remove() */
int clusterfs_hummingbird_delete_file(const char *fname);

/** Says that fnameB is wanted with fnameA: they are packed into one cluster. Both are there already.
 * \returns 0; CLUSTERFS_NOT_FOUND when one of them is not, CLUSTERFS_CLOSED, and as clusterfs_collocate() */
int clusterfs_hummingbird_collocate_files(const char *fnameA, const char *fnameB);

/* ---- its daemons, each done when it returns; they return as clusterfs_run() ---- */

int clusterfs_hummingbird_pack_files_daemon(void);           /**< packs files, that first which was not used for longest */
int clusterfs_hummingbird_pack_files_from_head_daemon(void); /**< packs files, that first which was used last */
int clusterfs_hummingbird_free_main_memory_data_daemon(void); /**< lets clusters leave memory */
int clusterfs_hummingbird_free_disk_space_daemon(void);      /**< deletes clusters; files are deleted by their lifetime */
int clusterfs_hummingbird_sync_hot_clusters_daemon(void);    /**< writes the log of hot clusters, where the option warm is on, with a checkpoint */

#ifdef CLUSTERFS_BARE_NAMES
#define write_file clusterfs_hummingbird_write_file
#define write_nomem_file clusterfs_hummingbird_write_nomem_file
#define read_file clusterfs_hummingbird_read_file
#define done_read_file clusterfs_hummingbird_done_read_file
#define delete_file clusterfs_hummingbird_delete_file
#define collocate_files clusterfs_hummingbird_collocate_files
#define pack_files_daemon clusterfs_hummingbird_pack_files_daemon
#define pack_files_from_head_daemon clusterfs_hummingbird_pack_files_from_head_daemon
#define free_main_memory_data_daemon clusterfs_hummingbird_free_main_memory_data_daemon
#define free_disk_space_daemon clusterfs_hummingbird_free_disk_space_daemon
#define sync_hot_clusters_daemon clusterfs_hummingbird_sync_hot_clusters_daemon
#endif

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

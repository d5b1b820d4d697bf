/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The five calls of CFS, the cache file system for web proxies (sections 4.2 and 4.4 of its paper), on a store of clusterfs.h.
 * They have their names of the paper where CLUSTERFS_BARE_NAMES is defined before this header is included. It is the last one then,
 * because read(), remove() and sync() are also calls of C.
 *
 *     create, read    begin, and do not wait; buffers stay as they are until sync()
 *     remove, length  are done when they return
 *     sync            waits until all that this thread has begun is done
 *
 * The process has one store. A call that fails returns the negative of a clusterfs_error; what fails of create and
 * read, sync tells. A thread has at most 256 requests under way: the next one waits.
 */

#ifndef CLUSTERFS_CFS_H
#define CLUSTERFS_CFS_H

#include <clusterfs/clusterfs.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- the store: the paper has no call for it ---- */

/** Gives the calls below a store, which the caller goes on to own, and closes after clusterfs_cfs_end().
 * \returns 0; CLUSTERFS_BUSY when there is one, CLUSTERFS_ARGUMENT, CLUSTERFS_NO_MEMORY */
int clusterfs_cfs_begin(clusterfs_store *store);

/** Waits for what all threads have begun, and takes the store away. No other thread may be in a call of this header.
 * \returns 0, or the first error that no sync has told yet */
int clusterfs_cfs_end(void);

/* ---- its calls ---- */

/** Begins to store an object. \param url a text that ends with NUL \param buffer size bytes, which stay as they are until sync
 * \returns 0; CLUSTERFS_ARGUMENT, CLUSTERFS_CLOSED when there is no store */
int clusterfs_cfs_create(const char *url, const char *buffer, int size);

/** Begins to read all of an object. What this thread has begun to create can be read after sync.
 * \param buffer room for as many bytes as clusterfs_cfs_length() says; has them after sync
 * \returns as clusterfs_cfs_create() */
int clusterfs_cfs_read(const char *url, char *buffer);

/** Forgets an object at once. \returns 0; CLUSTERFS_NOT_FOUND, and as clusterfs_cfs_create() */
int clusterfs_cfs_remove(const char *url);

/** \returns the bytes of an object; CLUSTERFS_NOT_FOUND, CLUSTERFS_TOO_LARGE for 2^31 and more, and as clusterfs_cfs_create() */
int clusterfs_cfs_length(const char *url);

/** Waits until all that this thread has begun is done. Done is not yet safe from a power cut: clusterfs_sync() makes it so.
 * \returns 0, or the first error of them: CLUSTERFS_NOT_FOUND, and all that clusterfs_write() and clusterfs_read() return */
int clusterfs_cfs_sync(void);

#ifdef CLUSTERFS_BARE_NAMES
#define create clusterfs_cfs_create
#define read clusterfs_cfs_read
#define remove clusterfs_cfs_remove
#define length clusterfs_cfs_length
#define sync clusterfs_cfs_sync
#endif

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

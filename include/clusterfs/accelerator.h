/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A store in front of a folder whose file system is slow: the first read of a file copies it into the store, and later ones
 * come from there, until the file is changed or deleted. This is TFS (Wang, Cai and Hu, "A light-weight, temporary file
 * system for large-scale web servers"). `clusterfs accelerate` is the same as a mount.
 *
 * Calls return what calls of clusterfs.h return, and CLUSTERFS_FILE when the folder's file system refuses something: errno
 * has its reason then. Any number of threads may use an accelerator and its files.
 *
 * A file is looked up in the folder each time that it is opened, unless the setting trusted says otherwise. So nobody gets the
 * bytes of a file that was changed, replaced or deleted before. Its inode, its size, and the times of the last change of its
 * content and of its inode tell. A change that leaves all of them as they are would not be seen: a process that writes
 * through a mapping can make one for half a minute after the kernel has noted its first write. For this, files are left alone for a
 * while when they were changed.
 */

#ifndef CLUSTERFS_ACCELERATOR_H
#define CLUSTERFS_ACCELERATOR_H

#include <clusterfs/clusterfs.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- an accelerator ---- */

/** a flag of clusterfs_accelerator_settings: a path with a symbolic link in it is refused. Else links may lead to
 * anywhere inside the folder; none leads out of it. */
#define CLUSTERFS_ACCELERATOR_NO_LINKS 1U

/** Set it to CLUSTERFS_ACCELERATOR, then change what differs. */
typedef struct clusterfs_accelerator_settings {
    size_t struct_size; /**< sizeof(clusterfs_accelerator_settings), as in clusterfs_attributes */
    uint64_t flags;     /**< 0 or CLUSTERFS_ACCELERATOR_NO_LINKS */
    uint64_t largest;   /**< bytes of the largest file that is copied; larger ones are read in the folder */
    uint64_t settled;   /**< seconds after its last change from which on a file is copied. Below a minute, content that was changed
                             through a mapping may be missed. The clocks of a network's file servers are to be right */
    uint64_t trusted;   /**< seconds for which the status of a path is believed without another look; 0: each opening looks. In that time,
                             a file may be read as it was before a change */
    uint64_t paths;     /**< whose status is kept in memory for that at most, 250 bytes each and the path */
} clusterfs_accelerator_settings;

/** the initial value of clusterfs_accelerator_settings: files of up to 256 MB, a minute after their last change; nothing is
 * trusted, and else 100,000 paths */
#define CLUSTERFS_ACCELERATOR {sizeof(clusterfs_accelerator_settings), 0, 268435456, 60, 0, 100000}

/** a folder with a store in front of it */
typedef struct clusterfs_accelerator clusterfs_accelerator;

/** Puts a store in front of a folder. An object has the name of its file's path. A store has one folder: with two, files of the same
 * path would push each other out. It has a thread of its own, which copies large files and blocks all signals.
 * \param store stays open until the accelerator is freed
 * \param folder of the files; is kept open
 * \param settings nil = the initial value
 * \param accelerator receives it; the caller frees it
 * \returns 0; CLUSTERFS_FILE, CLUSTERFS_ARGUMENT, CLUSTERFS_NO_MEMORY */
int clusterfs_accelerator_new(clusterfs_store *store, const char *folder, const clusterfs_accelerator_settings *settings,
                              clusterfs_accelerator **accelerator);

/** Gives up what is being copied, and frees it. All of its files are closed before. nil is fine. */
void clusterfs_accelerator_free(clusterfs_accelerator *accelerator);

/** what an accelerator has done */
typedef struct clusterfs_accelerator_counts {
    uint64_t opened;       /**< files that were opened, of which the next four are parts */
    uint64_t stored;       /**< those that the store had */
    uint64_t changed;      /**< those that the store had as they were before a change */
    uint64_t young;        /**< those that were not copied because they were changed a short while ago */
    uint64_t large;        /**< those that were not copied because of their size */
    uint64_t copied;       /**< files that were copied into the store */
    uint64_t failed;       /**< files that were not: the folder or the store refused, they changed meanwhile, or too many waited */
    uint64_t lost;         /**< files that the store has lost while they were read, so that the folder went on */
    uint64_t bytes_stored; /**< bytes that callers read from the store */
    uint64_t bytes_folder; /**< bytes that callers read from the folder */
} clusterfs_accelerator_counts;

/** Tells what is at a path, or what was there no longer ago than the setting trusted says. A link at its end is not followed.
 * \returns 0; CLUSTERFS_FILE and the errors of any call */
int clusterfs_accelerator_status(clusterfs_accelerator *accelerator, const char *path, struct stat *status);

/** Copies the counts of an accelerator.
 * \param size sizeof(clusterfs_accelerator_counts): later versions have more members
 * \returns 0 or CLUSTERFS_ARGUMENT */
int clusterfs_accelerator_count(const clusterfs_accelerator *accelerator, clusterfs_accelerator_counts *counts, size_t size);

/* ---- files ---- */

/** a file that was opened for reading */
typedef struct clusterfs_file clusterfs_file;

/** Opens a regular file. From the store, it has the bytes that it had when it was opened, whatever happens to it meanwhile. A
 * file that is not in the store is read in the folder: up to 256 KB at once, and stored; a larger one piece by
 * piece, while a thread copies it, one after the other and at most 1,024 waiting.
 * \param path from the folder on, such as "images/logo.png"; not absolute, and not with more .. than folders
 * \param client see clusterfs_note(), which hears of each opening; 0 = unknown
 * \param file receives a handle; the caller closes it
 * \returns 0; CLUSTERFS_FILE and the errors of any call */
int clusterfs_file_open(clusterfs_accelerator *accelerator, const char *path, uint64_t client, clusterfs_file **file);

/** \returns what stat() said when the file was opened, or no longer before than the setting trusted says; of the file; nil when file is nil */
const struct stat *clusterfs_file_status(const clusterfs_file *file);

/** \returns 1 when the store had the file, 0 when not */
int clusterfs_file_stored(const clusterfs_file *file);

/** Copies bytes of a file. \returns how many: size, or fewer at its end, where it is 0; CLUSTERFS_FILE, with errno ESTALE when the store
 * has lost the file and the folder has another one by now, and the errors of any call */
int64_t clusterfs_file_read(clusterfs_file *file, uint64_t offset, void *to, size_t size);

/** Frees the handle; nil is fine. */
void clusterfs_file_close(clusterfs_file *file);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

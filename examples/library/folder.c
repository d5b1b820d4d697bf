/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the files of a folder, and reads them back.
 *
 *     folder STORE put FOLDER     stores each file of the folder under its name, the files side by side
 *     folder STORE get NAME       writes a file to standard output
 *     folder STORE list           names and sizes of all files
 *
 * STORE is a file or a disk. A file that does not exist is made, with 64 MB.
 * To build: cc folder.c $(pkg-config --cflags --libs clusterfs) -o folder
 */

#include <clusterfs/clusterfs.h>

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Says what went wrong. Returns the exit code. */
static int
failed(const char *what, int error)
{
    fprintf(stderr, "%s: %s\n", what, clusterfs_strerror(error));
    return 1;
}

/* Stores one file as a stream, so that it need not be in memory. */
static int
put_file(clusterfs_store *store, const char *folder, const char *name)
{
    char path[4096];
    char piece[65536];
    size_t count;
    FILE *file;
    clusterfs_writer *writer = NULL;
    int error;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    error = clusterfs_create(store, name, strlen(name), NULL, &writer);
    while (error == 0 && (count = fread(piece, 1, sizeof(piece), file)) > 0)
        error = clusterfs_append(writer, piece, count);
    if (error == 0 && ferror(file)) {
        perror(path);
        clusterfs_abort(writer);
        fclose(file);
        return 1;
    }
    fclose(file);
    if (error == 0)
        error = clusterfs_commit(writer);
    else
        clusterfs_abort(writer);
    return error == 0 ? 0 : failed(path, error);
}

static int
put(clusterfs_store *store, const char *path)
{
    clusterfs_name names[512];
    size_t count = 0;
    int bad = 0;
    int error;
    struct dirent **found;
    const int entries = scandir(path, &found, NULL, alphasort);

    if (entries < 0) {
        perror(path);
        return 1;
    }
    for (int n = 0; n < entries; ++n) {
        if (found[n]->d_type == DT_REG && count < 512) {
            names[count].bytes = found[n]->d_name;
            names[count].size = strlen(found[n]->d_name);
            ++count;
        }
    }
    /* They will be read together: the first one leads. */
    if (count > 1) {
        error = clusterfs_collocate(store, names[0].bytes, names[0].size, names + 1, count - 1);
        if (error != 0)
            bad = failed(path, error);
    }
    for (int n = 0; n < entries; ++n) {
        if (found[n]->d_type == DT_REG)
            bad |= put_file(store, path, found[n]->d_name);
        free(found[n]);
    }
    free(found);
    /* Without this, they would be safe from a power cut half a minute later. */
    error = clusterfs_sync(store);
    return error == 0 ? bad : failed(path, error);
}

static int
get(clusterfs_store *store, const char *name)
{
    clusterfs_object *object = NULL;
    char piece[65536];
    uint64_t at = 0;
    int64_t count;
    const int error = clusterfs_read(store, name, strlen(name), &object);

    if (error != 0)
        return failed(name, error);
    while ((count = clusterfs_read_bytes(object, at, piece, sizeof(piece))) > 0) {
        if (fwrite(piece, 1, (size_t)count, stdout) != (size_t)count)
            break;
        at += (uint64_t)count;
    }
    clusterfs_release(object);
    if (count < 0)
        return failed(name, (int)count);
    return fflush(stdout) == 0 && count == 0 ? 0 : 1;
}

static int
list(clusterfs_store *store)
{
    clusterfs_walk *walk = NULL;
    clusterfs_name name;
    uint64_t size;
    int found = clusterfs_walk_new(store, &walk);

    while (found >= 0 && (found = clusterfs_walk_next(walk, &name, &size)) == 1)
        printf("%10llu %.*s\n", (unsigned long long)size, (int)name.size, (const char *)name.bytes);
    clusterfs_walk_free(walk);
    return found < 0 ? failed("list", found) : 0;
}

int
main(int argc, char **argv)
{
    clusterfs_store *store = NULL;
    const char *paths[1];
    char reason[512] = "";
    int result = 2;
    int error;

    if (argc < 3 || (strcmp(argv[2], "list") != 0 && argc != 4)) {
        fprintf(stderr, "usage: folder STORE put FOLDER | get NAME | list\n");
        return 2;
    }
    paths[0] = argv[1];
    /* Leaves alone what is a store already, and refuses what holds anything else. */
    error = clusterfs_format(paths[0], NULL, 64 << 20, 0, reason, sizeof(reason));
    if (error >= 0)
        error = clusterfs_open(paths, 1, NULL, &store, reason, sizeof(reason));
    if (error < 0) {
        fprintf(stderr, "%s\n", reason);
        return 1;
    }
    if (strcmp(argv[2], "put") == 0)
        result = put(store, argv[3]);
    else if (strcmp(argv[2], "get") == 0)
        result = get(store, argv[3]);
    else if (strcmp(argv[2], "list") == 0)
        result = list(store);
    error = clusterfs_close(store);
    return error == 0 ? result : failed(paths[0], error);
}

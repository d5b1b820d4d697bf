/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program in C that uses the shared library: each kind of call once, in a folder of its own.
 * library-c-test FILE: makes a store in FILE, which must not exist. Prints "fine", or the line that went wrong. */

#include "faces.h"

#include <clusterfs/clusterfs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: %s\n", __LINE__, #condition); \
            return 1; \
        } \
    } while (0)

static int
objects(clusterfs_store *store)
{
    clusterfs_object *object = NULL;
    clusterfs_writer *writer = NULL;
    clusterfs_attributes attributes = CLUSTERFS_ATTRIBUTES;
    const void *data = NULL;
    size_t size = 0;
    char bytes[16] = "";

    EXPECT(clusterfs_write(store, "name", 4, "some bytes", 10, NULL) == 0);
    EXPECT(clusterfs_exists(store, "name", 4) == 1);
    EXPECT(clusterfs_length(store, "name", 4) == 10);
    EXPECT(clusterfs_read_into(store, "name", 4, bytes, sizeof(bytes)) == 10);
    EXPECT(memcmp(bytes, "some bytes", 10) == 0);

    attributes.group = 3;
    attributes.expected_size = 11;
    EXPECT(clusterfs_create(store, "stream", 6, &attributes, &writer) == 0);
    EXPECT(clusterfs_append(writer, "more ", 5) == 0);
    EXPECT(clusterfs_append(writer, "bytes.", 6) == 0);
    EXPECT(clusterfs_read(store, "stream", 6, &object) == -CLUSTERFS_NOT_FOUND);
    EXPECT(clusterfs_commit(writer) == 0);
    EXPECT(clusterfs_read(store, "stream", 6, &object) == 0);
    EXPECT(clusterfs_size(object) == 11);
    EXPECT(clusterfs_view(object, 5, &data, &size) == 0);
    EXPECT(size == 6 && memcmp(data, "bytes.", 6) == 0);
    EXPECT(clusterfs_read_bytes(object, 0, bytes, 4) == 4);
    EXPECT(memcmp(bytes, "more", 4) == 0);
    clusterfs_release(object);

    EXPECT(clusterfs_remove(store, "name", 4) == 0);
    EXPECT(clusterfs_exists(store, "name", 4) == 0);
    EXPECT(clusterfs_sync(store) == 0);
    return 0;
}

static int
inside(clusterfs_store *store)
{
    clusterfs_walk *walk = NULL;
    clusterfs_name name = {NULL, 0};
    uint64_t size = 0;
    double value = 0;
    char text[64] = "";

    EXPECT(clusterfs_walk_new(store, &walk) == 0);
    EXPECT(clusterfs_walk_next(walk, &name, &size) == 1);
    EXPECT(name.size == 6 && memcmp(name.bytes, "stream", 6) == 0 && size == 11);
    EXPECT(clusterfs_walk_next(walk, &name, &size) == 0);
    clusterfs_walk_free(walk);
    EXPECT(clusterfs_statistic(store, 0, "objects", &value) == 0 && value == 1);
    EXPECT(clusterfs_report(store, 0, text, sizeof(text)) > (int64_t)sizeof(text) && strlen(text) == sizeof(text) - 1);
    return 0;
}

static int
answers(clusterfs_store *store)
{
    clusterfs_queue *queue = NULL;
    clusterfs_request request;
    clusterfs_answer answer;

    EXPECT(clusterfs_queue_new(store, 4, &queue) == 0);
    memset(&request, 0, sizeof(request));
    request.struct_size = sizeof(request);
    request.operation = CLUSTERFS_OP_READ;
    request.tag = 42;
    request.name = "stream";
    request.name_size = 6;
    EXPECT(clusterfs_submit(queue, &request) == 0);
    EXPECT(clusterfs_wait(queue, &answer, 1, -1) == 1);
    EXPECT(answer.tag == 42 && answer.result == 0 && answer.operation == CLUSTERFS_OP_READ);
    EXPECT(clusterfs_size(answer.object) == 11);
    clusterfs_release(answer.object);
    clusterfs_queue_free(queue);
    return 0;
}

int
main(int argc, char **argv)
{
    clusterfs_options *options = NULL;
    clusterfs_store *store = NULL;
    const char *paths[1];
    const char *wrong;
    char reason[256] = "";

    if (argc != 2) {
        fprintf(stderr, "usage: library-c-test FILE\n");
        return 2;
    }
    paths[0] = argv[1];
    EXPECT(clusterfs_options_new(&options) == 0);
    EXPECT(clusterfs_options_set(options, "staging", "few", reason, sizeof(reason)) == -CLUSTERFS_ARGUMENT);
    EXPECT(strstr(reason, "staging") != NULL);
    EXPECT(clusterfs_format(paths[0], options, 32 << 20, 0, reason, sizeof(reason)) == 0);
    EXPECT(clusterfs_open(paths, 1, options, &store, reason, sizeof(reason)) == 0);
    clusterfs_options_free(options);
    if (objects(store) != 0 || inside(store) != 0 || answers(store) != 0)
        return 1;
    wrong = try_cfs(store);
    if (wrong) {
        printf("CFS: %s\n", wrong);
        return 1;
    }
    wrong = try_hummingbird(store);
    if (wrong) {
        printf("Hummingbird: %s\n", wrong);
        return 1;
    }
    EXPECT(clusterfs_close(store) == 0);
    printf("fine\n");
    return 0;
}

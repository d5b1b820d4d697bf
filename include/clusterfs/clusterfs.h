/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine of clusterfs as a library: a cache of immutable objects with names, on disks, partitions or files.
 * C11. Only this header is a stable interface; clusterfs.hpp is C++ on top of it.
 *
 * A call returns 0 or more when it did what it says, and the negative of a clusterfs_error when not. A store and its
 * handles may be used by any number of threads at a time, unless a call says otherwise. A call waits for the disk
 * where it must. A handle is released before its store is closed; after that, calls on it answer CLUSTERFS_CLOSED.
 * In a child that was made by fork(), all calls on a store of the parent answer CLUSTERFS_FORKED.
 *
 * What was stored is a cache: the store forgets objects when it needs room. What a read gives back is exactly what was
 * stored under this name, or it is CLUSTERFS_NOT_FOUND or another error.
 */

#ifndef CLUSTERFS_CLUSTERFS_H
#define CLUSTERFS_CLUSTERFS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- errors ---- */

/** Why a call failed. Calls return these as negative numbers. Later versions may add some. */
enum clusterfs_error {
    CLUSTERFS_ARGUMENT = 1,     /**< an argument is not valid: nil, out of bounds, an unknown name or value */
    CLUSTERFS_NOT_FOUND = 2,    /**< there is no such object, statistic or file */
    CLUSTERFS_BUSY = 3,         /**< a limit was reached; the same call may succeed later */
    CLUSTERFS_TOO_LARGE = 4,    /**< the object is larger than the device takes, or the name than 2^32 bytes */
    CLUSTERFS_NO_ROOM = 5,      /**< there is no room on the device, and none can be made */
    CLUSTERFS_NO_MEMORY = 6,    /**< the process got no memory, no thread or no file descriptor */
    CLUSTERFS_IO = 7,           /**< the device refused or lost a request; an object that was being read is forgotten */
    CLUSTERFS_DAMAGED = 8,      /**< the bytes on the device are not those that were written; such an object is forgotten */
    CLUSTERFS_FOREIGN = 9,      /**< the device holds something else than a store */
    CLUSTERFS_UNSUPPORTED = 10, /**< a store, but of a format or geometry that this library can't use */
    CLUSTERFS_DEVICE = 11,      /**< the device can't be opened or used; another process may have it */
    CLUSTERFS_READ_ONLY = 12,   /**< the device takes no writes any more; objects can still be read */
    CLUSTERFS_OFFLINE = 13,     /**< the device is out of service */
    CLUSTERFS_CLOSED = 14,      /**< the store is closed */
    CLUSTERFS_FORKED = 15,      /**< the store belongs to the parent of this process */
    CLUSTERFS_LOST = 16,        /**< the object on its way in was given up, because of a limit or the device; store it anew */
    CLUSTERFS_NOT_LISTED = 17,  /**< the store was opened with list=off, and can't list its objects */
    CLUSTERFS_NOT_ADMITTED = 18,/**< the option admit keeps the object out until it was offered more often */
    CLUSTERFS_INTERNAL = 19,    /**< a defect of the library */
    CLUSTERFS_FILE = 20,        /**< of accelerator.h: a file can't be opened or read, and errno says why */
    CLUSTERFS_NO_LOCALITY = 21  /**< the store was opened with locality=0, and knows no groups */
};

/** \returns an English phrase for what a call returned, negative or not; never nil, and not to be freed */
const char *clusterfs_strerror(int code);

/** \returns the version of the library, as "0.1"; not to be freed */
const char *clusterfs_version(void);

/* ---- options ---- */

/** The options of a store. They have the names and values of cache_dir, see docs/operations.md; a change has no effect
 * on a store that is open. Used by one thread at a time. */
typedef struct clusterfs_options clusterfs_options;

/** Makes options with their defaults, which are those of cache_dir, but for list=on. The caller frees them.
 * \returns 0, CLUSTERFS_NO_MEMORY, or CLUSTERFS_ARGUMENT */
int clusterfs_options_new(clusterfs_options **options);

/** Sets one option.
 * \param name such as "staging", \param value such as "64": text as behind the = in squid.conf
 * \param reason receives a sentence with a NUL at its end when the call fails; may be nil
 * \param reason_size bytes of reason
 * \returns 0 or CLUSTERFS_ARGUMENT */
int clusterfs_options_set(clusterfs_options *options, const char *name, const char *value, char *reason, size_t reason_size);

/** an object that may have to make room, as a program's policy sees it */
typedef struct clusterfs_candidate {
    uint32_t bytes; /**< that it takes on the device */
    uint32_t age;   /**< time since its last use: how often the device was written over meanwhile, in 64ths; below 128 */
    uint32_t uses;  /**< since it was written; 7 = 7 or more */
} clusterfs_candidate;

/** A program's own policies in place of those of a store. The store calls them while it works, one at a time for each device, on a
 * thread of its own or in a call of the program. So they are quick, call nothing of this library, and give the same answer to the
 * same question. nil = that policy is the store's own. Set it to zeros and
 * struct_size first. */
typedef struct clusterfs_policies {
    size_t struct_size; /**< sizeof(clusterfs_policies): later versions have more members; 0 means nothing in them */
    void *opaque;       /**< the first argument of each function */

    /** Tells how much a byte of an object is worth to be kept. When a cluster makes room, that goes which has the fewest bytes of
     * worth, and of its objects those that are worth most are kept, as the option write-budget allows.
     * \returns a binary logarithm from -34 to 4; below that, it is worth nothing */
    double (*worth)(void *opaque, const clusterfs_candidate *object);

    /** Decides whether a group that is next goes into a cluster that has some objects already; as much of it as fits, then. Else it waits
     * for the next cluster. \returns 0 = it waits */
    int (*joins)(void *opaque, uint64_t objects, uint64_t bytes, uint64_t bytes_left);

    /** Chooses where the next cluster is written: the store takes the free one that is closest.
     * \param clusters how many the device has; they are numbered from 0 in the order of their place
     * \param used the one of the object that was used last
     * \param written the one that was chosen last */
    uint32_t (*place)(void *opaque, uint32_t clusters, uint32_t used, uint32_t written);
} clusterfs_policies;

/** Takes a program's policies for stores that are opened with these options. They and opaque are needed until such a store is closed.
 * \param policies copied; nil = none
 * \returns 0; CLUSTERFS_ARGUMENT, CLUSTERFS_NO_MEMORY */
int clusterfs_options_policies(clusterfs_options *options, const clusterfs_policies *policies);

/** Frees options; nil is fine. */
void clusterfs_options_free(clusterfs_options *options);

/* ---- devices ---- */

/** a flag of clusterfs_format(): overwrite whatever is there, unless somebody uses it */
#define CLUSTERFS_FORMAT_FORCE 1U

/** Makes an empty store on one device: a block device or a file. A file that does not exist is made. A device that holds
 * anything but zeros is refused, and stays as it is, as does one that somebody uses. Blocks.
 * \param options nil = defaults; cluster-size and object-size count
 * \param bytes size of a file to be made, or how much to use of what there is, in whole blocks of 4096;
 * 0 = all of it
 * \param flags 0 or CLUSTERFS_FORMAT_FORCE
 * \param reason see clusterfs_options_set()
 * \returns 0; 1 when it is a store already, which was left as it is; CLUSTERFS_FOREIGN, CLUSTERFS_DEVICE,
 * CLUSTERFS_ARGUMENT, CLUSTERFS_NO_MEMORY */
int clusterfs_format(const char *path, const clusterfs_options *options, uint64_t bytes, unsigned flags,
                     char *reason, size_t reason_size);

/** a store that is open, on one device or several; see clusterfs_open() */
typedef struct clusterfs_store clusterfs_store;

/** Opens a store that clusterfs_format() or `clusterfs format` has made, and waits until its index is loaded. Each device
 * has a thread of its own, which blocks all signals. Objects are spread over the devices by their names; the order of
 * paths has no effect. Give the same devices each time: what other devices hold is not found, and comes back with them.
 * One process at a time can have a device open.
 * \param count number of paths, 1 to 64
 * \param options nil = defaults; each device gets the memory that they name
 * \param store receives the store; the caller closes it
 * \param reason see clusterfs_options_set()
 * \returns 0; CLUSTERFS_FOREIGN, CLUSTERFS_DAMAGED, CLUSTERFS_UNSUPPORTED, CLUSTERFS_DEVICE, CLUSTERFS_IO,
 * CLUSTERFS_ARGUMENT, CLUSTERFS_NO_MEMORY */
int clusterfs_open(const char *const *paths, size_t count, const clusterfs_options *options, clusterfs_store **store,
                   char *reason, size_t reason_size);

/** Stops a store in order, and frees it: writes what is in memory, and waits for that. No other thread may be in a call
 * on this store, nor make one later; on its handles it may. Without this call, the next clusterfs_open() finds the
 * store as after a crash. nil is fine.
 * \returns 0; CLUSTERFS_IO when something could not be written, so that the next start finds the store as after a
 * crash; CLUSTERFS_FORKED, and then nothing is freed */
int clusterfs_close(clusterfs_store *store);

/** \returns how many devices a store has; 0 when store is nil */
size_t clusterfs_devices(const clusterfs_store *store);

/* ---- storing ---- */

/** a flag of clusterfs_attributes: the object is not kept in memory. It leaves that as soon as it is on the disk, and each time that it
 * was read, also after the next clusterfs_open() (Hummingbird's write_nomem_file). Such objects are a group of their own. */
#define CLUSTERFS_NO_CACHE 1U

/** What a store shall know of an object. Set it to CLUSTERFS_ATTRIBUTES, then change what differs. */
typedef struct clusterfs_attributes {
    size_t struct_size;   /**< sizeof(clusterfs_attributes): later versions have more members; 0 means nothing in them */
    uint64_t flags;       /**< 0 or CLUSTERFS_NO_CACHE, and then group is 0 */
    uint64_t group;       /**< the object belongs to the group of this number, see clusterfs_assign(); 0 = to none */
    int64_t expected_size; /**< bytes, for clusterfs_create(): a known size has a place set aside for it; -1 = unknown */
} clusterfs_attributes;

/** the initial value of clusterfs_attributes */
#define CLUSTERFS_ATTRIBUTES {sizeof(clusterfs_attributes), 0, 0, -1}

/** Stores an object under a name, in place of an older one. It can be read from now on. It survives a power cut after the
 * time of the option persist, or after clusterfs_sync(). Waits for room, for a minute at most.
 * \param name any bytes, \param name_size their number, which may be 0
 * \param data may be nil when size is 0; copied
 * \param attributes nil = none
 * \returns 0; 1 when it is stored, but in no group: see clusterfs_assign(); CLUSTERFS_TOO_LARGE, CLUSTERFS_BUSY, CLUSTERFS_NO_ROOM, CLUSTERFS_LOST, CLUSTERFS_READ_ONLY,
 * CLUSTERFS_OFFLINE, CLUSTERFS_NOT_ADMITTED and the errors of any call; the older object is still there then */
int clusterfs_write(clusterfs_store *store, const void *name, size_t name_size, const void *data, size_t size,
                    const clusterfs_attributes *attributes);

/** an object on its way in; used by one thread at a time */
typedef struct clusterfs_writer clusterfs_writer;

/** Begins an object whose bytes come in pieces. Nobody can read it before clusterfs_commit(). An object that gets no
 * bytes for long may be given up in favour of others.
 * \param writer receives a handle; the caller ends it by clusterfs_commit() or clusterfs_abort()
 * \returns as clusterfs_write() */
int clusterfs_create(clusterfs_store *store, const void *name, size_t name_size, const clusterfs_attributes *attributes,
                     clusterfs_writer **writer);

/** Appends a copy of the bytes. Waits while the device is behind.
 * \returns 0; CLUSTERFS_LOST, CLUSTERFS_OFFLINE and the errors of any call: the object is lost then, and the handle is
 * still to be ended */
int clusterfs_append(clusterfs_writer *writer, const void *data, size_t size);

/** The object is complete, and takes the place of an older one of its name. Frees the handle, whatever is returned.
 * \returns 0, CLUSTERFS_NO_ROOM, CLUSTERFS_LOST: the older object is still there then */
int clusterfs_commit(clusterfs_writer *writer);

/** Forgets the object and frees the handle; nil is fine. */
void clusterfs_abort(clusterfs_writer *writer);

/* ---- reading ---- */

/** an object that was found. It does not change, whatever happens to its name meanwhile. */
typedef struct clusterfs_object clusterfs_object;

/** Finds an object. Up to 256 KB, all of it is in memory then; of a larger one only the name, and its place on the device
 * is kept until the handle is released.
 * \param object receives a handle; the caller releases it. A store has at most 65,536 handles of larger objects
 * \returns 0; CLUSTERFS_NOT_FOUND, CLUSTERFS_IO, CLUSTERFS_DAMAGED, CLUSTERFS_BUSY and the errors of any call */
int clusterfs_read(clusterfs_store *store, const void *name, size_t name_size, clusterfs_object **object);

/** \returns the bytes of an object; 0 when object is nil */
uint64_t clusterfs_size(const clusterfs_object *object);

/** Copies bytes of an object.
 * \param offset of the first byte
 * \returns how many bytes were copied: size, or fewer at the end of the object, where it is 0; CLUSTERFS_IO,
 * CLUSTERFS_DAMAGED and the errors of any call */
int64_t clusterfs_read_bytes(clusterfs_object *object, uint64_t offset, void *to, size_t size);

/** Gives a pointer to bytes of an object. This library copies them once, from its cache into memory of the handle: an
 * object up to 256 KB is one piece. A larger one has pieces of 256 KB, which stay in memory, beside the store's own,
 * until the handle is released; clusterfs_read_bytes() needs no such memory.
 * \param offset of the first byte
 * \param data receives the address; valid until the handle is released
 * \param size receives how many bytes are there: at least 1, and 0 at the end of the object
 * \returns 0; as clusterfs_read_bytes() */
int clusterfs_view(clusterfs_object *object, uint64_t offset, const void **data, size_t *size);

/** Lets a handle be released once more. \returns the object */
clusterfs_object *clusterfs_retain(clusterfs_object *object);

/** Gives a handle back; the last time frees it and all that clusterfs_view() gave. nil is fine. */
void clusterfs_release(clusterfs_object *object);

/** Copies the first bytes of an object; for a caller who needs no handle.
 * \param size bytes of room at to
 * \returns the bytes of the whole object, which may be more than were copied; as clusterfs_read() */
int64_t clusterfs_read_into(clusterfs_store *store, const void *name, size_t name_size, void *to, size_t size);

/* ---- the rest of objects ---- */

/** Forgets an object at once; open handles may go on. It stays forgotten after a power cut once the time of the option
 * delete-time is over, or after clusterfs_sync().
 * \returns 0; CLUSTERFS_NOT_FOUND and the errors of any call */
int clusterfs_remove(clusterfs_store *store, const void *name, size_t name_size);

/** Looks into the index, and does not wait for the disk. Where another name has the same hash of 64 bits, it may say yes
 * although a read is a miss.
 * \returns 1 or 0; the errors of any call */
int clusterfs_exists(clusterfs_store *store, const void *name, size_t name_size);

/** \returns the bytes of an object; CLUSTERFS_NOT_FOUND and the errors of any call. As sure as clusterfs_exists() */
int64_t clusterfs_length(clusterfs_store *store, const void *name, size_t name_size);

/** Waits until everything that was stored or removed before survives a power cut.
 * \returns 0; CLUSTERFS_IO, CLUSTERFS_OFFLINE and the errors of any call */
int clusterfs_sync(clusterfs_store *store);

/** Housekeeping for clusterfs_run(). A store does it by itself when its own limits are reached; a program that knows when it is idle,
 * or what is to come, may want it before. They are the daemons of Hummingbird. */
enum clusterfs_chore {
    CLUSTERFS_PACK = 1,           /**< writes what is stored and not on the device yet, that first which was not used for longest, until at
                                   * most so many bytes of it are left */
    CLUSTERFS_PACK_FROM_HEAD = 2, /**< the same, beginning with what was used last: that comes to lie together */
    CLUSTERFS_FREE_MEMORY = 3,    /**< forgets bytes that are on the device, until at most so many are in memory */
    CLUSTERFS_FREE_DISK = 4,      /**< forgets objects, those that would be evicted first, until so many bytes of the device are free */
    CLUSTERFS_CHECKPOINT = 5      /**< writes down what the next start needs: the index, the groups, and what is in memory, see the option warm */
};

/** Does housekeeping on all devices, and waits for it.
 * \param chore one of clusterfs_chore
 * \param bytes on each device, see there; 0 for CLUSTERFS_CHECKPOINT
 * \returns 0; CLUSTERFS_BUSY when the rest of the memory is in use; CLUSTERFS_NO_ROOM when no more of the device can be made free;
 * CLUSTERFS_IO, CLUSTERFS_OFFLINE and the errors of any call */
int clusterfs_run(clusterfs_store *store, int chore, uint64_t bytes);

/** a name for calls that take several */
typedef struct clusterfs_name {
    const void *bytes;
    size_t size;
} clusterfs_name;

/** a walk over the objects of a store; used by one thread at a time */
typedef struct clusterfs_walk clusterfs_walk;

/** Begins a walk, in no order. What comes or goes meanwhile may be left out. It reads the beginning of each object, so that
 * a walk over all of a disk takes long.
 * \param walk receives a handle; the caller frees it
 * \returns 0; CLUSTERFS_NOT_LISTED and the errors of any call */
int clusterfs_walk_new(clusterfs_store *store, clusterfs_walk **walk);

/** The same over the objects that are on the disk, in an order, one device after the other: those that would be evicted first come
 * first. A walk may end early when the store evicts meanwhile.
 * \returns as clusterfs_walk_new() */
int clusterfs_walk_ripe(clusterfs_store *store, clusterfs_walk **walk);

/** The same from those on that were stored or used last. */
int clusterfs_walk_hot(clusterfs_store *store, clusterfs_walk **walk);

/** Goes on to the next object.
 * \param name receives its name, which stays until the next call
 * \param size receives its bytes; may be nil
 * \returns 1; 0 when there is none left; the errors of any call */
int clusterfs_walk_next(clusterfs_walk *walk, clusterfs_name *name, uint64_t *size);

/** Ends a walk; nil is fine. */
void clusterfs_walk_free(clusterfs_walk *walk);

/* ---- objects that belong together: hints, none of which needs an object to be stored yet ---- */

/** The members will be read together with the leader: the store packs them side by side, on each device those that are
 * there. A store that was opened with locality=0 does nothing about it.
 * \param count at most 511 members count
 * \returns 0; the errors of any call */
int clusterfs_collocate(clusterfs_store *store, const void *leader, size_t leader_size, const clusterfs_name *members, size_t count);

/* Groups that the caller numbers, from 1 to 2^64 - 2. Their members are stored side by side, in the order in which they came. They and the orders
 * below are kept when the store is closed, those of objects that are not stored left out. Orders count for all devices of a store. */

/** Puts an object into a group, and takes it out of another one. A group has any number of members; all groups of a device
 * together take as much memory as the option locality, 50 bytes for a member. Those that are not stored leave first.
 * \returns 0; CLUSTERFS_BUSY when there is no such memory, CLUSTERFS_NO_LOCALITY and the errors of any call */
int clusterfs_assign(clusterfs_store *store, uint64_t group, const void *name, size_t name_size);

/** Takes an object out of its group. \returns 0; CLUSTERFS_NOT_FOUND when it has none, and the errors of any call */
int clusterfs_unassign(clusterfs_store *store, const void *name, size_t name_size);

/** Tells the group of an object, stored or not.
 * \param group receives its number
 * \returns 0; CLUSTERFS_NOT_FOUND when it has none, and the errors of any call */
int clusterfs_group(clusterfs_store *store, const void *name, size_t name_size, uint64_t *group);

/** Forgets a group and all orders for it, but none of its objects.
 * \returns 0; CLUSTERFS_NOT_FOUND when there is none, and the errors of any call */
int clusterfs_dissolve(clusterfs_store *store, uint64_t group);

/** The members of a group are wanted: those that are in memory are as if they were used now, and a later
 * clusterfs_hate() does not count any more. \returns as clusterfs_assign() */
int clusterfs_love(clusterfs_store *store, uint64_t group);

/** The members of a group are not wanted soon: from now on, they are the first to leave memory, each time that they were
 * read or stored. \returns as clusterfs_assign() */
int clusterfs_hate(clusterfs_store *store, uint64_t group);

/** Ends clusterfs_love() and clusterfs_hate(). \returns as clusterfs_assign() */
int clusterfs_unmark(clusterfs_store *store, uint64_t group);

/** instead of seconds: objects need not survive a power cut */
#define CLUSTERFS_NEVER 0xffffffffU

/** Objects that are stored in a group from now on survive a power cut after so many seconds, instead of the time of the option
 * persist. \param seconds 0 = as the option persist says; or CLUSTERFS_NEVER
 * \returns as clusterfs_assign() */
int clusterfs_persist(clusterfs_store *store, uint64_t group, uint32_t seconds);

/** Begins a walk over the objects of a group that are stored, on each device in the order in which they came into the group.
 * \param walk as clusterfs_walk_new()
 * \returns 0; the errors of any call */
int clusterfs_walk_group(clusterfs_store *store, uint64_t group, clusterfs_walk **walk);

/** Tells of a request, so that the store learns which objects are wanted together. A client is whoever makes one request
 * after the other: objects that it wants with a page, or in the same order again and again, are packed side by side. A
 * store that was opened with locality=0 does nothing about it. Does not wait, and is left out while the store is busy.
 * \param client any number but 0: a connection, a user, a process
 * \param name of the object that was asked for, whether it is stored or not
 * \param page the name of the object that has asked for it, such as a Referer; nil when nobody knows
 * \returns 0; CLUSTERFS_BUSY, CLUSTERFS_ARGUMENT and the errors of any call */
int clusterfs_note(clusterfs_store *store, uint64_t client, const void *name, size_t name_size, const void *page, size_t page_size);

/** What a request of HTTP says of its purpose: texts that end with a NUL, nil = absent. Set it to zeros and struct_size first. */
typedef struct clusterfs_http {
    size_t struct_size;   /**< sizeof(clusterfs_http): later versions have more members; 0 means nothing in them */
    const char *url;      /**< the absolute URL */
    const char *referer;  /**< the value of Referer, and of other headers: */
    const char *accept;   /**< Accept */
    const char *fetch_dest; /**< Sec-Fetch-Dest */
    const char *fetch_mode; /**< Sec-Fetch-Mode */
} clusterfs_http;

/** The same for an HTTP proxy or server, which can tell more of a request: whether a browser has opened a page, or wants a part of
 * one, and on which site. It is what Squid's module does. A store that has pages read ahead, or puts the objects that many pages share
 * beside each other, needs that. A program calls this or clusterfs_note(), not both.
 * \param name of the object that was asked for; need not be its URL
 * \param http texts that are not understood count as absent
 * \returns as clusterfs_note() */
int clusterfs_note_http(clusterfs_store *store, uint64_t client, const void *name, size_t name_size, const clusterfs_http *http);

/* ---- calls that do not wait ---- */

/** the calls that clusterfs_submit() takes */
enum clusterfs_operation {
    CLUSTERFS_OP_READ = 1,   /**< as clusterfs_read() */
    CLUSTERFS_OP_WRITE = 2,  /**< as clusterfs_write() */
    CLUSTERFS_OP_REMOVE = 3, /**< as clusterfs_remove() */
    CLUSTERFS_OP_SYNC = 4    /**< as clusterfs_sync() */
};

/** A call. Set it to zeros and struct_size, then what the call needs. */
typedef struct clusterfs_request {
    size_t struct_size; /**< sizeof(clusterfs_request): later versions have more members; 0 means nothing in them */
    int operation;      /**< one of clusterfs_operation */
    uint64_t tag;       /**< the caller's own: its answer has it */
    const void *name;   /**< copied by clusterfs_submit() */
    size_t name_size;
    const void *data;   /**< of a write: not copied, and stays as it is until the answer has come */
    size_t size;
    const clusterfs_attributes *attributes; /**< of a write; nil = none */
} clusterfs_request;

/** An answer. */
typedef struct clusterfs_answer {
    uint64_t tag;             /**< of the request */
    clusterfs_object *object; /**< of a read that succeeded; the caller releases it. Else nil */
    int operation;            /**< of the request */
    int result;               /**< what the call that waits would have returned */
    uint64_t reserved[2];     /**< 0 in this version */
} clusterfs_answer;

/** where answers come in */
typedef struct clusterfs_queue clusterfs_queue;

/** Makes a queue for the answers of calls on a store.
 * \param limit most requests that are not answered, or whose answers are not fetched: 1 to 65536
 * \param queue receives it; the caller frees it before the store is closed
 * \returns 0; CLUSTERFS_ARGUMENT, CLUSTERFS_NO_MEMORY and the errors of any call */
int clusterfs_queue_new(clusterfs_store *store, size_t limit, clusterfs_queue **queue);

/** \returns a file descriptor that is readable while answers wait; for poll() and the like only; of the queue */
int clusterfs_queue_fd(const clusterfs_queue *queue);

/** Begins a call, and does not wait.
 * \returns 0: an answer will come; CLUSTERFS_BUSY when the limit of the queue, or of the store, is reached: fetch
 * answers first; CLUSTERFS_ARGUMENT and the errors of any call: no answer will come */
int clusterfs_submit(clusterfs_queue *queue, const clusterfs_request *request);

/** Fetches answers, in the order in which they came.
 * \param answers receives them, \param most how many there is room for, at least 1
 * \param milliseconds to wait for the first one; 0 = do not wait, -1 = without limit
 * \returns how many: 0 when none came, or nothing is under way; the errors of any call */
int clusterfs_wait(clusterfs_queue *queue, clusterfs_answer *answers, size_t most, int milliseconds);

/** Waits until all requests are answered, drops the answers, releases their objects and frees the queue; nil is fine. */
void clusterfs_queue_free(clusterfs_queue *queue);

/* ---- looking inside ---- */

/** Writes the statistics of one device as lines "name: value", as docs/metrics.md has them, with a NUL at the end.
 * \param device 0 to clusterfs_devices() - 1
 * \param to may be nil when size is 0
 * \returns the bytes of the whole text without the NUL, of which only so many as fit were written; the errors of any call */
int64_t clusterfs_report(clusterfs_store *store, size_t device, char *to, size_t size);

/** Gives one statistic of one device as a number.
 * \param name as in the report, such as "objects"
 * \param value receives it
 * \returns 0; CLUSTERFS_NOT_FOUND when it is no number, or there is none of that name; the errors of any call */
int clusterfs_statistic(clusterfs_store *store, size_t device, const char *name, double *value);

/** Writes the newest lines, at most 64, in which one device has told of warnings and errors since the store was opened,
 * with a NUL at the end. \returns as clusterfs_report() */
int64_t clusterfs_messages(clusterfs_store *store, size_t device, char *to, size_t size);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

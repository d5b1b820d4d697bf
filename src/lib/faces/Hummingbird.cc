// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls of Hummingbird. They stand on the C interface, as another program would. */

#include "clusterfs/hummingbird.h"

#include "lib/Calls.h"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

using namespace ClusterFs::Library;

namespace {

struct Release {
    void operator ()(clusterfs_object *const object) const { clusterfs_release(object); }
};
using ObjectHandle = std::unique_ptr<clusterfs_object, Release>;

/// The bytes of a file that somebody reads.
struct Lent {
    std::string file;
    ObjectHandle object; ///< nil when own has the bytes
    std::unique_ptr<char[]> own;
};

/// The store, and what is lent.
struct Face {
    std::mutex mutex; ///< for all
    clusterfs_store *store = nullptr;
    clusterfs_hummingbird_thresholds thresholds{};
    std::unordered_map<const void *, Lent> lent; ///< by address
    std::unordered_map<std::string, size_t> readers; ///< of each file that is lent
};

Face &
face()
{
    static Face one;
    return one;
}

/// \returns the store, or nil
clusterfs_store *
store()
{
    const std::lock_guard<std::mutex> lock(face().mutex);
    return face().store;
}

int
write(const char *const fname, void *const buf, const size_t sz, const uint64_t flags)
{
    auto *const s = store();
    if (!fname || (!buf && sz))
        return -CLUSTERFS_ARGUMENT;
    if (!s)
        return -CLUSTERFS_CLOSED;
    if (sz > INT_MAX)
        return -CLUSTERFS_TOO_LARGE;
    clusterfs_attributes attributes = CLUSTERFS_ATTRIBUTES;
    attributes.flags = flags;
    const int result = clusterfs_write(s, fname, strlen(fname), buf, sz, &attributes);
    if (result < 0)
        return result;
    free(buf); // NOLINT(cppcoreguidelines-no-malloc): the caller's malloc() made it
    return static_cast<int>(sz);
}

/// finds bytes to lend
/// \param from receives their address
int
borrow(Lent &lent, const uint64_t size, const void *&from)
{
    size_t there = 0;
    const int wrong = size ? clusterfs_view(lent.object.get(), 0, &from, &there) : 0;
    if (wrong != 0)
        return wrong;
    if (size && there == size)
        return 0; // in one piece
    lent.own = std::make_unique<char[]>(static_cast<size_t>(std::max<uint64_t>(size, 1)));
    from = lent.own.get();
    const auto copied = clusterfs_read_bytes(lent.object.get(), 0, lent.own.get(), static_cast<size_t>(size));
    lent.object.reset();
    return copied < 0 ? static_cast<int>(copied) : 0;
}

int
run(const int chore, const uint64_t clusterfs_hummingbird_thresholds::*const threshold)
{
    clusterfs_store *s = nullptr;
    uint64_t bytes = 0;
    {
        const std::lock_guard<std::mutex> lock(face().mutex);
        s = face().store;
        bytes = threshold ? face().thresholds.*threshold : 0;
    }
    return s ? clusterfs_run(s, chore, bytes) : -CLUSTERFS_CLOSED;
}

} // namespace

extern "C" {

int
clusterfs_hummingbird_begin(clusterfs_store *const store, const clusterfs_hummingbird_thresholds *const thresholds)
{
    if (!store || (thresholds && !known(*thresholds)))
        return -CLUSTERFS_ARGUMENT;
    const std::lock_guard<std::mutex> lock(face().mutex);
    if (face().store)
        return -CLUSTERFS_BUSY;
    face().store = store;
    face().thresholds = thresholds ? *thresholds : clusterfs_hummingbird_thresholds{};
    return 0;
}

int
clusterfs_hummingbird_end(void)
{
    const std::lock_guard<std::mutex> lock(face().mutex);
    if (!face().lent.empty())
        return -CLUSTERFS_BUSY;
    face().store = nullptr;
    return 0;
}

int
clusterfs_hummingbird_write_file(const char *const fname, void *const buf, const size_t sz)
{
    return write(fname, buf, sz, 0);
}

int
clusterfs_hummingbird_write_nomem_file(const char *const fname, void *const buf, const size_t sz)
{
    return write(fname, buf, sz, CLUSTERFS_NO_CACHE);
}

int
clusterfs_hummingbird_read_file(const char *const fname, void **const buf)
{
    auto *const s = store();
    if (!fname || !buf)
        return -CLUSTERFS_ARGUMENT;
    if (!s)
        return -CLUSTERFS_CLOSED;
    return guarded([&] {
        clusterfs_object *object = nullptr;
        const int missing = clusterfs_read(s, fname, strlen(fname), &object);
        if (missing != 0)
            return missing;
        Lent lent{fname, ObjectHandle(object), nullptr};
        const auto size = clusterfs_size(object);
        if (size > INT_MAX)
            return -CLUSTERFS_TOO_LARGE;
        const void *from = nullptr;
        const int wrong = borrow(lent, size, from);
        if (wrong != 0)
            return wrong;
        const std::lock_guard<std::mutex> lock(face().mutex);
        ++face().readers[lent.file];
        face().lent.emplace(from, std::move(lent));
        *buf = const_cast<void *>(from); // as the paper has it; who writes there changes what is lent to him alone
        return static_cast<int>(size);
    });
}

int
clusterfs_hummingbird_done_read_file(const char *const fname, void *const buf)
{
    if (!fname)
        return -CLUSTERFS_ARGUMENT;
    Lent back; // its memory is freed without the lock
    const std::lock_guard<std::mutex> lock(face().mutex);
    const auto found = face().lent.find(buf);
    if (found == face().lent.end() || found->second.file != fname)
        return -CLUSTERFS_ARGUMENT;
    back = std::move(found->second);
    face().lent.erase(found);
    const auto reader = face().readers.find(back.file);
    if (!--reader->second)
        face().readers.erase(reader);
    return 0;
}

int
clusterfs_hummingbird_delete_file(const char *const fname)
{
    if (!fname)
        return -CLUSTERFS_ARGUMENT;
    return guarded([&] {
        clusterfs_store *s = nullptr;
        {
            const std::lock_guard<std::mutex> lock(face().mutex);
            if (face().readers.count(fname))
                return -CLUSTERFS_BUSY;
            s = face().store;
        }
        return s ? clusterfs_remove(s, fname, strlen(fname)) : -CLUSTERFS_CLOSED;
    });
}

int
clusterfs_hummingbird_collocate_files(const char *const fnameA, const char *const fnameB)
{
    auto *const s = store();
    if (!fnameA || !fnameB)
        return -CLUSTERFS_ARGUMENT;
    if (!s)
        return -CLUSTERFS_CLOSED;
    for (const auto *const name: {fnameA, fnameB}) {
        const int there = clusterfs_exists(s, name, strlen(name));
        if (there != 1)
            return there == 0 ? -CLUSTERFS_NOT_FOUND : there;
    }
    const clusterfs_name member{fnameB, strlen(fnameB)};
    return clusterfs_collocate(s, fnameA, strlen(fnameA), &member, 1);
}

int
clusterfs_hummingbird_pack_files_daemon(void)
{
    return run(CLUSTERFS_PACK, &clusterfs_hummingbird_thresholds::files);
}

int
clusterfs_hummingbird_pack_files_from_head_daemon(void)
{
    return run(CLUSTERFS_PACK_FROM_HEAD, &clusterfs_hummingbird_thresholds::files);
}

int
clusterfs_hummingbird_free_main_memory_data_daemon(void)
{
    return run(CLUSTERFS_FREE_MEMORY, &clusterfs_hummingbird_thresholds::memory);
}

int
clusterfs_hummingbird_free_disk_space_daemon(void)
{
    return run(CLUSTERFS_FREE_DISK, &clusterfs_hummingbird_thresholds::disk);
}

int
clusterfs_hummingbird_sync_hot_clusters_daemon(void)
{
    return run(CLUSTERFS_CHECKPOINT, nullptr);
}

} // extern "C"

// SPDX-License-Identifier: GPL-2.0-or-later
/* Where an experiment keeps its objects: libclusterfs, by the calls of a paper, or files. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_STORE_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_STORE_H

#include "Content.h"

#include "tools/base/Json.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace Papers {

using Tools::Json;

/// What the caller knows of the objects that are fetched together. The papers'
/// calls for locality (Hummingbird's collocate_files, Damelo's groups) end here:
/// a store that can use it places and reads the members of a group together.
struct Hint {
    static constexpr uint32_t none = 0xffffffffU;
    uint32_t group = none; ///< the page: the id of its container; Damelo: number of the group
    uint32_t client = none; ///< who asks
    bool container = false; ///< the object is what the others belong to
};

/// what became of an operation
enum class Outcome : uint8_t {
    done,
    missing, ///< there is no such object
    refused, ///< too large, no room, or a limit was reached
    bad ///< read, and the bytes are not those that were stored
};

/// memory of a thread for bytes on their way
constexpr size_t pieceBytes = 256 * 1024;
/// memory that a thread takes in all: these, and its stack
constexpr uint64_t threadBytes = pieceBytes + 64 * 1024;

/// whose calls an experiment makes, when its store is not files alone
enum class Calls : uint8_t { plain, hummingbird, cfs, damelo, accelerator };

/// what an experiment needs of a store
struct StoreOrder {
    std::string kind; ///< clusterfs or files
    Calls calls = Calls::plain;
    std::string path; ///< a block device or image; an empty folder for files, and for an accelerator
    uint64_t memory = 0; ///< bytes for objects, all caches together, and for learning about them
    uint64_t ownMemory = 0; ///< files: of these, for the caller's memory cache; the rest is page cache
    uint32_t objects = 0; ///< ids are below
    uint64_t meanBytes = 0; ///< of an object
    unsigned threads = 1; ///< that use the store at once
    std::map<std::string, std::string> options; ///< clusterfs: by name, as of cache_dir
    uint32_t groups = 0; ///< Damelo: the number of groups
    bool hints = true; ///< clusterfs: pass them on
    bool force = false; ///< format what holds something else
    uint64_t seed = 1;
};

/// Immutable objects by number. All calls wait until they are done, and may come
/// from several threads at once, but not two changing calls for one object.
class Store
{
public:
    virtual ~Store() = default;

    /// Stores an object. \returns done or refused
    virtual Outcome create(const Item &, const Hint &) = 0;

    /// Reads an object, all of it, and checks what was read.
    /// \param version receives which version it was
    virtual Outcome read(const Item &, const Hint &, uint32_t &version) = 0;

    /// \returns done or missing
    virtual Outcome remove(uint32_t id) = 0;

    /// What the papers' daemons do: to be called now and then.
    virtual void idle() = 0;

    /// Damelo's love() and hate(): which groups are about to be wanted, and which are not.
    virtual void prefer(const std::vector<bool> &groups) { (void)groups; }

    /// Returns when all that was done so far has reached the device.
    virtual bool sync(std::string &error) = 0;

    /// Afterwards, nothing that was stored is in memory. Implies sync().
    virtual bool dropMemory(std::string &error) = 0;

    /// bytes of memory that the store may still take from here on
    virtual uint64_t memoryToCome() const = 0;

    /// settings and counters for the report
    virtual Json describe() const = 0;
};

/// asks whoever runs the program to empty the page cache of a file system that
/// has no open files. \returns false when nobody can
using DropCaches = std::function<bool()>;

/// \returns nil with the reason in error
std::unique_ptr<Store> openStore(const StoreOrder &, const Content &, DropCaches, std::string &error);

} // namespace Papers

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The store as its callers see it. */

#ifndef SQUID_SRC_FS_CLUSTER_API_ENGINE_H
#define SQUID_SRC_FS_CLUSTER_API_ENGINE_H

#include "fs/cluster/api/Config.h"
#include "fs/cluster/api/Reader.h"
#include "fs/cluster/api/Request.h"
#include "fs/cluster/api/Stats.h"
#include "fs/cluster/api/Writer.h"
#include "fs/cluster/base/Types.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ClusterFs {

struct Superblock;

/// what an engine can do for its caller
enum class EngineState : uint8_t {
    closed, ///< after close()
    recovering, ///< hits come from the part of the index that is known; stores stay in staging
    serving,
    readOnly, ///< too many write errors, or no index could be made: hits only
    offline ///< the device is gone: everything misses
};

/// A cache of immutable objects on one device. Single-threaded and
/// event-driven: it is told what happened, and answers from poll(). No call
/// waits for the device, but for close(). \see openEngine(), formatDevice()
class Engine
{
public:
    Engine() = default;
    virtual ~Engine() = default;
    Engine(const Engine &) = delete;
    Engine &operator =(const Engine &) = delete;

    /// Packs what is staged, writes a clean checkpoint and waits for it, at
    /// most that long. Afterwards the engine is closed, whatever the result: it
    /// tells what it did, and finds and stores nothing.
    virtual Status close(unsigned maxMilliseconds) = 0;

    virtual EngineState state() const = 0;
    const char *stateText() const; ///< the state in a word

    /// Device answers, timers and a bounded amount of housekeeping. To be
    /// called when Device::wakeupFd() is readable and at least 10 times a second.
    virtual void poll() = 0;

    /// \returns whether the object can be opened for reading now
    virtual bool find(const Key &, ObjectInfo &) = 0;

    /// the same, without counting as a lookup
    virtual bool peek(const Key &, ObjectInfo &) const = 0;
    virtual bool has(const Key &) const = 0;

    /// Tells of a request that the proxy got, whatever becomes of it: the engine
    /// learns which objects are wanted together. May be called several times
    /// for one request.
    virtual void note(const Request &) = 0;

    /// tells of a hit, for replacement
    virtual void touch(const Key &) = 0;

    static constexpr int maxLoad = 1000; ///< at a limit

    /// whether create() would take an object of that size (-1: unknown)
    /// \param load receives 0 (idle) to maxLoad
    virtual bool canCreate(int64_t size, int &load) const = 0;

    /// Starts an object. Replaces an older one of that key when finished.
    /// \param expectedSize stored bytes, -1 when unknown
    /// \returns nil when a limit was reached or the engine does not store
    virtual std::unique_ptr<Writer> create(const Key &, const ObjectInfo &, int64_t expectedSize) = 0;

    /// Counts a request of an object that another store has not admitted, so
    /// that Config::admit holds for all of them together.
    virtual void noteUnadmitted(const Key &) = 0;

    /// \returns nil when there is no such object or too many are open
    virtual std::unique_ptr<Reader> read(const Key &) = 0;

    /// reads an object that is still being written; the reader may outlive the writer
    virtual std::unique_ptr<Reader> read(const Writer &) = 0;

    /// Forgets an object at once; open readers keep it.
    /// \returns whether there was one
    virtual bool remove(const Key &) = 0;

    /// new times and flags for an object; its size stays
    virtual void updateInfo(const Key &, const ObjectInfo &) = 0;

    /// Replaces the first oldHeadSize bytes of an object by newHead, as a new
    /// version of it (a revalidated response has new headers).
    /// \param done is called once from poll(); on failure the old version stays
    virtual void replaceHead(const Key &, uint32_t oldHeadSize, const std::string &newHead,
                             const ObjectInfo &, std::function<void(Status)> done) = 0;

    /// Moves an object to another key, whose object it replaces, and replaces its
    /// first oldHeadSize bytes: what says there which key it has.
    /// \param done is called once from poll(): on failure the object stays where it
    /// is; unsupported for one that goes on in clusters of its own
    virtual void rename(const Key &, const Key &newKey, uint32_t oldHeadSize, const std::string &newHead,
                        std::function<void(Status)> done) = 0;

    /// Walks all objects when Config::list is on, in no order; objects that
    /// come or go meanwhile may be left out.
    /// \param cursor 0 to start; moved on by each call
    /// \param looks how many places may be looked at; less by those that were
    /// \returns false when there is no other object, or looks is 0: call again
    virtual bool next(uint64_t &cursor, Key &, ObjectInfo &, unsigned &looks) const = 0;

    /* What belongs together, for callers who know better than what is learned from
     * note(). It needs Config::localityMb, and is kept like all that is learned: until
     * room is needed for others, and over a restart as far as objects are stored. */

    /// From now on the members lie with the leader (Hummingbird's
    /// collocate_files, section 3.3). Neither needs to be stored yet.
    virtual void collocate(const Key &leader, const std::vector<Key> &members) = 0;

    /// Puts an object into a group that the caller numbers (Damelo's groups);
    /// it need not be stored yet.
    virtual void assign(uint64_t group, const Key &) = 0;

    /// The members of a numbered group will be wanted soon: those that are in
    /// memory stay there as if they were used now.
    virtual void love(uint64_t group) = 0;

    /// The members of a numbered group will not be wanted soon: those that are in
    /// memory are the first to leave it.
    virtual void hate(uint64_t group) = 0;

    /// Objects that are stored in a numbered group from now on survive a power cut
    /// after so many seconds, instead of Config::persist when that is longer
    /// (Damelo's setCheckpoint). 0 ends it.
    /// \returns false when too many groups have a time of their own
    virtual bool setPersist(uint64_t group, uint32_t seconds) = 0;

    /// takes the live options of another valid configuration
    virtual void reconfigure(const Config &) = 0;

    /// writes a checkpoint soon
    virtual void requestCheckpoint() = 0;

    /// what was removed, or replaced, and that the device does not know of yet
    virtual std::vector<Key> removalsPending() const = 0;

    virtual uint64_t objectCount() const = 0;
    virtual uint64_t liveBytes() const = 0; ///< stored bytes of all objects
    virtual uint64_t capacityBytes() const = 0; ///< stored bytes that fit at most
    virtual uint64_t maxObjectSize() const = 0; ///< stored bytes
    virtual bool indexLoaded() const = 0; ///< from the checkpoint; what it missed may still be looked for
    virtual double recoveryProgress() const = 0; ///< 0 to 1

    virtual Stats stats() const = 0; ///< after close(): as they were at its end
    /// the device's identity and division; only while open
    virtual const Superblock *superblock() const = 0;
    /// all of stats() as aligned text with stable names
    virtual std::string report() const = 0;
};

} // namespace ClusterFs

#endif

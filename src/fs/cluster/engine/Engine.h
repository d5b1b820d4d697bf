// SPDX-License-Identifier: GPL-2.0-or-later
/* The store as its callers see it. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_ENGINE_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_ENGINE_H

#include "fs/cluster/base/Clock.h"
#include "fs/cluster/base/Types.h"
#include "fs/cluster/engine/Config.h"
#include "fs/cluster/engine/Stats.h"
#include "fs/cluster/locality/Request.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ClusterFs {

class Core;
class Device;
class Reader;
class Writer;
struct Superblock;

/// what an engine can do for its caller
enum class EngineState : uint8_t {
    closed, ///< before open(), after close()
    recovering, ///< hits come from the part of the index that is known; stores stay in staging
    serving,
    readOnly, ///< too many write errors, or no index could be made: hits only
    offline ///< the device is gone: everything misses
};

/// A cache of immutable objects on one device. Single-threaded and
/// event-driven: it is told what happened, and answers from poll(). No call
/// waits for the device, but for open(), close() and Format().
class Engine
{
public:
    /// The device and the clock must outlive the engine.
    /// \param config must have passed validate()
    Engine(Device &, const Clock &, const Config &config, Log);
    ~Engine();
    Engine(const Engine &) = delete;
    Engine &operator =(const Engine &) = delete;

    /// Makes an empty store; overwrites whatever the device holds.
    /// \param seed randomness for the device UUID
    /// \param bytes how much of the device to use, 0 = all
    static Status Format(Device &, const Config &, uint64_t seed, std::string &error, uint64_t bytes = 0);

    /// Reads the superblock (waiting) and starts recovery (not waiting).
    Status open(std::string &error);

    /// Packs what is staged, writes a clean checkpoint and waits for it, at
    /// most that long. Afterwards the engine is closed, whatever the result.
    Status close(unsigned maxMilliseconds);

    EngineState state() const;
    const char *stateText() const;

    /// Device answers, timers and a bounded amount of housekeeping. To be
    /// called when Device::wakeupFd() is readable and at least 10 times a second.
    void poll();

    /// \returns whether the object can be opened for reading now
    bool find(const Key &, ObjectInfo &);

    /// the same, without counting as a lookup
    bool peek(const Key &, ObjectInfo &) const;
    bool has(const Key &) const;

    /// Tells of a request that the proxy got, whatever becomes of it: the engine
    /// learns which objects are wanted together. May be called several times
    /// for one request.
    void note(const Request &);

    /// tells of a hit, for replacement
    void touch(const Key &);

    static constexpr int loadMost = 1000; ///< at a limit

    /// whether create() would take an object of that size (-1: unknown)
    /// \param load receives 0 (idle) to loadMost
    bool canCreate(int64_t size, int &load) const;

    /// Starts an object. Replaces an older one of that key when finished.
    /// \param expectedSize stored bytes, -1 when unknown
    /// \returns nil when a limit was reached or the engine does not store
    std::unique_ptr<Writer> create(const Key &, const ObjectInfo &, int64_t expectedSize);

    /// Counts a request of an object that another store has not admitted, so
    /// that Config::admit holds for all of them together.
    void noteUnadmitted(const Key &);

    /// \returns nil when there is no such object or too many are open
    std::unique_ptr<Reader> read(const Key &);

    /// reads an object that is still being written; the reader may outlive the writer
    std::unique_ptr<Reader> read(const Writer &);

    /// Forgets an object at once; open readers keep it.
    /// \returns whether there was one
    bool remove(const Key &);

    /// new times and flags for an object; its size stays
    void updateInfo(const Key &, const ObjectInfo &);

    /// Replaces the first oldHeadSize bytes of an object by newHead, as a new
    /// version of it (a revalidated response has new headers).
    /// \param done is called once from poll(); on failure the old version stays
    void replaceHead(const Key &, uint32_t oldHeadSize, const std::string &newHead,
                     const ObjectInfo &, std::function<void(Status)> done);

    /// Moves an object to another key, whose object it replaces, and replaces its
    /// first oldHeadSize bytes: what says there which key it has.
    /// \param done is called once from poll(): on failure the object stays where it
    /// is; unsupported for one that goes on in clusters of its own
    void rename(const Key &, const Key &newKey, uint32_t oldHeadSize, const std::string &newHead,
                std::function<void(Status)> done);

    /// Walks all objects when Config::list is on, in no order; objects that
    /// come or go meanwhile may be left out.
    /// \param cursor 0 to start; moved on by each call
    /// \param looks how many places may be looked at; less by those that were
    /// \returns false when there is no other object, or looks is 0: call again
    bool next(uint64_t &cursor, Key &, ObjectInfo &, unsigned &looks) const;

    /* What belongs together, for callers who know better than what is learned from
     * note(). It needs Config::localityMb, and is kept like all that is learned: until
     * room is needed for others, and over a restart as far as objects are stored. */

    /// From now on the members lie with the leader (Hummingbird's
    /// collocate_files, section 3.3). Neither needs to be stored yet.
    void collocate(const Key &leader, const std::vector<Key> &members);

    /// Puts an object into a group that the caller numbers (Damelo's groups);
    /// it need not be stored yet.
    void assign(uint64_t group, const Key &);

    /// The members of a numbered group will be wanted soon: those that are in
    /// memory stay there as if they were used now.
    void love(uint64_t group);

    /// The members of a numbered group will not be wanted soon: those that are in
    /// memory are the first to leave it.
    void hate(uint64_t group);

    /// Objects that are stored in a numbered group from now on survive a power cut
    /// after so many seconds, instead of Config::persist when that is longer
    /// (Damelo's setCheckpoint). 0 ends it.
    /// \returns false when too many groups have a time of their own
    bool setPersist(uint64_t group, uint32_t seconds);

    /// takes the live options of another valid configuration
    void reconfigure(const Config &);

    /// writes a checkpoint soon
    void requestCheckpoint();

    /// what was removed, or replaced, and that the device does not know of yet
    std::vector<Key> removalsPending() const;

    uint64_t objectCount() const;
    uint64_t liveBytes() const; ///< stored bytes of all objects
    uint64_t capacityBytes() const; ///< stored bytes that fit at most
    uint64_t maxObjectSize() const; ///< stored bytes
    bool indexLoaded() const; ///< from the checkpoint; what it missed may still be looked for
    double recoveryProgress() const; ///< 0 to 1

    Stats stats() const; ///< after close(): as they were at its end
    /// the device's identity and division; only while open
    const Superblock *superblock() const;
    /// all of stats() as aligned text with stable names
    std::string report() const;

private:
    Device &device_;
    const Clock &clock_;
    Config config_;
    Log log_;
    Stats last_; ///< of the core that was closed
    std::unique_ptr<Core> core_;
};

/// An object on its way in. Dropping it unfinished forgets the object.
class Writer
{
public:
    virtual ~Writer() = default;

    /// Takes a copy. \returns false once a limit was exceeded or the device
    /// failed; the object is lost then
    virtual bool append(const char *, size_t) = 0;

    /// the object is complete: find() and read() know it from here on
    /// \returns ok, or why it was not stored
    virtual Status finish() = 0;

    virtual uint64_t size() const = 0; ///< bytes taken so far

    /// Whether the device is behind: more appended now may exceed a limit.
    /// Ends as the device catches up, or when it makes no progress for seconds.
    virtual bool congested() const = 0;

    /// whether the object goes on, or will, in clusters of its own
    virtual bool parted() const = 0;
};

/// One reader of one object. Keeps the object's bytes from going away.
class Reader
{
public:
    virtual ~Reader() = default;

    virtual uint64_t size() const = 0; ///< bytes there are (so far, when still being written)

    /// Copies bytes that are in memory.
    /// \returns how many (possibly less than asked for), 0 at the end of the
    /// object, -1 when they must be fetched first
    virtual int64_t copy(uint64_t offset, char *to, size_t size) = 0;

    /// Brings the bytes at offset into memory; one call at a time.
    /// \param done is called once, from Engine::poll(); not called when the
    /// reader is destroyed first
    virtual void fetch(uint64_t offset, std::function<void(Status)> done) = 0;
};

} // namespace ClusterFs

#endif

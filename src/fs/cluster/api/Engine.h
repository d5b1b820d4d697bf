// SPDX-License-Identifier: GPL-2.0-or-later
/* The interface of the store. */

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

/// the calls that an engine serves now
enum class EngineState : uint8_t {
    closed, ///< none, after close()
    recovering, ///< a start goes on: objects that are found already are hits; stored objects stay in staging
    serving, ///< all
    readOnly, ///< hits only: too many writes failed, or the superblock could not be written at the start
    offline ///< none: the device is out of service, and everything misses
};

/// A cache of immutable objects on one device. One thread makes all calls, those
/// of its readers and writers included. It is event-driven: callers tell it what
/// happened, and it answers from poll(). No call but close() waits for the device,
/// unless Device::asynchronous() is false. \see openEngine(), formatDevice()
class Engine
{
public:
    Engine() = default;
    virtual ~Engine() = default;
    Engine(const Engine &) = delete;
    Engine &operator =(const Engine &) = delete;

    /// Packs all staged objects, writes a checkpoint and a clean superblock, and
    /// blocks for that, at most so long. Afterwards the engine is closed, whatever
    /// the result: it still has its figures, but finds and stores nothing.
    /// \returns ok; aborted when the start was not over or objects were left in
    /// staging; or ioError when the checkpoint was not written
    virtual Status close(unsigned maxMilliseconds) = 0;

    virtual EngineState state() const = 0;
    const char *stateText() const; ///< the state in a word

    /// One turn: answers of the device, timers, and a bounded amount of
    /// housekeeping. The caller calls it when Device::wakeupFd() is readable, and
    /// at least 10 times a second.
    virtual void poll() = 0;

    /// looks an object up, and counts that
    /// \returns whether it can be opened for reading now
    virtual bool find(const Key &, ObjectInfo &) = 0;

    /// the same without counting it
    virtual bool peek(const Key &, ObjectInfo &) const = 0;
    virtual bool has(const Key &) const = 0; ///< the same, without its properties

    /// Tells of a request that the proxy got, hit or miss: the engine learns which
    /// objects are wanted together, and prefetches those of a page that is opened.
    /// May be called several times for one request.
    virtual void note(const Request &) = 0;

    /// tells of a hit: the object is evicted later
    virtual void touch(const Key &) = 0;

    static constexpr int maxLoad = 1000; ///< the load of an engine whose staging is full; stores of Squid have the same scale

    /// whether create() would take an object
    /// \param size stored bytes, -1 when unknown
    /// \param load receives 0 (staging is at most half full) to maxLoad
    virtual bool canCreate(int64_t size, int &load) const = 0;

    /// Starts an object. It replaces an older one of that key once it is finished.
    /// \param expectedSize stored bytes, -1 when unknown
    /// \returns nil when a limit was reached, the object is not admitted, or the engine does not store
    virtual std::unique_ptr<Writer> create(const Key &, const ObjectInfo &, int64_t expectedSize) = 0;

    /// Counts a request of an object that another store has not admitted, so
    /// that Config::admit counts the requests of all stores together.
    virtual void noteUnadmitted(const Key &) = 0;

    /// opens an object for reading
    /// \returns nil when there is no such object
    virtual std::unique_ptr<Reader> read(const Key &) = 0;

    /// opens an object that is still being written; the reader may outlive the writer
    /// \returns nil when the writer has failed
    virtual std::unique_ptr<Reader> read(const Writer &) = 0;

    /// Forgets an object at once; open readers may go on. The delete survives a crash after Config::deleteTime.
    /// \returns whether there was one
    virtual bool remove(const Key &) = 0;

    /// new times and flags for an object; its size stays
    virtual void updateInfo(const Key &, const ObjectInfo &) = 0;

    /// Stores a new version of an object in which newHead takes the place of the
    /// first oldHeadSize bytes (a revalidated response has new headers).
    /// \param done is called once, from poll(); on failure the old version stays
    virtual void replaceHead(const Key &, uint32_t oldHeadSize, const std::string &newHead,
                             const ObjectInfo &, std::function<void(Status)> done) = 0;

    /// Moves an object to another key, whose object it replaces. newHead takes the
    /// place of its first oldHeadSize bytes, because Squid's metadata name the key.
    /// \param done is called once, from poll(): on failure the object stays where it
    /// is; unsupported for a large object, whose parts name their key
    virtual void rename(const Key &, const Key &newKey, uint32_t oldHeadSize, const std::string &newHead,
                        std::function<void(Status)> done) = 0;

    /// Walks all objects when Config::list is on, in no order; objects that
    /// come or go meanwhile may be left out.
    /// \param cursor 0 to start; moved on by each call
    /// \param looks how many records may be looked at; receives how many are left
    /// \returns false when there are no more objects, or when looks is 0: then call again
    virtual bool next(uint64_t &cursor, Key &, ObjectInfo &, unsigned &looks) const = 0;

    /* Groups of callers who know better than the tracker. They need Config::localityMb, and are
     * kept like all groups: until room is needed for others, and after a restart for objects
     * that are stored. Squid's module uses none of these. */

    /// From now on the members lie with the leader (Hummingbird's
    /// collocate_files, section 3.3). Neither needs to be stored yet.
    virtual void collocate(const Key &leader, const std::vector<Key> &members) = 0;

    /// Puts an object into a group that the caller numbers (Damelo's groups);
    /// it need not be stored yet.
    virtual void assign(uint64_t group, const Key &) = 0;

    /// The members of a numbered group will be wanted soon (Damelo's love): those
    /// that are in memory leave it as late as if they were used now.
    virtual void love(uint64_t group) = 0;

    /// The members of a numbered group will not be wanted soon (Damelo's hate):
    /// those that are in memory are the first to leave it.
    virtual void hate(uint64_t group) = 0;

    /// Objects that are stored in a numbered group from now on survive a power cut
    /// after so many seconds, instead of Config::persist when that is longer
    /// (Damelo's setCheckpoint). 0 ends it.
    /// \returns false when too many groups have a time of their own
    virtual bool setPersist(uint64_t group, uint32_t seconds) = 0;

    /// takes the options of another valid configuration whose effect is live
    virtual void reconfigure(const Config &) = 0;

    /// makes a checkpoint begin soon
    virtual void requestCheckpoint() = 0;

    /// Packs what is finished now, writes the deletes until now to the journal, and flushes the disk, at once instead
    /// of after Config::persist and Config::deleteTime.
    /// \param done is called once, from poll(); not when the engine is closed before. ok: all of it survives a power
    /// cut; ioError: the device takes no writes; offline
    virtual void sync(std::function<void(Status)> done) = 0;

    /// objects that were removed or replaced, and of which the journal on the device does not know yet
    virtual std::vector<Key> removalsPending() const = 0;

    virtual uint64_t objectCount() const = 0;
    virtual uint64_t liveBytes() const = 0; ///< stored bytes of all objects
    virtual uint64_t capacityBytes() const = 0; ///< stored bytes that fit at most
    virtual uint64_t maxObjectSize() const = 0; ///< stored bytes that an object may have
    virtual bool indexLoaded() const = 0; ///< whether the start is over, or only a scan of all clusters goes on
    virtual double recoveryProgress() const = 0; ///< 0 to 1

    virtual Stats stats() const = 0; ///< after close(): as they were at its end
    /// the superblock as it was written last; nil when closed
    virtual const Superblock *superblock() const = 0;
    /// all statistics as aligned text with stable names
    virtual std::string report() const = 0;
};

} // namespace ClusterFs

#endif

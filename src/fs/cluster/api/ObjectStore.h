// SPDX-License-Identifier: GPL-2.0-or-later
/* The store as all processes see it that use it. */

#ifndef SQUID_SRC_FS_CLUSTER_API_OBJECTSTORE_H
#define SQUID_SRC_FS_CLUSTER_API_OBJECTSTORE_H

#include "fs/cluster/api/Reader.h"
#include "fs/cluster/api/Request.h"
#include "fs/cluster/api/Writer.h"
#include "fs/cluster/base/Types.h"

#include <functional>
#include <memory>
#include <string>

namespace ClusterFs {

/// the calls that a store serves now
enum class EngineState : uint8_t {
    closed, ///< none, after close()
    recovering, ///< a start goes on: objects that are found already are hits; stored objects stay in staging
    serving, ///< all
    readOnly, ///< hits only: too many writes failed, or the superblock could not be written at the start
    offline ///< none: the device is out of service, or the process that has it is away, and everything misses
};

/// A cache of immutable objects on one device. One thread makes all calls, those
/// of its readers and writers included. It is event-driven: callers tell it what
/// happened, and it answers from poll(). No call waits for the device. The engine is in this process, or
/// in another one that answers later (RemoteStore). \see Engine
class ObjectStore
{
public:
    ObjectStore() = default;
    virtual ~ObjectStore() = default;
    ObjectStore(const ObjectStore &) = delete;
    ObjectStore &operator =(const ObjectStore &) = delete;

    virtual EngineState state() const = 0;
    const char *stateText() const; ///< the state in a word

    /// One turn: answers of the device or of the other process, timers, and a bounded amount of
    /// housekeeping. The caller calls it when the descriptor of the device or of the other process is readable, and
    /// at least 10 times a second.
    virtual void poll() = 0;

    /// looks an object up, and counts that
    /// \returns whether it can be opened for reading now
    virtual bool find(const Key &, ObjectInfo &) = 0;

    /// the same without counting it
    virtual bool peek(const Key &, ObjectInfo &) const = 0;
    virtual bool has(const Key &) const = 0; ///< the same, without its properties

    /// Walks all objects when Config::list is on, in no order; objects that
    /// come or go meanwhile may be left out.
    /// \param cursor 0 to start; moved on by each call
    /// \param looks how many records may be looked at; receives how many are left
    /// \returns false when there are no more objects, or when looks is 0: then call again
    virtual bool next(uint64_t &cursor, Key &, ObjectInfo &, unsigned &looks) const = 0;

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
    /// is; unsupported for a large object, whose parts name their key; notFound also if an object was stored or
    /// removed under the new key meanwhile
    virtual void rename(const Key &, const Key &newKey, uint32_t oldHeadSize, const std::string &newHead,
                        std::function<void(Status)> done) = 0;

    virtual uint64_t objectCount() const = 0;
    virtual uint64_t liveBytes() const = 0; ///< stored bytes of all objects
    virtual uint64_t capacityBytes() const = 0; ///< stored bytes that fit at most
    virtual uint64_t deviceBytes() const = 0; ///< bytes that the store has of its device
    virtual uint32_t clusterBytes() const = 0; ///< bytes of a cluster
    virtual uint64_t maxObjectSize() const = 0; ///< stored bytes that an object may have
    virtual bool indexLoaded() const = 0; ///< whether the start is over, or only a scan of all clusters goes on
    virtual double recoveryProgress() const = 0; ///< 0 to 1
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* One worker, as the owner sees it. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_SESSION_H
#define SQUID_SRC_FS_CLUSTER_SHARING_SESSION_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/sharing/Channel.h"
#include "fs/cluster/sharing/Messages.h"
#include "fs/cluster/sharing/Services.h"
#include "fs/cluster/sharing/WorkerRows.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ClusterFs {

/// Does on the engine what one worker asks for. All that the worker has in the owner belongs to its session, and goes with
/// it: readers with their pins, and writers. The session trusts the worker no further than its own memory goes: a
/// message that can't be makes it broken().
class Session
{
public:
    static constexpr size_t maxReaders = 16384; ///< of a worker; the next one is answered busy
    static constexpr size_t maxWriters = 4096; ///< of a worker; the next one is lost
    static constexpr size_t maxRequests = 1024; ///< new heads under way; the next one is answered busy
    static constexpr uint32_t pieceBytes = 64 * 1024; ///< of an object in one record

    /// who knows of the removals of all workers
    class Removals
    {
    public:
        virtual ~Removals() = default;

        /// an object was removed: see RecentRemovals
        virtual void noteRemoved(const Key &, uint64_t number) = 0;
        /// whether an object was removed after what was said with this number
        virtual bool removedAfter(const Key &, uint64_t number) const = 0;
        /// an object was stored, after this number of removals; 0 = nobody knows, and any removal removes it
        virtual void noteStored(const Key &, uint64_t number) = 0;
        /// whether the object that is stored is newer than a removal
        virtual bool storedAfter(const Key &, uint64_t removal) const = 0;
        /// while an object is hidden, no worker finds it
        virtual void hide(const Key &) = 0;
        virtual void endHiding() = 0; ///< of the object that was hidden first
    };

    /// \param services nil = none
    /// \param removals outlives the session
    /// \param channel made, and known to the worker
    Session(Engine &, Services *services, Removals &removals, Channel channel, WorkerRow &);
    ~Session();
    Session(const Session &) = delete;
    Session &operator =(const Session &) = delete;

    /// Takes messages, and gives answers as far as the ring has room.
    /// \param records how many messages at most
    /// \returns whether there may be more to do at once
    bool turn(unsigned records);
    /// Says that the owner is going to sleep.
    /// \returns false when there is something to do at once; then it must not sleep
    bool sleep();

    /// Ends all writers: what the worker is storing is not stored.
    void loseWriters();
    /// Nobody is to find what is being stored of an object, if it was opened before the removal. Its readers go on.
    void dropWritten(const Key &, uint64_t removal);

    /// whether all that the worker has said was heard since the last call of this
    bool heardAll() { return std::exchange(heardAll_, false); }

    /// The worker is gone: does what it has said, as far as it is whole, and gives no answers. The session is to be destroyed.
    void end();

    /// whether the worker has sent something that can't be: the session is to be destroyed
    bool broken() const { return broken_ || channel_.broken(); }

    Channel &channel() { return channel_; }

    size_t readers() const { return readers_.size(); }
    size_t writers() const { return writers_.size(); }
    uint64_t messages() const { return messages_; } ///< taken so far

private:
    using Record = RingReader::Record;

    struct Reading {
        std::unique_ptr<Reader> reader;
        uint64_t at = 0; ///< offset of the next byte that is wanted
        uint64_t end = 0; ///< behind the last one
        bool grows = false; ///< what is read may get more bytes
        bool moved = false; ///< other bytes than the first ones were asked for
        unsigned tries = 0; ///< fetches since bytes were given last
    };
    struct Writing {
        std::unique_ptr<Writer> writer;
        Key key;
        uint64_t removals; ///< before it was opened
        bool removed = false; ///< meanwhile: nobody is to find the object
        bool congested = false; ///< the worker was told so
    };
    struct Answer {
        Messages::Kind kind;
        uint64_t number;
        Status status;
    };
    /// Answers that have no room in the ring, from which on no messages are taken: these wait in their ring then.
    static constexpr size_t maxBacklog = maxReaders + maxWriters + maxRequests;
    static constexpr unsigned maxTries = 8; ///< of fetching bytes that leave memory before they can be copied

    void handle(const Record &);
    template <class Message> bool take(const Record &, Message &);
    void open(uint64_t number, uint64_t bytes, bool grows, const std::function<std::unique_ptr<Reader>()> &make);
    std::unique_ptr<Reader> readWriter(uint64_t number, const Key &);
    void addFigures(const Record &);
    void fetch(const Messages::Fetch &);
    void create(const Messages::Create &);
    void append(uint64_t number, const char *, size_t);
    void finish(uint64_t number);
    bool replacedAfter(const Key &, uint64_t number) const;
    void newHead(Messages::Kind, const Messages::NewHead &, const std::string &head);
    void give(uint64_t number, Reading &);
    void fetched(uint64_t number, Status);
    void give(uint64_t number, Reading &, Status);
    void answer(Messages::Kind, uint64_t number, Status);
    bool tell(const Answer &);
    void giveWaiting();
    size_t backlog() const { return answers_.size() + waiting_.size(); }
    void lookAtCongestion();
    void endWriter(uint64_t number);
    template <class Message> void publish(Messages::Kind, char *at, const Message &, size_t more = 0);

    Engine &engine_;
    Services *const services_;
    Removals &removals_;
    Channel channel_;
    WorkerRow &row_;
    std::unordered_map<uint64_t, Reading> readers_;
    std::unordered_map<uint64_t, Writing> writers_;
    std::unordered_multimap<Key, uint64_t, KeyHash> writersOf_; ///< their numbers
    bool heardAll_ = false; ///< see heardAll()
    std::vector<uint64_t> congested_; ///< writers whose worker was told that they are
    std::deque<Answer> answers_; ///< for which the ring had no room
    std::deque<uint64_t> waiting_; ///< readers whose bytes had no room; some may be closed
    size_t requests_ = 0; ///< new heads under way
    bool ended_ = false;
    bool broken_ = false;
    uint64_t messages_ = 0;
    const std::shared_ptr<bool> alive_; ///< false for answers of the engine that come later than the end
};

} // namespace ClusterFs

#endif

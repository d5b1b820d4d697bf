// SPDX-License-Identifier: GPL-2.0-or-later
/* The worker's side of its connection to the owner. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_LINK_H
#define SQUID_SRC_FS_CLUSTER_SHARING_LINK_H

#include "fs/cluster/base/Clock.h"
#include "fs/cluster/engine/EngineView.h"
#include "fs/cluster/sharing/Channel.h"
#include "fs/cluster/sharing/Control.h"
#include "fs/cluster/base/Descriptor.h"
#include "fs/cluster/sharing/EventSet.h"
#include "fs/cluster/sharing/Messages.h"
#include "fs/cluster/sharing/WorkerRows.h"
#include "fs/cluster/base/SharedMemory.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ClusterFs {

/// Somebody who waits for answers with a number of his own.
class Correspondent
{
public:
    virtual ~Correspondent() = default;

    /// An answer has come. \param content message and bytes behind it, until the call returns
    virtual void hear(Messages::Kind, const char *content, size_t bytes) = 0;
    /// The owner is gone: no answers come any more.
    virtual void bereave() = 0;
};

/// Connects to the owner, again when that has died, and carries messages. Single-threaded and event-driven. Nothing waits
/// for the owner: what the ring has no room for is kept, up to a limit.
class Link
{
public:
    static constexpr uint64_t connectMicros = 100000; ///< between two attempts
    static constexpr size_t maxKept = 4 << 20; ///< bytes from which on objects on their way in are given up
    static constexpr size_t mostKept = 2 * maxKept; ///< bytes from which on the owner counts as dead: it hangs
    static constexpr uint64_t hangMicros = 5000000; ///< without a turn of the owner, from which on it counts as dead
    static constexpr size_t maxRemovals = 1 << 20; ///< that are kept for an owner

    /// \param path of the owner's socket
    Link(std::string path, const Clock &);
    Link(const Link &) = delete;
    Link &operator =(const Link &) = delete;

    /// readable when poll() has something to do; -1 when the process has all the descriptors that it may have
    int fd() const { return events_.fd(); }

    /// Connects, hands out answers, and sends what was kept. The caller calls it when fd() is readable, and at least 10
    /// times a second.
    void poll();

    bool connected() const { return channel_ != nullptr; }
    /// the owner's figures; nil unless connected
    const Control *control() const { return control_; }

    /// Looks an object up in the owner's index.
    /// \param counted whether it is a client's
    /// \returns false when there is none, when somebody wants it removed, or when there is no owner
    bool find(const Key &, ObjectInfo &, bool counted) const;
    /// Copies an object out of the owner's memory, without a message.
    /// \see EngineView::read()
    bool read(const Key &, uint64_t most, EngineView::Copy &) const;

    /// Walks the objects that can be read by themselves.
    /// \see ObjectStore::next()
    bool next(uint64_t &cursor, Key &, ObjectInfo &, unsigned &looks) const;

    static constexpr uint64_t quietMicros = 1000; ///< within which hints wake the owner once
    static constexpr uint64_t maxQuiet = Channel::toOwnerBytes / 4; ///< bytes that the owner has not taken, from which on any hint wakes it

    /// Sends a message that may be lost, and that nobody waits for: a hint.
    /// \param soon whether it is of use only within some milliseconds; else it may wait until the owner wakes by itself, ten
    /// times a second
    template <class Message>
    void hint(const Messages::Kind kind, const Message &message, const bool soon = false) {
        if (connected() && kept_.empty())
            put(kind, &message, sizeof(message), nullptr, 0, mayBeQuiet(soon));
    }
    /// Sends a message, once, as long as the owner lives.
    template <class Message>
    void send(const Messages::Kind kind, const Message &message, const void *const more = nullptr, const size_t bytes = 0) {
        if (connected())
            sendOrKeep(kind, &message, sizeof(message), more, bytes);
    }
    /// Removes an object: as soon as there is an owner, when there is none or it dies before it has heard of it.
    void remove(const Key &);

    /// the number of the last removal of all workers; 0 without an owner
    uint64_t removals() const { return rows_ ? rows_->removals.load(std::memory_order_acquire) : 0; }

    /// removals that the owner has not done yet
    size_t removalsKept() const { return removals_.size(); }

    /// whether what is sent waits in this process
    bool behind() const { return !kept_.empty(); }
    size_t keptBytes() const { return keptBytes_; } ///< bytes of what waits
    /// Whether more removals were to be kept than may be. Objects that were removed may be found then until the owner
    /// has been away for good.
    bool removalsLost() const { return removalsLost_; }

    /// Enters somebody who gets all answers of a number.
    /// \returns the number
    uint64_t enter(Correspondent &);
    void leave(uint64_t number) { correspondents_.erase(number); }

    /// calls a function in poll(), but never within this call
    void later(std::function<void()>);

    uint64_t connections() const { return connections_; } ///< that were made so far
    uint64_t wakeUps() const { return pastWakeUps_ + (channel_ ? channel_->wakeUps() : 0); } ///< of the owner so far

private:
    struct Kept {
        Messages::Kind kind;
        std::string bytes;
    };
    struct Removal {
        Key key;
        uint64_t number; ///< see WorkerRows::removals; 0 = not known to an owner
        uint64_t end; ///< of its record, see RingWriter::written(); 0 = not sent yet
    };

    void connect();
    void join();
    void list(Removal &);
    void disconnect();
    void takeAnswers();
    void dispatch(const RingReader::Record &);
    void sendKept();
    bool take(std::vector<Descriptor>, uint32_t row);
    bool hangs();
    void sendRemovals();
    void forgetHeardRemovals();
    void runLater();
    bool put(Messages::Kind, const void *message, size_t, const void *more, size_t bytes, bool quiet = false);
    bool mayBeQuiet(bool soon);
    bool open(const Key &) const;
    bool started() const;
    void sendOrKeep(Messages::Kind, const void *message, size_t, const void *more, size_t bytes);

    const std::string path_;
    const Clock &clock_;
    EventSet events_;
    Descriptor socket_;
    std::unique_ptr<Channel> channel_; ///< nil until the owner has greeted
    SharedMemory controlMemory_;
    const Control *control_ = nullptr;
    SharedMemory rowMemory_;
    WorkerRows *rows_ = nullptr; ///< of all workers; nil unless connected
    WorkerRow *row_ = nullptr; ///< of this worker
    std::unique_ptr<EngineView> view_; ///< nil unless connected
    uint64_t wokenAt_ = 0; ///< Clock::micros() when a hint was the last to wake the owner
    uint64_t turnsSeen_ = 0; ///< of the owner, see Control
    uint64_t turnSeenAt_ = 0; ///< Clock::micros() when these were seen first
    uint64_t nextAttempt_ = 0; ///< Clock::micros()
    std::deque<Kept> kept_;
    size_t keptBytes_ = 0;
    bool tooMuchKept_ = false; ///< mostKept was reached
    std::deque<Removal> removals_; ///< that the owner may not have heard of
    bool removalsLost_ = false;
    std::unordered_map<uint64_t, Correspondent *> correspondents_;
    uint64_t lastNumber_ = 0;
    std::vector<std::function<void()>> later_;
    uint64_t connections_ = 0;
    uint64_t pastWakeUps_ = 0;
};

} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that has the engine, as its workers see it. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_OWNER_H
#define SQUID_SRC_FS_CLUSTER_SHARING_OWNER_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/sharing/Control.h"
#include "fs/cluster/base/Clock.h"
#include "fs/cluster/base/Descriptor.h"
#include "fs/cluster/base/SharedMemory.h"
#include "fs/cluster/sharing/EventSet.h"
#include "fs/cluster/sharing/Link.h"
#include "fs/cluster/sharing/RecentRemovals.h"
#include "fs/cluster/sharing/Services.h"
#include "fs/cluster/sharing/Session.h"
#include "fs/cluster/sharing/WorkerRows.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ClusterFs {

/// Serves an engine to the workers of this machine that connect to its socket. Single-threaded and event-driven, as the
/// engine is: the caller polls both. Nothing waits for a worker.
class Owner: private Session::Removals
{
public:
    static constexpr size_t maxWorkers = WorkerRows::maxRows - 1; ///< the next one is not let in
    static constexpr unsigned recordsInTurn = 128; ///< messages that are taken from one worker before others have their turn

    /// \param engine outlives the owner, as services do
    /// \param path of the socket, see listenForWorkers()
    /// \param error receives the reason when it fails
    /// \param services for workers; nil = none
    /// \returns nil when it fails
    static std::unique_ptr<Owner> Open(Engine &, const Clock &, const std::string &path, std::string &error, Services *services = nullptr);

    /// ends all sessions, and takes the socket away
    ~Owner() override;
    Owner(const Owner &) = delete;
    Owner &operator =(const Owner &) = delete;

    /// readable when poll() has something to do
    int fd() const { return events_.fd(); }

    /// Lets workers in and out, does what they ask for, and shows the engine's figures. The caller calls it when fd() is
    /// readable, after each poll() of the engine, and at least 10 times a second.
    void poll();

    /// how long no worker finds anything, see Control::open: those of an earlier owner have come back by then
    static constexpr uint64_t openMicros = 2 * Link::connectMicros;

    /// As long as it is shut, workers find and store nothing, and what they were storing is lost. They hear of it by Control::closings,
    /// so that they let go of what they have in use.
    void shut(bool);

    /// Workers take objects whose Date is not later for doubtful. \param until seconds since 1970
    void doubt(const int64_t until) { control_->doubtedUntil.store(until, std::memory_order_relaxed); }

    size_t workers() const { return members_.size(); }
    uint64_t lookups() const; ///< of all workers so far
    uint64_t found() const; ///< those of these that found the object
    uint64_t messages() const; ///< taken from workers so far
    uint64_t wakeUps() const; ///< of workers so far

private:
    static constexpr uint32_t ownRow = 0; ///< by which the owner itself hides objects

    struct Member {
        Member(Engine &engine, Services *services, Session::Removals &removals, Descriptor s, Channel channel, WorkerRows &rows, const uint32_t r):
            socket(std::move(s)), row(r), session(engine, services, removals, std::move(channel), rows.rows[r]) {}

        Descriptor socket;
        const uint32_t row; ///< in WorkerRows
        Session session;
    };

    Owner(Engine &, const Clock &, std::string path, Services *);
    bool makeMemory(std::string &error);
    uint32_t freeRow() const;
    void show();
    template <class Figure>
    uint64_t ofAll(uint64_t sum, const Figure &) const;
    void letIn();
    bool admit(Descriptor socket);
    bool turnOfAll();
    void endPeriod();
    /* Session::Removals */
    void noteRemoved(const Key &, uint64_t number) override;
    bool removedAfter(const Key &key, const uint64_t number) const override { return recent_.after(key, number); }
    void noteStored(const Key &key, const uint64_t number) override { recent_.noteStored(key, number); }
    bool storedAfter(const Key &key, const uint64_t removal) const override { return recent_.storedAfter(key, removal); }
    void hide(const Key &key) override { rows_->rows[ownRow].add(key); }
    void endHiding() override { rows_->rows[ownRow].noteDone(); }
    void end(size_t member);
    void takeEvent(int fd);

    Engine &engine_;
    const Clock &clock_;
    const std::string path_;
    Services *const services_;
    bool shut_ = false; ///< see shut()
    const uint64_t openAt_; ///< Clock::micros(), see Control::open
    EventSet events_;
    Descriptor listening_;
    SharedTables tables_; ///< of the engine
    SharedMemory controlMemory_;
    Control *control_ = nullptr;
    SharedMemory rowMemory_;
    WorkerRows *rows_ = nullptr;
    std::vector<std::unique_ptr<Member>> members_;
    RecentRemovals recent_;
    size_t heard_ = 0; ///< of members_, the first ones of which all was heard in this period, see RecentRemovals
    uint64_t pastMessages_ = 0; ///< of sessions that have ended
    uint64_t pastWakeUps_ = 0;
    uint64_t pastLookups_ = 0;
    uint64_t pastFound_ = 0;
};

} // namespace ClusterFs

#endif

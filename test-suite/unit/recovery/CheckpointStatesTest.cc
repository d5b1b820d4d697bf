// SPDX-License-Identifier: GPL-2.0-or-later
/* The states of a checkpoint, and how it ends in each of them. */

#include "test-suite/unit/support/PartsSupport.h"

#include <set>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

using State = Checkpoint::State;

constexpr unsigned stateCount = static_cast<unsigned>(State::givenUp) + 1;

std::string
nameOf(const State s)
{
    return "state " + std::to_string(static_cast<unsigned>(s));
}

/// those that a request or a full log may end
std::set<State>
mayFail()
{
    std::set<State> all;
    for (unsigned s = 0; s < stateCount; ++s) {
        if (Checkpoint::MayFollow(static_cast<State>(s), State::failed))
            all.insert(static_cast<State>(s));
    }
    return all;
}

/// how much of each kind a checkpoint has to say
struct Amounts {
    uint64_t untouched; ///< objects of which nothing has changed but that some were used
    uint64_t gone;
    uint64_t added;
    uint64_t updated; ///< of the untouched ones
    uint64_t used; ///< of the untouched ones
};

/// each takes more than a request
constexpr Amounts many = {42000, 30000, 10000, 4000, 30000};
/// each takes some blocks
constexpr Amounts few = {2000, 1000, 400, 120, 1000};

/// A store that has been named, and has changed since. Checkpoints without a checkpointer, a step in each turn.
class Steps
{
public:
    explicit Steps(PartsDevice &d, const Amounts &a): device(d), p(d), amounts(a) {
        p.allFree();
        for (uint64_t n = 0; n < a.untouched + a.gone; ++n)
            put(n);
        begin();
        EXPECT_TRUE(run());
        EXPECT_EQ(status, Status::ok);
        uint64_t stayed = 0;
        for (uint64_t n = 0; n < a.untouched + a.gone; ++n) {
            const auto slot = p.catalog.index().find(keyOf(n));
            if (n % 2 && n / 2 < a.gone) // of each cluster that objects leave, others stay
                p.catalog.erase(slot);
            else if (++stayed <= a.updated)
                p.catalog.updateInfo(slot, p.catalog.info(slot));
            else if (stayed <= a.updated + a.used)
                p.catalog.touch(slot, 1, p.context.sequence, false);
        }
        for (uint64_t n = 0; n < a.added; ++n)
            put(a.untouched + a.gone + n);
        p.learned.saving = [](uint32_t &at, std::vector<SavedGroups::GroupRecord> &records) {
            records.emplace_back();
            records.back().name = ++at;
            return at < 2 ? SavedGroups::Saved::full : SavedGroups::Saved::all;
        };
        d.clock.tick(1000); // each step takes a turn
    }

    void begin() {
        status = Status::busy;
        checkpoint.emplace(p.context, p.journal, log, groups, io, device.superblock, [this](const Status s) {
            EXPECT_EQ(status, Status::busy) << "it ends once";
            status = s;
            if (s == Status::ok)
                device.superblock = checkpoint->superblock();
        });
    }

    /// to the end. \returns whether it came
    bool run() {
        before = checkpoint->state();
        return p.until([this] {
            before = checkpoint->isOver() ? before : checkpoint->state();
            checkpoint->poll();
            before = checkpoint->isOver() ? before : checkpoint->state();
            return checkpoint->isOver();
        }, 100000);
    }

    /// behind all others
    void put(const uint64_t n) {
        constexpr uint32_t inCluster = 120;
        p.placed(n, put_ / inCluster, 1024 + put_ % inCluster * 512, 50);
        if (++put_ % inCluster == 0 || n + 1 == amounts.untouched + amounts.gone)
            put_ = (put_ + inCluster - 1) / inCluster * inCluster; // the next one is in another cluster
    }

    PartsDevice &device;
    Parts p;
    const Amounts amounts;
    IndexLog log{p.context.geometry, device.superblock};
    GroupSaver groups{p.context, p.learned};
    SingleIo io{p.context, groupsChunkBytes};
    std::optional<Checkpoint> checkpoint;
    Status status = Status::busy; ///< that it ended with
    State before = State::done; ///< the last one before its end

private:
    uint32_t put_ = 0;
};

/// what a start must find
void
expectAll(PartsDevice &d, const Amounts &a)
{
    Parts q(d);
    ASSERT_TRUE(q.recover());
    EXPECT_FALSE(q.recovery->stats().scanned);
    EXPECT_EQ(q.recovery->stats().blocksLost, 0U);
    EXPECT_EQ(q.catalog.objects(), a.untouched + a.added);
}

} // namespace

TEST(CheckpointStates, comeOneAfterTheOther) {
    PartsDevice d(160 * MB);
    Steps s(d, few);
    s.begin();
    auto &checkpoint = *s.checkpoint;
    s.p.journal.removal(keyOf(1), 1_seq);
    ++s.p.context.newHeads; // the journal is to be waited for
    std::vector<State> states = {checkpoint.state()};
    unsigned waits = 0;
    ASSERT_TRUE(s.p.until([&] {
        checkpoint.poll();
        if (states.back() != checkpoint.state()) {
            EXPECT_TRUE(Checkpoint::MayFollow(states.back(), checkpoint.state()));
            states.push_back(checkpoint.state());
        }
        EXPECT_EQ(checkpoint.isOver(), s.status != Status::busy);
        if (checkpoint.state() == State::journal && !s.io.busy()) {
            EXPECT_LE(waits, 5U) << "it waits for nothing else";
            if (++waits == 5) {
                EXPECT_TRUE(s.p.writeJournal());
            }
        }
        return checkpoint.isOver();
    }));
    EXPECT_GE(waits, 5U);
    std::vector<State> all;
    for (unsigned n = 0; n <= static_cast<unsigned>(State::done); ++n)
        all.push_back(static_cast<State>(n));
    EXPECT_EQ(states, all);
    EXPECT_EQ(s.status, Status::ok);
    const auto requests = d.device->requests();
    checkpoint.poll();
    EXPECT_EQ(checkpoint.state(), State::done);
    EXPECT_EQ(d.device->requests(), requests) << "nothing comes behind the end";
    expectAll(d, few);
}

TEST(CheckpointStates, leadToAnEnd) {
    for (unsigned n = 0; n < stateCount; ++n) {
        const auto from = static_cast<State>(n);
        unsigned ways = 0;
        for (unsigned m = 0; m < stateCount; ++m) {
            if (!Checkpoint::MayFollow(from, static_cast<State>(m)))
                continue;
            ++ways;
            EXPECT_GT(m, n) << "none comes twice";
        }
        EXPECT_EQ(ways > 0, from < State::done) << nameOf(from);
    }
}

/// Each request fails once, one in each checkpoint: the next one still has all to say.
TEST(CheckpointStates, aFailedRequestEndsEachOfThem) {
    PartsDevice d(320 * MB); // with a log for all of them
    Steps s(d, many);
    std::set<State> states;
    for (uint64_t at = 1; at < 100; ++at) {
        EXPECT_TRUE(s.p.catalog.changes().any()) << at;
        const auto used = s.log.used();
        d.device->script(d.device->requests() + at, Fault::error);
        s.begin();
        ASSERT_TRUE(s.run());
        d.device->heal();
        if (s.status == Status::ok)
            break;
        ASSERT_EQ(s.status, Status::ioError) << at;
        EXPECT_EQ(s.checkpoint->state(), State::failed);
        states.insert(s.before);
        const bool mayHaveArrived = s.before == State::writingSuperblock || s.before == State::flushingSuperblock;
        EXPECT_EQ(s.log.used() > used, mayHaveArrived) << nameOf(s.before) << ": what the superblock may name must stay";
        EXPECT_EQ(s.log.previousSerial() == s.log.serial(), mayHaveArrived) << nameOf(s.before);
    }
    EXPECT_EQ(s.status, Status::ok);
    for (const auto state: mayFail())
        EXPECT_TRUE(states.count(state) || state == State::endOfLog) << nameOf(state); // of that one see below
    expectAll(d, many);
}

/// room for no block, for one, and so on, up to all that are needed
TEST(CheckpointStates, aFullLogEndsThoseThatWriteToIt) {
    std::set<State> states;
    uint32_t blocks = 0; ///< of the log
    {
        PartsDevice d(160 * MB);
        const Steps s(d, few);
        blocks = d.superblock.log.used(); // all are taken
    }
    for (;; ++blocks) {
        PartsDevice d(160 * MB);
        d.superblock.geometry.logBlocks = d.superblock.log.blocks = blocks;
        Steps s(d, few);
        s.begin();
        ASSERT_TRUE(s.run());
        if (s.status == Status::ok)
            break;
        ASSERT_EQ(s.status, Status::full) << blocks;
        states.insert(s.before);
        // the next one names all, over what was there
        EXPECT_TRUE(s.p.catalog.changes().any());
        s.begin();
        EXPECT_TRUE(s.p.catalog.changes().collectsAll());
        ASSERT_TRUE(s.run());
        EXPECT_EQ(s.status, Status::ok) << blocks;
    }
    EXPECT_EQ(states, (std::set<State>{State::removals, State::sections, State::updates, State::uses, State::turn, State::removalsAgain}));

    // its last block is the last one of the log, and so the piece is written at once
    PartsDevice d(160 * MB);
    d.superblock.geometry.logBlocks = d.superblock.log.blocks = blocks;
    Steps s(d, few);
    d.device->script(d.device->requests() + 1, Fault::error);
    s.begin();
    ASSERT_TRUE(s.run());
    EXPECT_EQ(s.status, Status::ioError);
    EXPECT_EQ(s.before, State::endOfLog);
    s.begin();
    ASSERT_TRUE(s.run());
    EXPECT_EQ(s.status, Status::ok);
    expectAll(d, few);
}

namespace {

/// more objects have left a cluster than a checkpoint can remove one by one
void
loseTooMany(Parts &p)
{
    p.placed(77777, 3, 1024, 50); // a change more
    auto &changes = const_cast<Changes &>(p.catalog.changes());
    for (uint32_t n = 0; n < Checkpoint::maxRemovals; ++n)
        changes.gone(1_c, n);
}

} // namespace

TEST(CheckpointStates, tooManyRemovalsAreGivenUp) {
    PartsDevice d(160 * MB);
    Steps s(d, {10, 0, 0, 0, 0});
    s.put(1000); // in cluster 1
    s.begin();
    ASSERT_TRUE(s.run());
    const auto requests = d.device->requests();
    loseTooMany(s.p);
    s.begin();
    ASSERT_TRUE(s.run());
    EXPECT_EQ(s.checkpoint->state(), State::givenUp);
    EXPECT_EQ(s.before, State::goneObjects);
    EXPECT_EQ(s.status, Status::busy) << "nothing has failed";
    EXPECT_EQ(d.device->requests(), requests);
    s.begin();
    EXPECT_TRUE(s.p.catalog.changes().collectsAll());
    ASSERT_TRUE(s.run());
    EXPECT_EQ(s.status, Status::ok);
    expectAll(d, {10, 0, 2, 0, 0});
}

/// and then the next one comes in the same turn
TEST(Checkpointer, givesUpWithoutAFailure) {
    PartsDevice d(160 * MB);
    Parts p(d);
    p.allFree();
    p.placed(1, 1, 1024, 50);
    ASSERT_TRUE(p.runCheckpoint());
    const auto turn = d.superblock.turn;
    loseTooMany(p);
    p.checkpointer.request();
    ASSERT_TRUE(p.until([&] { p.checkpointer.poll(); return p.checkpointer.log().serial() == 3; }));
    EXPECT_TRUE(p.checkpointer.running());
    EXPECT_EQ(p.turns(), 2U);
    EXPECT_FALSE(p.checkpointer.lastFailed());
    EXPECT_EQ(p.checkpointer.superblock().checkpoint, 2U);
    EXPECT_EQ(p.checkpointer.superblock().turn, turn + 1) << "it named all";
    d.superblock = p.checkpointer.superblock();
    expectAll(d, {2, 0, 0, 0, 0});
}

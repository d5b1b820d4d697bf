// SPDX-License-Identifier: GPL-2.0-or-later
/* One life of a store, again and again: each time another request goes wrong. */

#include "fs/cluster/recovery/Format.h"
#include "test-suite/unit/support/EngineSupport.h"

#include <algorithm>
#include <map>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t objects = 24;
constexpr unsigned closeMilliseconds = 4000;

/// regions and so few clusters that the scenario evicts
constexpr uint64_t deviceBytes = 6 * MB + 16 * 16384;

Config
tinyConfig()
{
    Config c = smallConfig();
    c.clusterKb = 16;
    c.objectKb = 16;
    c.persist = 2;
    c.deleteTime = 1;
    return c;
}

/// Formats, starts, stores, packs, evicts, deletes, updates a head, checkpoints, closes,
/// starts again and reads; goes on whatever fails. All that it reads must be right.
class Scenario
{
public:
    Scenario(): t(deviceBytes, tinyConfig()) { t.faulty->setDelay(100, 300); }

    void run() {
        std::string error;
        formatted = formatDevice(t.device(), t.config, 1, error);
        EXPECT_EQ(formatted == Status::ok, error.empty());
        if (formatted != Status::ok)
            return;
        if (!open())
            return;
        use();
        const auto closed = close();
        if (!open())
            return;
        readAll(closed == Status::ok ? allowed_ : ever_);
        requests = t.faulty->requests();
        store(0, lastVersion, 2000);
        t.pass(2.5); // a device that takes no write is found out
    }

    /// the device is well again: so is the store
    void heal() {
        t.faulty->heal();
        t.crash();
        if (formatted != Status::ok) {
            ASSERT_NO_FATAL_FAILURE(t.start());
        } else {
            ASSERT_NO_FATAL_FAILURE(t.reopen());
        }
        ASSERT_EQ(t.engine->state(), EngineState::serving);
        readAll(ever_);
        const auto bytes = bytesOf(1000, 30000);
        ASSERT_EQ(t.store(keyOf(objects), bytes), Status::ok);
        ASSERT_TRUE(t.pack());
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        EXPECT_TRUE(t.has(keyOf(objects), bytes));
        readAll(ever_);
    }

    EngineState state() const { return t.engine ? t.engine->state() : EngineState::closed; }
    const char *stateText() const { return t.engine ? t.engine->stateText() : "not open"; }

    TestStore t;
    Status formatted = Status::busy;
    Status opened = Status::busy; ///< the newest time
    uint64_t evicted = 0;
    uint64_t hits = 0;
    uint64_t requests = 0; ///< before the store at the end, which finds out what has become of the device

private:
    using Texts = std::map<uint64_t, std::vector<std::string>>;

    bool open() {
        t.lastError.clear();
        opened = t.open();
        EXPECT_EQ(opened == Status::ok, t.lastError.empty());
        if (opened == Status::ok)
            steps([&] { return t.engine->state() != EngineState::recovering; });
        return opened == Status::ok;
    }

    static constexpr uint64_t lastVersion = 100;

    void use() {
        uint64_t version = 0;
        for (uint64_t n = 0; n < objects; ++n) {
            store(n, ++version, n % 8 == 7 ? 30000 : 1000 + 500 * n);
            if (n % 6 == 5)
                t.pass(1.1);
            if (n == 10)
                t.engine->requestCheckpoint();
        }
        for (uint64_t n = 18; n < objects; n += 2)
            remove(n);
        for (uint64_t n = 15; n < objects; n += 4)
            replaceHead(n, ++version);
        store(0, ++version, 2000);
        t.pass(2.5);
        readAll(allowed_);
        evicted = t.engine->stats().counters.evictedObjects;
    }

    Status close() {
        const auto before = t.clock.micros();
        const auto status = t.engine->close(closeMilliseconds);
        // it waits in steps
        EXPECT_LE(t.clock.micros() - before, closeMilliseconds * 1000U + 100000U);
        EXPECT_EQ(t.engine->state(), EngineState::closed);
        return status;
    }

    /// a few turns until that is so, or not
    bool steps(const std::function<bool()> &condition) { return t.until(condition, 300); }

    void store(const uint64_t n, const uint64_t version, const size_t size) {
        const auto bytes = bytesOf(version, size);
        const auto writer = t.engine->create(keyOf(n), infoOf(t.clock.wallSeconds()), static_cast<int64_t>(size));
        if (!writer || !writer->append(bytes.data(), size) || writer->finish() != Status::ok)
            return;
        allowed_[n] = {bytes};
        ever_[n].push_back(bytes);
    }

    void remove(const uint64_t n) {
        t.engine->remove(keyOf(n));
        EXPECT_FALSE(t.remembers(keyOf(n)));
        allowed_[n].clear();
    }

    void replaceHead(const uint64_t n, const uint64_t version) {
        if (!t.remembers(keyOf(n)))
            return;
        const auto head = bytesOf(version, 700);
        const auto newer = head + allowed_[n].back().substr(500);
        const auto answer = std::make_shared<Status>(Status::busy);
        const auto answered = std::make_shared<bool>(false);
        ever_[n].push_back(newer);
        t.engine->replaceHead(keyOf(n), 500, head, infoOf(t.clock.wallSeconds()), [=](const Status s) {
            *answer = s;
            *answered = true;
        });
        if (!steps([&] { return *answered; }))
            allowed_[n].push_back(newer); // it may come late
        else if (*answer == Status::ok)
            allowed_[n] = {newer};
    }

    /// \param texts what may be found of each object that is not doubtful
    void readAll(const Texts &texts) {
        for (uint64_t n = 0; n < objects; ++n) {
            std::string bytes;
            ObjectInfo info;
            if (!t.engine->find(keyOf(n), info) || !read(n, bytes))
                continue;
            const auto &may = info.flags & flagDoubtful ? ever_ : texts;
            const auto found = may.find(n);
            EXPECT_TRUE(found != may.end() && std::count(found->second.begin(), found->second.end(), bytes)) <<
                "wrong bytes of object " << n;
            ++hits;
        }
    }

    bool read(const uint64_t n, std::string &bytes) {
        const auto reader = t.engine->read(keyOf(n));
        char piece[4096];
        while (reader) {
            const auto got = reader->copy(bytes.size(), piece, sizeof(piece));
            if (got == 0)
                return true;
            if (got > 0) {
                bytes.append(piece, static_cast<size_t>(got));
                continue;
            }
            const auto answer = std::make_shared<Status>(Status::busy);
            reader->fetch(bytes.size(), [answer](const Status s) { *answer = s; });
            if (!steps([&] { return *answer != Status::busy; }) || *answer != Status::ok)
                return false;
        }
        return false;
    }

    Texts allowed_; ///< of each object: what a lookup may give now
    Texts ever_; ///< of each object: all versions
};

uint64_t
requestsOfTheScenario()
{
    Scenario s;
    s.run();
    EXPECT_EQ(s.opened, Status::ok);
    EXPECT_EQ(s.state(), EngineState::serving);
    EXPECT_GT(s.evicted, 0U);
    EXPECT_GT(s.hits, objects / 2);
    EXPECT_EQ(s.t.errors, 0U);
    return s.requests;
}

/// \param judge says whether the engine's state after the scenario is right
void
eachRequest(const Fault fault, const bool onwards, const std::function<void(Scenario &)> &judge)
{
    const auto requests = requestsOfTheScenario();
    uint64_t injected = 0;
    for (uint64_t nth = 1; nth <= requests && !testing::Test::HasFailure(); ++nth) {
        SCOPED_TRACE("request " + std::to_string(nth) + " of " + std::to_string(requests));
        Scenario s;
        s.t.faulty->script(nth, fault, onwards);
        s.run();
        judge(s);
        injected += s.t.faulty->injected(fault);
        ASSERT_NO_FATAL_FAILURE(s.heal());
    }
    EXPECT_GT(injected, 20U);
}

bool
goesOn(const Scenario &s)
{
    return s.opened == Status::ok && s.state() == EngineState::serving;
}

} // namespace

/// one error costs no more than what it hits; only the superblock of a start is
/// worth going read-only for
TEST(EngineNthRequest, failsOnce) {
    eachRequest(Fault::error, false, [](Scenario &s) {
        if (s.formatted == Status::ok && !s.t.logged("the superblock can't be written")) {
            EXPECT_TRUE(goesOn(s)) << s.stateText() << " " << s.t.lastError;
        }
    });
}

TEST(EngineNthRequest, failsFromThenOn) {
    eachRequest(Fault::error, true, [](Scenario &s) {
        if (s.formatted != Status::ok)
            return;
        EXPECT_FALSE(goesOn(s));
        EXPECT_NE(s.state(), EngineState::recovering);
    });
}

TEST(EngineNthRequest, neverCompletes) {
    for (const bool onwards: {false, true}) {
        eachRequest(Fault::hang, onwards, [](Scenario &s) {
            if (s.formatted == Status::ok) {
                EXPECT_EQ(s.opened == Status::ok, s.state() != EngineState::closed);
            }
        });
    }
}

TEST(EngineNthRequest, comesBackChanged) {
    unsigned notFormatted = 0;
    eachRequest(Fault::flip, false, [&](Scenario &s) {
        if (s.formatted == Status::ok) {
            EXPECT_TRUE(goesOn(s)) << s.stateText() << " " << s.t.lastError;
        } else { // it reads its superblocks back
            EXPECT_EQ(s.formatted, Status::corrupt);
            ++notFormatted;
        }
    });
    EXPECT_EQ(notFormatted, 2U);
}

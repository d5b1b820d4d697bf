// SPDX-License-Identifier: GPL-2.0-or-later
/* An owner and its workers in one thread: objects through them, and the end of each side. */

#include "test-suite/unit/support/EngineSupport.h"
#include "test-suite/unit/support/PageSupport.h"
#include "test-suite/unit/support/SocketFolder.h"

#include "fs/cluster/sharing/Greeting.h"
#include "fs/cluster/sharing/Owner.h"
#include "fs/cluster/sharing/RemoteReader.h"
#include "fs/cluster/sharing/RemoteWriter.h"

#include <gtest/gtest.h>

#include <sys/poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// what became of something that was answered later
struct Outcome {
    bool came = false;
    Status status = Status::busy;

    /// takes what Writer::finish() returns
    void note(const Status s) {
        if (s != Status::pending)
            taker()(s);
    }
    std::function<void(Status)> taker() {
        return [this](const Status s) {
            EXPECT_FALSE(came) << "answered twice";
            came = true;
            status = s;
        };
    }
};

class SharingTest: public testing::Test
{
protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(store.start());
        ASSERT_NO_FATAL_FAILURE(begin());
        addWorker();
        addWorker();
        ASSERT_TRUE(until([this] { return links[0]->connected() && links[1]->connected(); }));
    }

    void begin() {
        std::string error;
        owner = Owner::Open(*store.engine, store.clock, path(), error);
        ASSERT_TRUE(owner) << error;
    }
    void addWorker() { links.push_back(std::make_shared<Link>(path(), store.clock)); }

    std::string path() const { return folder.socket(); }

    static bool rung(const int fd) {
        struct pollfd event = {fd, POLLIN, 0};
        return poll(&event, 1, 0) == 1;
    }

    /// one turn of the owner and of each worker
    void step() {
        store.step();
        if (owner)
            owner->poll();
        for (const auto &link: links)
            link->poll();
    }

    bool until(const std::function<bool()> &condition, const unsigned steps = 20000) {
        for (unsigned i = 0; i < steps; ++i) {
            if (condition())
                return true;
            step();
        }
        return condition();
    }

    /// lets all that was said be done
    void settle() {
        for (unsigned i = 0; i < 20; ++i)
            step();
    }

    /// the owner has heard which readers are closed, and everything is on the device
    bool pack() {
        settle();
        return store.pack();
    }

    Status storeBy(const size_t worker, const Key &key, const std::string &bytes, const bool known = true) {
        RemoteWriter writer(links[worker], key, infoOf(store.clock.wallSeconds()), known ? static_cast<int64_t>(bytes.size()) : -1);
        for (size_t at = 0; at < bytes.size(); at += 4096) {
            if (!until([&] { return !writer.congested(); }))
                return Status::busy;
            if (!writer.append(bytes.data() + at, std::min<size_t>(4096, bytes.size() - at)))
                return Status::full;
        }
        Outcome outcome;
        outcome.note(writer.finish(outcome.taker()));
        EXPECT_FALSE(outcome.came);
        EXPECT_TRUE(until([&] { return outcome.came; }));
        return outcome.status;
    }

    Status readBy(const size_t worker, const Key &key, const uint64_t size, std::string &out) {
        RemoteReader reader(links[worker], key, size);
        return readAll(reader, out);
    }

    Status readAll(Reader &reader, std::string &out) {
        return Testing::readAll(reader, out, 4096, [&](const uint64_t offset) {
            Outcome outcome;
            reader.fetch(offset, outcome.taker());
            EXPECT_FALSE(outcome.came) << "answered before the call returned";
            if (!until([&] { return outcome.came; })) {
                ADD_FAILURE() << "never answered";
                return Status::aborted;
            }
            return outcome.status;
        });
    }

    /// readers of a worker, each of which asks for its first bytes
    std::vector<std::unique_ptr<RemoteReader>> manyReaders(const size_t worker, const unsigned count, const Key &key, const uint64_t size) {
        std::vector<std::unique_ptr<RemoteReader>> readers;
        for (unsigned i = 0; i < count; ++i)
            readers.push_back(std::make_unique<RemoteReader>(links[worker], key, size));
        return readers;
    }

    /// whether a worker reads these bytes; wrong ones fail the test
    bool has(const size_t worker, const Key &key, const std::string &bytes) {
        std::string got;
        if (readBy(worker, key, bytes.size(), got) != Status::ok)
            return false;
        EXPECT_TRUE(got == bytes) << "wrong bytes: " << got.size() << " instead of " << bytes.size();
        return true;
    }

    /// the owner is killed, and another one comes
    void loseOwner() {
        owner.reset();
        store.crash();
        settleWorkers();
        ASSERT_NO_FATAL_FAILURE(store.reopen());
        ASSERT_NO_FATAL_FAILURE(begin());
    }
    void settleWorkers() {
        for (unsigned i = 0; i < 5; ++i) {
            for (const auto &link: links)
                link->poll();
        }
    }
    void meetAgain() {
        store.clock.advance(2 * Link::connectMicros);
        ASSERT_TRUE(until([this] {
            for (const auto &link: links) {
                if (!link->connected())
                    return false;
            }
            return true;
        }));
    }

    SocketFolder folder;
    TestStore store{128 * MB};
    std::unique_ptr<Owner> owner;
    std::vector<std::shared_ptr<Link>> links;
};

/// a worker of the lowest level, which may send anything
class Stranger
{
public:
    explicit Stranger(const std::string &path): socket(connectToOwner(path)) {}

    bool join() {
        std::vector<Descriptor> descriptors;
        std::string error;
        uint32_t row = 0;
        return takeGreeting(socket.get(), Greeting::ofOwner, descriptors, row) == Greeted::yes &&
            channel.join(std::move(descriptors[0]), std::move(descriptors[1]), std::move(descriptors[2]), error);
    }
    void say(const Messages::Kind kind, const std::string &content) { say(static_cast<uint32_t>(kind), content); }
    void say(const uint32_t kind, const std::string &content) {
        const auto to = channel.out().reserve(static_cast<uint32_t>(content.size()));
        ASSERT_NE(to, nullptr);
        memcpy(to, content.data(), content.size());
        channel.publish(kind, static_cast<uint32_t>(content.size()));
    }

    Descriptor socket;
    Channel channel;
};

template <class Message>
std::string
textOf(const Message &m)
{
    return {reinterpret_cast<const char *>(&m), sizeof(m)};
}

} // namespace

TEST_F(SharingTest, eachWorkerReadsWhatTheOthersStored)
{
    for (unsigned n = 0; n < 20; ++n)
        ASSERT_EQ(storeBy(n % 2, keyOf(n), bytesOf(n, 1 + 1500 * n)), Status::ok) << n;
    for (unsigned n = 0; n < 20; ++n)
        EXPECT_TRUE(has((n + 1) % 2, keyOf(n), bytesOf(n, 1 + 1500 * n))) << n;
    ASSERT_TRUE(pack());
    for (unsigned n = 0; n < 20; ++n)
        EXPECT_TRUE(has((n + 1) % 2, keyOf(n), bytesOf(n, 1 + 1500 * n))) << n << " from the disk";
}

TEST_F(SharingTest, anObjectIsThereForAllWhenItsWriterHearsSo)
{
    RemoteWriter writer(links[0], keyOf(1), infoOf(store.clock.wallSeconds()), 5);
    ASSERT_TRUE(writer.append("hello", 5));
    settle();
    EXPECT_FALSE(store.engine->has(keyOf(1)));
    Outcome outcome;
    outcome.note(writer.finish(outcome.taker()));
    EXPECT_FALSE(store.engine->has(keyOf(1))) << "the owner has not heard of it yet";
    ASSERT_TRUE(until([&] { return outcome.came; }));
    EXPECT_EQ(outcome.status, Status::ok);
    EXPECT_TRUE(store.engine->has(keyOf(1)));
}

TEST_F(SharingTest, largeObjects)
{
    const auto bytes = bytesOf(7, 3 * MB + 17);
    ASSERT_EQ(storeBy(0, keyOf(7), bytes, false), Status::ok);
    EXPECT_TRUE(has(1, keyOf(7), bytes));
    ASSERT_TRUE(pack());
    EXPECT_TRUE(has(1, keyOf(7), bytes));
}

TEST_F(SharingTest, readsFromAnyPlace)
{
    const auto bytes = bytesOf(7, 1 * MB);
    ASSERT_EQ(storeBy(0, keyOf(7), bytes), Status::ok);
    RemoteReader reader(links[1], keyOf(7), bytes.size());
    for (const uint64_t offset: {700000, 5, 300000, 1048575, 262144, 262143}) {
        char byte = 0;
        if (reader.copy(offset, &byte, 1) != 1) {
            Outcome outcome;
            reader.fetch(offset, outcome.taker());
            ASSERT_TRUE(until([&] { return outcome.came; })) << offset;
            ASSERT_EQ(outcome.status, Status::ok) << offset;
            ASSERT_EQ(reader.copy(offset, &byte, 1), 1) << offset;
        }
        EXPECT_EQ(byte, bytes[offset]) << offset;
    }
    char byte = 0;
    EXPECT_EQ(reader.copy(bytes.size(), &byte, 1), 0);
}

TEST_F(SharingTest, whatIsNotThereIsNotFound)
{
    std::string out;
    EXPECT_EQ(readBy(0, keyOf(99), 100, out), Status::notFound);
}

TEST_F(SharingTest, anotherVersionThanTheOneLookedUpIsNotFound)
{
    ASSERT_EQ(storeBy(0, keyOf(1), "four"), Status::ok);
    std::string out;
    EXPECT_EQ(readBy(1, keyOf(1), 5, out), Status::notFound);
    EXPECT_EQ(out, "");
}

TEST_F(SharingTest, aRemovalIsDoneInItsOrder)
{
    ASSERT_EQ(storeBy(0, keyOf(1), "old"), Status::ok);
    links[0]->remove(keyOf(1));
    ASSERT_EQ(storeBy(0, keyOf(1), "newer"), Status::ok);
    EXPECT_TRUE(has(1, keyOf(1), "newer"));
    links[1]->remove(keyOf(1));
    settle();
    EXPECT_FALSE(store.engine->has(keyOf(1)));
}

TEST_F(SharingTest, timesAndFlags)
{
    ASSERT_EQ(storeBy(0, keyOf(1), "bytes"), Status::ok);
    auto info = infoOf(store.clock.wallSeconds() + 100);
    links[1]->send(Messages::Kind::updateInfo, Messages::Described{keyOf(1), info, links[1]->removals()});
    settle();
    ObjectInfo found;
    ASSERT_TRUE(store.engine->peek(keyOf(1), found));
    EXPECT_EQ(found.timestamp, info.timestamp);
}

TEST_F(SharingTest, hintsReachTheEngine)
{
    ASSERT_EQ(storeBy(0, keyOf(1), "bytes"), Status::ok);
    const auto before = store.engine->stats().tracker.clients;
    links[0]->hint(Messages::Kind::note, Messages::Note::Of(requestFor(0, 1, 5)));
    links[1]->hint(Messages::Kind::note, Messages::Note::Of(requestFor(0, 1, 8)));
    links[1]->hint(Messages::Kind::touch, Messages::Named{keyOf(1)});
    links[1]->hint(Messages::Kind::unadmitted, Messages::Named{keyOf(2)});
    settle();
    EXPECT_EQ(store.engine->stats().tracker.clients, before + 2);
    EXPECT_EQ(owner->messages(), 3U + 4U);
}

namespace {

/// hears of a new head
class Requester: public Correspondent
{
public:
    void hear(const Messages::Kind k, const char *const content, const size_t bytes) override {
        ASSERT_EQ(k, Messages::Kind::replaced);
        ASSERT_EQ(bytes, sizeof(Messages::Done));
        Messages::Done m;
        memcpy(&m, content, sizeof(m));
        outcome.taker()(m.status);
    }
    void bereave() override { outcome.taker()(Status::aborted); }

    Outcome outcome;
};

} // namespace

TEST_F(SharingTest, newHeads)
{
    ASSERT_EQ(storeBy(0, keyOf(1), "HEAD and body"), Status::ok);
    Requester first;
    Messages::NewHead m{links[1]->enter(first), keyOf(1), Key(), infoOf(store.clock.wallSeconds()), 0, 4};
    links[1]->send(Messages::Kind::replaceHead, m, "LONGER HEAD", 11);
    ASSERT_TRUE(until([&] { return first.outcome.came; }));
    EXPECT_EQ(first.outcome.status, Status::ok);
    links[1]->leave(m.number);
    EXPECT_TRUE(has(0, keyOf(1), "LONGER HEAD and body"));

    Requester second;
    m = {links[1]->enter(second), keyOf(1), keyOf(2), ObjectInfo(), 0, 11};
    links[1]->send(Messages::Kind::rename, m, "H", 1);
    ASSERT_TRUE(until([&] { return second.outcome.came; }));
    EXPECT_EQ(second.outcome.status, Status::ok);
    links[1]->leave(m.number);
    EXPECT_TRUE(has(0, keyOf(2), "H and body"));
    EXPECT_FALSE(store.engine->has(keyOf(1)));

    Requester third; // whose owner dies first
    m = {links[1]->enter(third), keyOf(2), Key(), ObjectInfo(), 0, 1};
    links[1]->send(Messages::Kind::replaceHead, m, "X", 1);
    ASSERT_NO_FATAL_FAILURE(loseOwner());
    EXPECT_TRUE(third.outcome.came);
    EXPECT_EQ(third.outcome.status, Status::aborted);
}

TEST_F(SharingTest, anUnfinishedObjectIsForgotten)
{
    {
        RemoteWriter writer(links[0], keyOf(1), infoOf(store.clock.wallSeconds()), 10);
        ASSERT_TRUE(writer.append("hello", 5));
        settle();
        EXPECT_EQ(store.engine->stats().stagedObjects, 1U);
    }
    settle();
    EXPECT_EQ(store.engine->stats().stagedObjects, 0U);
    EXPECT_FALSE(store.engine->has(keyOf(1)));
}

/* a worker dies */

TEST_F(SharingTest, nothingOfADeadWorkerIsLeft)
{
    const auto large = bytesOf(3, 1 * MB);
    ASSERT_EQ(storeBy(0, keyOf(3), large), Status::ok);
    ASSERT_TRUE(pack());
    using namespace Messages;
    Stranger worker(path());
    ASSERT_TRUE(until([&] { return worker.join(); }));
    ASSERT_NO_FATAL_FAILURE(worker.say(Kind::create, textOf(Create{1, keyOf(1), infoOf(store.clock.wallSeconds()), 10, 0})));
    ASSERT_NO_FATAL_FAILURE(worker.say(Kind::append, textOf(Numbered{1}) + "hello"));
    ASSERT_NO_FATAL_FAILURE(worker.say(Kind::open, textOf(Open{2, keyOf(3), 10})));
    settle();
    EXPECT_EQ(store.engine->stats().stagedObjects, 1U);
    EXPECT_EQ(owner->workers(), 3U);
    ASSERT_NO_FATAL_FAILURE(worker.say(Kind::remove, textOf(Remove{keyOf(3), 1}))); // and is not heard yet
    worker.socket.reset();
    settle();
    EXPECT_EQ(owner->workers(), 2U);
    EXPECT_EQ(store.engine->stats().stagedObjects, 0U);
    EXPECT_FALSE(store.engine->has(keyOf(3))) << "its last words count";
    EXPECT_EQ(store.engine->stats().clustersPart, 0U) << "nobody reads them any more";
    EXPECT_FALSE(has(0, keyOf(3), large));
}

TEST_F(SharingTest, lastWordsCountAlsoWithoutRoomForAnswers)
{
    ASSERT_EQ(storeBy(0, keyOf(1), "bytes"), Status::ok);
    const auto large = bytesOf(3, 2 * MB);
    ASSERT_EQ(storeBy(1, keyOf(3), large), Status::ok);
    auto readers = manyReaders(0, 50, keyOf(3), large.size());
    for (unsigned i = 0; i < 50; ++i) { // the worker does nothing meanwhile
        store.step();
        owner->poll();
    }
    links[0]->remove(keyOf(1));
    readers.clear();
    links.erase(links.begin());
    settle();
    EXPECT_FALSE(store.engine->has(keyOf(1)));
    EXPECT_TRUE(has(0, keyOf(3), large));
}

/* the owner dies */

TEST_F(SharingTest, workersMissWhileThereIsNoOwner)
{
    ASSERT_EQ(storeBy(0, keyOf(1), "bytes"), Status::ok);
    ASSERT_TRUE(pack());
    RemoteReader reader(links[0], keyOf(1), 5);
    RemoteWriter writer(links[0], keyOf(2), infoOf(store.clock.wallSeconds()), 10);
    Outcome read;
    reader.fetch(0, read.taker());
    ASSERT_TRUE(writer.append("hello", 5));
    Outcome written;
    RemoteWriter finished(links[0], keyOf(3), infoOf(store.clock.wallSeconds()), 5);
    ASSERT_TRUE(finished.append("hello", 5));
    written.note(finished.finish(written.taker()));

    ASSERT_NO_FATAL_FAILURE(loseOwner());
    EXPECT_FALSE(links[0]->connected());
    EXPECT_EQ(links[0]->control(), nullptr);
    EXPECT_TRUE(read.came);
    EXPECT_EQ(read.status, Status::offline);
    EXPECT_FALSE(writer.append("again", 5));
    EXPECT_TRUE(written.came);
    EXPECT_EQ(written.status, Status::aborted);
    std::string out;
    RemoteReader without(links[0], keyOf(1), 5);
    Outcome none;
    without.fetch(0, none.taker());
    settleWorkers();
    EXPECT_TRUE(none.came);
    EXPECT_EQ(none.status, Status::offline);

    ASSERT_NO_FATAL_FAILURE(meetAgain());
    EXPECT_EQ(links[0]->connections(), 2U);
    EXPECT_TRUE(has(0, keyOf(1), "bytes"));
    EXPECT_FALSE(writer.append("again", 5)) << "it belonged to the dead owner";
    Outcome late;
    reader.fetch(0, late.taker());
    ASSERT_TRUE(until([&] { return late.came; }));
    EXPECT_EQ(late.status, Status::offline) << "it belonged to the dead owner";
    ASSERT_EQ(storeBy(0, keyOf(2), "new"), Status::ok);
    EXPECT_TRUE(has(1, keyOf(2), "new"));
}

TEST_F(SharingTest, removalsThatADeadOwnerHasNotHeardReachTheNext)
{
    for (unsigned n = 0; n < 4; ++n)
        ASSERT_EQ(storeBy(0, keyOf(n), bytesOf(n, 1000)), Status::ok);
    ASSERT_TRUE(pack());
    ASSERT_TRUE(store.checkpoint());
    links[0]->remove(keyOf(0)); // in the ring
    ASSERT_NO_FATAL_FAILURE(loseOwner());
    links[1]->remove(keyOf(1)); // there is no owner for it
    EXPECT_TRUE(store.engine->has(keyOf(0)));
    ASSERT_NO_FATAL_FAILURE(meetAgain());
    settle();
    EXPECT_FALSE(store.engine->has(keyOf(0)));
    EXPECT_FALSE(store.engine->has(keyOf(1)));
    EXPECT_TRUE(has(0, keyOf(2), bytesOf(2, 1000)));
}

TEST_F(SharingTest, removalsThatAnOwnerHasHeardAreNotSaidAgain)
{
    ASSERT_EQ(storeBy(0, keyOf(1), "old"), Status::ok);
    links[0]->remove(keyOf(1));
    settle();
    ASSERT_EQ(storeBy(1, keyOf(1), "new"), Status::ok);
    ASSERT_TRUE(pack());
    ASSERT_NO_FATAL_FAILURE(loseOwner());
    ASSERT_NO_FATAL_FAILURE(meetAgain());
    settle();
    EXPECT_TRUE(has(0, keyOf(1), "new"));
}

TEST_F(SharingTest, anOwnerThatHasNoSocketYetIsWaitedFor)
{
    addWorker();
    owner.reset();
    settleWorkers();
    for (unsigned i = 0; i < 20; ++i) {
        store.clock.advance(Link::connectMicros);
        links.back()->poll();
    }
    EXPECT_FALSE(links.back()->connected());
    ASSERT_NO_FATAL_FAILURE(begin());
    ASSERT_NO_FATAL_FAILURE(meetAgain());
    EXPECT_EQ(owner->workers(), 3U);
}

/* limits */

TEST_F(SharingTest, aFullRingHoldsNobodyUp)
{
    // more than the ring takes, at once, and then the removal of all of it
    std::vector<std::unique_ptr<RemoteWriter>> writers;
    for (unsigned n = 0; n < 30; ++n) {
        const auto bytes = bytesOf(n, 50000);
        writers.push_back(std::make_unique<RemoteWriter>(links[0], keyOf(n), infoOf(store.clock.wallSeconds()), 50000));
        ASSERT_TRUE(writers.back()->append(bytes.data(), bytes.size())) << n;
    }
    EXPECT_TRUE(links[0]->behind());
    EXPECT_TRUE(writers.back()->congested());
    std::vector<Outcome> outcomes(writers.size());
    for (size_t n = 0; n < writers.size(); ++n)
        outcomes[n].note(writers[n]->finish(outcomes[n].taker()));
    unsigned stored = 0;
    for (auto &outcome: outcomes) {
        ASSERT_TRUE(until([&] { return outcome.came; }));
        stored += outcome.status == Status::ok;
    }
    EXPECT_GT(stored, 20U);
    EXPECT_FALSE(links[0]->behind());
    EXPECT_EQ(links[0]->keptBytes(), 0U);
    for (unsigned n = 0; n < 30; ++n) {
        if (outcomes[n].status == Status::ok) {
            EXPECT_TRUE(has(1, keyOf(n), bytesOf(n, 50000))) << n;
        }
    }
}

TEST_F(SharingTest, aHangingOwnerCostsAWorkerBoundedMemory)
{
    // the owner does nothing from here on
    RemoteWriter writer(links[0], keyOf(1), infoOf(store.clock.wallSeconds()), -1);
    const auto bytes = bytesOf(1, 1 * MB);
    unsigned pieces = 0;
    while (writer.append(bytes.data(), bytes.size())) {
        links[0]->poll();
        ASSERT_LT(++pieces, 20U);
    }
    EXPECT_LE(links[0]->keptBytes(), Link::maxKept + 1000);
    EXPECT_GE(pieces, 3U);
    const auto kept = links[0]->keptBytes();
    for (unsigned i = 0; i < 1000; ++i)
        links[0]->hint(Messages::Kind::touch, Messages::Named{keyOf(1)});
    EXPECT_EQ(links[0]->keptBytes(), kept) << "hints are not kept";
    Outcome outcome;
    outcome.note(writer.finish(outcome.taker()));
    ASSERT_TRUE(until([&] { return outcome.came; }));
    EXPECT_EQ(outcome.status, Status::aborted);
    settle();
    EXPECT_EQ(store.engine->stats().stagedObjects, 0U);
    ASSERT_EQ(storeBy(0, keyOf(2), "bytes"), Status::ok) << "the worker goes on";
}

TEST_F(SharingTest, anOwnerThatHangsForLongCountsAsDead)
{
    ASSERT_EQ(storeBy(0, keyOf(1), "bytes"), Status::ok);
    RemoteReader reader(links[0], keyOf(1), 5);
    Outcome outcome;
    reader.fetch(0, outcome.taker());
    // the owner does nothing from here on
    unsigned said = 0;
    while (links[0]->connected()) {
        for (unsigned i = 0; i < 1000; ++i)
            links[0]->send(Messages::Kind::closeReader, Messages::Numbered{1000000});
        said += 1000;
        EXPECT_LE(links[0]->keptBytes(), Link::mostKept);
        links[0]->poll();
        ASSERT_LT(said, 10000000U);
    }
    EXPECT_TRUE(outcome.came);
    EXPECT_EQ(outcome.status, Status::offline);
    EXPECT_EQ(links[0]->keptBytes(), 0U);
    links[0]->remove(keyOf(1));
    for (unsigned i = 0; i < 10; ++i) {
        store.clock.advance(Link::connectMicros);
        links[0]->poll();
        EXPECT_FALSE(links[0]->connected());
    }
    ASSERT_NO_FATAL_FAILURE(meetAgain()); // it was stopped, no more
    settle();
    EXPECT_EQ(owner->workers(), 2U);
    EXPECT_FALSE(store.engine->has(keyOf(1)));
}

TEST_F(SharingTest, aSlowDeviceSlowsTheWorker)
{
    const auto piece = bytesOf(7, 65536);
    RemoteWriter writer(links[0], keyOf(1), infoOf(store.clock.wallSeconds()), -1);
    store.faulty->setDelay(20000, 20000);
    unsigned pauses = 0;
    std::string wanted;
    while (wanted.size() < 40 * MB) {
        ASSERT_TRUE(writer.append(piece.data(), piece.size()));
        wanted += piece;
        step();
        pauses += writer.congested();
        ASSERT_TRUE(until([&] { return !writer.congested(); }));
    }
    EXPECT_GT(pauses, 2U);
    Outcome outcome;
    outcome.note(writer.finish(outcome.taker()));
    ASSERT_TRUE(until([&] { return outcome.came; }));
    EXPECT_EQ(outcome.status, Status::ok);
    EXPECT_TRUE(has(1, keyOf(1), wanted));
}

TEST_F(SharingTest, tooManyReadersAreToldToWait)
{
    ASSERT_EQ(storeBy(0, keyOf(1), "bytes"), Status::ok);
    RemoteWriter writer(links[0], keyOf(2), infoOf(store.clock.wallSeconds()), 10);
    ASSERT_TRUE(writer.append("bytes", 5)); // and more may come, so that its readers stay
    std::vector<std::unique_ptr<RemoteReader>> readers;
    while (readers.size() < Session::maxReaders) {
        readers.push_back(std::make_unique<RemoteReader>(links[0], writer));
        if (readers.size() % 1000 == 0)
            settle();
    }
    settle();
    RemoteReader late(links[0], keyOf(1), 5);
    Outcome refused;
    late.fetch(0, refused.taker());
    ASSERT_TRUE(until([&] { return refused.came; }));
    EXPECT_EQ(refused.status, Status::busy);
    EXPECT_TRUE(has(1, keyOf(1), "bytes")) << "others have their own limit";
    readers.clear();
    std::string got;
    EXPECT_EQ(readAll(late, got), Status::ok);
    EXPECT_EQ(got, "bytes");
}

TEST_F(SharingTest, aWorkerThatNeverTakesAnswersIsNotHeardForEver)
{
    using namespace Messages;
    ASSERT_EQ(storeBy(0, keyOf(1), "bytes"), Status::ok);
    Stranger worker(path());
    ASSERT_TRUE(until([&] { return worker.join(); }));
    uint64_t number = 0;
    uint64_t heard = 0;
    do {
        for (unsigned i = 0; i < 1000; ++i)
            ASSERT_NO_FATAL_FAILURE(worker.say(Kind::open, textOf(Open{++number, keyOf(2), 10})));
        heard = owner->messages();
        settle();
        ASSERT_LT(number, 1000000U) << "it is heard for ever";
    } while (owner->messages() > heard);
    EXPECT_GT(number, Session::maxReaders);
    EXPECT_TRUE(has(0, keyOf(1), "bytes")) << "the others are heard";
    ASSERT_NO_FATAL_FAILURE(worker.say(Kind::remove, textOf(Remove{keyOf(1), 1})));
    settle();
    EXPECT_TRUE(store.engine->has(keyOf(1)));
    worker.socket.reset();
    settle();
    EXPECT_FALSE(store.engine->has(keyOf(1))) << "its last words count";
}

TEST_F(SharingTest, theOwnerIsWokenWhenThereIsRoomForItsAnswers)
{
    const auto large = bytesOf(3, 2 * MB);
    ASSERT_EQ(storeBy(0, keyOf(3), large), Status::ok);
    auto readers = manyReaders(0, 30, keyOf(3), large.size());
    const auto sleeper = links[0];
    links.erase(links.begin());
    settle();
    EXPECT_FALSE(rung(owner->fd())) << "there is nothing to do";
    sleeper->poll();
    EXPECT_TRUE(rung(owner->fd()));
    links.push_back(sleeper);
}

TEST_F(SharingTest, workThatIsLeftRingsAgain)
{
    using namespace Messages;
    settle();
    ASSERT_FALSE(rung(owner->fd()));
    Stranger worker(path());
    ASSERT_TRUE(until([&] { return worker.join(); }));
    for (unsigned i = 0; i < 3 * Owner::recordsInTurn; ++i)
        ASSERT_NO_FATAL_FAILURE(worker.say(Kind::touch, textOf(Named{keyOf(1)})));
    const auto before = owner->messages();
    unsigned turns = 0;
    while (rung(owner->fd())) {
        owner->poll();
        ++turns;
    }
    EXPECT_EQ(owner->messages(), before + 3 * Owner::recordsInTurn);
    EXPECT_GE(turns, 3U) << "others have their turn between";
}

TEST_F(SharingTest, anAnswerThatComesWithinATurnRingsAgain)
{
    ASSERT_EQ(storeBy(0, keyOf(1), "bytes"), Status::ok);
    settle();
    ASSERT_FALSE(rung(links[0]->fd()));
    RemoteReader reader(links[0], keyOf(1), 5);
    links[0]->later([this] {
        owner->poll();
        store.step();
        owner->poll();
    });
    EXPECT_TRUE(rung(links[0]->fd()));
    links[0]->poll();
    EXPECT_TRUE(rung(links[0]->fd()));
    links[0]->poll();
    char byte = 0;
    EXPECT_EQ(reader.copy(0, &byte, 1), 1);
}

TEST_F(SharingTest, aHelperThatWasForkedKeepsNoDeadWorkerAlive)
{
    Stranger worker(path());
    ASSERT_TRUE(until([&] { return worker.join(); }));
    settle();
    const auto helper = fork(); // has copies of all descriptors
    ASSERT_GE(helper, 0);
    if (!helper) {
        worker.socket.reset();
        alarm(60);
        pause();
        _exit(0);
    }
    worker.socket.reset();
    ASSERT_TRUE(until([this] { return owner->workers() == 2; }));
    settle();
    EXPECT_FALSE(rung(owner->fd())) << "it would take all of a processor";
    kill(helper, SIGKILL);
    waitpid(helper, nullptr, 0);
}

TEST_F(SharingTest, aWorkerThatTakesNoAnswersHoldsUpNobody)
{
    const auto large = bytesOf(3, 2 * MB);
    ASSERT_EQ(storeBy(0, keyOf(3), large), Status::ok);
    auto readers = manyReaders(0, 30, keyOf(3), large.size());
    const auto sleeper = links[0];
    links.erase(links.begin());
    EXPECT_TRUE(has(0, keyOf(3), large));
    ASSERT_EQ(storeBy(0, keyOf(4), "bytes"), Status::ok);
    links.push_back(sleeper); // awake again
    for (auto &reader: readers) {
        std::string got;
        ASSERT_EQ(readAll(*reader, got), Status::ok);
        ASSERT_TRUE(got == large);
    }
}

TEST_F(SharingTest, theWorkersAreCounted)
{
    while (links.size() < Owner::maxWorkers)
        addWorker();
    ASSERT_NO_FATAL_FAILURE(meetAgain());
    addWorker();
    for (unsigned i = 0; i < 50; ++i) {
        store.clock.advance(Link::connectMicros);
        step();
    }
    EXPECT_EQ(owner->workers(), Owner::maxWorkers);
    EXPECT_FALSE(links.back()->connected());
    EXPECT_EQ(links.back()->connections(), 0U);
    links.erase(links.begin());
    settle();
    store.clock.advance(2 * Link::connectMicros);
    EXPECT_TRUE(until([this] { return links.back()->connected(); }));
}

/* what must not be */

TEST_F(SharingTest, aWorkerThatTalksNonsenseIsPutOut)
{
    using namespace Messages;
    const auto number = [](const Kind k) { return static_cast<uint32_t>(k); };
    const struct {
        const char *what;
        uint32_t kind;
        std::string content;
        bool twice;
    } words[] = {
        {"an unknown kind", 1000, std::string(100, 'x'), false},
        {"an answer", number(Kind::finished), textOf(Done{1, Status::ok}), false},
        {"half a message", number(Kind::note), "half", false},
        {"nothing", number(Kind::remove), "", false},
        {"half a reader", number(Kind::open), std::string(8, 'x'), false},
        {"half a question", number(Kind::ask), "half", false},
        {"half a new head", number(Kind::replaceHead), std::string(20, 'x'), false},
        {"the same writer twice", number(Kind::create), textOf(Create{5, keyOf(1), ObjectInfo(), 10, 0}), true},
        {"the same reader twice", number(Kind::open), textOf(Open{5, keyOf(3), 10}), true},
    };
    ASSERT_EQ(storeBy(0, keyOf(3), bytesOf(3, 100)), Status::ok);
    for (const auto &word: words) {
        Stranger stranger(path());
        ASSERT_TRUE(until([&] { return stranger.join(); })) << word.what;
        ASSERT_EQ(owner->workers(), 3U) << word.what;
        ASSERT_NO_FATAL_FAILURE(stranger.say(word.kind, word.content));
        if (word.twice) {
            settle();
            EXPECT_EQ(owner->workers(), 3U) << word.what << ": once is right";
            ASSERT_NO_FATAL_FAILURE(stranger.say(word.kind, word.content));
        }
        settle();
        EXPECT_EQ(owner->workers(), 2U) << word.what;
        EXPECT_TRUE(hungUp(stranger.socket.get())) << word.what;
    }
    EXPECT_TRUE(has(1, keyOf(3), bytesOf(3, 100))) << "the others go on";
}

TEST_F(SharingTest, anyBytesInARingAreSurvived)
{
    // random records, mostly of kinds that there are, with numbers that there may be
    for (unsigned seed = 0; seed < 300; ++seed) {
        Stranger stranger(path());
        ASSERT_TRUE(until([&] { return stranger.join(); })) << seed;
        for (unsigned n = 0; n < 20; ++n) {
            const auto random = mix(seed * 1000 + n);
            auto content = bytesOf(random, random % 200);
            const uint64_t number = random % 4;
            if (content.size() >= sizeof(number))
                memcpy(&content[0], &number, sizeof(number));
            ASSERT_NO_FATAL_FAILURE(stranger.say(1 + static_cast<uint32_t>(random >> 32) % 22, content));
        }
        settle();
    }
    EXPECT_EQ(owner->workers(), 2U);
    ASSERT_EQ(storeBy(0, keyOf(3), bytesOf(3, 100)), Status::ok);
    EXPECT_TRUE(has(1, keyOf(3), bytesOf(3, 100))) << "the others go on";
}

TEST_F(SharingTest, theFiguresAreShown)
{
    ASSERT_EQ(storeBy(0, keyOf(1), bytesOf(1, 5000)), Status::ok);
    settle();
    const auto *const control = links[1]->control();
    ASSERT_NE(control, nullptr);
    EXPECT_EQ(control->state, EngineState::serving);
    EXPECT_EQ(control->objects, 1U);
    EXPECT_EQ(control->liveBytes, store.engine->liveBytes());
    EXPECT_EQ(control->maxObjectSize, store.engine->maxObjectSize());
    EXPECT_EQ(control->capacityBytes, store.engine->capacityBytes());
    EXPECT_TRUE(control->indexLoaded);
    EXPECT_LE(control->load, static_cast<uint32_t>(Engine::maxLoad));
    const uint64_t turns = control->turns;
    step();
    EXPECT_GT(control->turns, turns);
}

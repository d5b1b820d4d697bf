// SPDX-License-Identifier: GPL-2.0-or-later
/* The store as workers see it: what one of them does, the others see. */

#include "test-suite/unit/support/EngineSupport.h"
#include "test-suite/unit/support/PageSupport.h"
#include "test-suite/unit/support/SocketFolder.h"

#include "fs/cluster/sharing/Owner.h"
#include "fs/cluster/sharing/RemoteStore.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// a text that comes piece by piece, each at another poll
class SlowText final : public Reader
{
public:
    SlowText(const std::string &text, std::vector<std::function<void()>> &later): text_(text), later_(later), alive_(std::make_shared<bool>(true)) {}
    ~SlowText() override { *alive_ = false; }

    uint64_t size() const override { return made_; }
    int64_t copy(const uint64_t offset, char *const to, const size_t size) override {
        if (offset >= text_.size())
            return 0;
        if (offset >= made_)
            return -1;
        const auto bytes = std::min<uint64_t>(size, made_ - offset);
        text_.copy(to, bytes, offset);
        return static_cast<int64_t>(bytes);
    }
    void fetch(uint64_t, std::function<void(Status)> done) override {
        later_.push_back([this, done = std::move(done), alive = alive_] {
            if (!*alive)
                return;
            made_ = std::min<uint64_t>(made_ + 70000, text_.size());
            done(Status::ok);
        });
    }

private:
    const std::string text_;
    std::vector<std::function<void()>> &later_;
    uint64_t made_ = 0;
    const std::shared_ptr<bool> alive_;
};

/// answers "echo ..." with the rest
class TestServices final : public Services
{
public:
    std::unique_ptr<Reader> answer(const std::string &question) override {
        if (question.compare(0, 5, "echo ") != 0)
            return nullptr;
        return std::make_unique<SlowText>(question.substr(5) + extra, later_);
    }
    void add(const Figure &figure) override { sums[figure.kind] += figure.value; }
    void poll() {
        std::vector<std::function<void()>> now;
        now.swap(later_);
        for (const auto &each: now)
            each();
    }

    std::string extra; ///< behind each answer
    std::map<uint64_t, uint64_t> sums; ///< of figures, by kind

private:
    std::vector<std::function<void()>> later_;
};

class RemoteStoreTest: public testing::Test
{
protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(store.start());
        ASSERT_NO_FATAL_FAILURE(begin());
        for (auto &worker: workers)
            worker = std::make_unique<RemoteStore>(folder.socket(), store.clock);
        meet();
    }

    void begin() {
        std::string error;
        owner = Owner::Open(*store.engine, store.clock, folder.socket(), error, &services);
        ASSERT_TRUE(owner) << error;
    }
    /// until workers may look objects up
    void meet() {
        store.clock.advance(Owner::openMicros);
        ASSERT_TRUE(until([this] { return workers[0]->connected() && workers[1]->connected() && workers[0]->link().control()->open; }));
    }

    void step() {
        store.step();
        services.poll();
        if (owner)
            owner->poll();
        for (const auto &worker: workers)
            worker->poll();
    }
    bool until(const std::function<bool()> &condition) {
        for (unsigned i = 0; i < 20000 && !condition(); ++i)
            step();
        return condition();
    }

    Status put(const size_t worker, const Key &key, const std::string &bytes) {
        const auto writer = workers[worker]->create(key, infoOf(store.clock.wallSeconds()), static_cast<int64_t>(bytes.size()));
        if (!writer)
            return Status::busy;
        if (!writer->append(bytes.data(), bytes.size()))
            return Status::full;
        return end(*writer);
    }
    Status end(Writer &writer) {
        Status status = Status::pending;
        status = writer.finish([&status](const Status s) { status = s; });
        EXPECT_TRUE(until([&] { return status != Status::pending; }));
        return status;
    }

    /// by the second worker; the owner hears of it a hundred turns later
    void removeLate(const Key &key) {
        for (unsigned n = 0; n < 100 * Owner::recordsInTurn; ++n)
            workers[1]->touch(keyOf(99));
        workers[1]->remove(key);
    }

    bool finds(const size_t worker, const Key &key) const {
        ObjectInfo info;
        return workers[worker]->find(key, info);
    }
    std::string get(const size_t worker, const Key &key) {
        const auto reader = workers[worker]->read(key);
        return reader ? all(*reader) : "none";
    }
    std::string all(Reader &reader) {
        std::string got;
        const auto status = readAll(reader, got, 4096, [&](const uint64_t offset) {
            Status s = Status::pending;
            reader.fetch(offset, [&s](const Status outcome) { s = outcome; });
            EXPECT_TRUE(until([&] { return s != Status::pending; }));
            return s;
        });
        return status == Status::ok ? got : statusText(status);
    }

    void loseOwner() {
        owner.reset();
        store.crash();
        for (const auto &worker: workers)
            worker->poll();
        ASSERT_NO_FATAL_FAILURE(store.reopen());
        ASSERT_NO_FATAL_FAILURE(begin());
    }

    SocketFolder folder;
    TestStore store{128 * MB};
    TestServices services;
    std::unique_ptr<Owner> owner;
    std::unique_ptr<RemoteStore> workers[2];
};

} // namespace

TEST_F(RemoteStoreTest, whatOneStoresTheOthersFind)
{
    EXPECT_FALSE(finds(1, keyOf(1)));
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 20000)), Status::ok);
    EXPECT_TRUE(finds(0, keyOf(1)));
    EXPECT_TRUE(finds(1, keyOf(1)));
    EXPECT_EQ(get(1, keyOf(1)), bytesOf(1, 20000));
    ASSERT_EQ(put(1, keyOf(2), bytesOf(2, 3 * MB)), Status::ok);
    ASSERT_TRUE(store.pack());
    EXPECT_EQ(get(0, keyOf(1)), bytesOf(1, 20000));
    EXPECT_EQ(get(0, keyOf(2)), bytesOf(2, 3 * MB));
    EXPECT_EQ(workers[0]->objectCount(), 2U);
    EXPECT_EQ(workers[0]->lookups(), 1U);
    EXPECT_EQ(workers[0]->found(), 1U);
}

/// what is in memory, staged or read, is read without the owner: it has no turn meanwhile
TEST_F(RemoteStoreTest, hitsFromMemoryNeedNoOwner)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 20000)), Status::ok);
    ASSERT_EQ(put(0, keyOf(2), bytesOf(2, 3 * MB)), Status::ok);
    const auto alone = [&](const Key &key) {
        const auto reader = workers[1]->read(key);
        std::string got(100000, '\0');
        const auto copied = reader->copy(0, &got[0], got.size());
        got.resize(copied > 0 ? static_cast<size_t>(copied) : 0);
        EXPECT_EQ(reader->copy(got.size(), &got[0], 0), got.empty() ? -1 : 0);
        return got;
    };
    EXPECT_EQ(alone(keyOf(1)), bytesOf(1, 20000));
    EXPECT_EQ(alone(keyOf(2)), "") << "it has parts";
    ASSERT_TRUE(until([this] { return store.engine->stats().counters.readFromStaging == 2; })) << "the head of the large one, too";
    ASSERT_TRUE(store.pack());
    EXPECT_EQ(alone(keyOf(1)), bytesOf(1, 20000));
    ASSERT_TRUE(until([this] { return store.engine->stats().counters.readFromCache == 1; })) << "the owner counts it";
    EXPECT_EQ(workers[1]->readAlone(), 2U);
}

/// it is the reader's own copy
TEST_F(RemoteStoreTest, aReaderOfACopyOutlivesTheObject)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 5000)), Status::ok);
    const auto reader = workers[1]->read(keyOf(1));
    ASSERT_TRUE(workers[0]->remove(keyOf(1)));
    EXPECT_FALSE(workers[1]->read(keyOf(1))) << "though the owner has not heard of it";
    for (unsigned n = 0; n < 10; ++n)
        step();
    owner = nullptr;
    EXPECT_EQ(all(*reader), bytesOf(1, 5000));
    Status status = Status::pending;
    reader->fetch(5000, [&status](const Status s) { status = s; });
    ASSERT_TRUE(until([&] { return status != Status::pending; }));
    EXPECT_EQ(status, Status::aborted) << "there are no such bytes";
}

/// bytes that went bad are no hit, and no worker gets them
TEST_F(RemoteStoreTest, damagedBytesInMemoryAreNoHit)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 3000)), Status::ok);
    ASSERT_TRUE(store.pack());
    ASSERT_EQ(store.engine->close(60000), Status::ok);
    ASSERT_TRUE(store.damageFirst(bytesOf(1, 3000)));
    ASSERT_NO_FATAL_FAILURE(loseOwner());
    ASSERT_NO_FATAL_FAILURE(meet());
    EXPECT_NE(get(1, keyOf(1)), bytesOf(1, 3000));
    EXPECT_EQ(workers[1]->readAlone(), 0U);
}

/// While a start goes on, only the owner knows whether an object may have a newer version.
TEST_F(RemoteStoreTest, nothingIsReadAloneWhileAStartGoesOn)
{
    for (unsigned n = 0; n < 200; ++n)
        ASSERT_EQ(put(0, keyOf(n), bytesOf(n, 20000)), Status::ok);
    ASSERT_TRUE(store.pack());
    owner.reset();
    store.crash();
    workers[1]->poll();
    ASSERT_EQ(store.open(), Status::ok);
    ASSERT_NO_FATAL_FAILURE(begin());
    store.clock.advance(Owner::openMicros);
    for (unsigned n = 0; n < 10 && !workers[1]->connected(); ++n) {
        store.clock.advance(Link::connectMicros);
        workers[1]->poll();
        owner->poll();
    }
    ASSERT_TRUE(workers[1]->connected());
    ASSERT_EQ(workers[1]->state(), EngineState::recovering);
    const auto writer = workers[1]->create(keyOf(1000), infoOf(store.clock.wallSeconds()), 500);
    ASSERT_TRUE(writer && writer->append(bytesOf(5, 500).data(), 500));
    writer->finish([](Status) {});
    owner->poll();
    ASSERT_TRUE(finds(1, keyOf(1000))) << "it is staged";
    const auto reader = workers[1]->read(keyOf(1000));
    EXPECT_EQ(workers[1]->readAlone(), 0U);
    EXPECT_EQ(all(*reader), bytesOf(5, 500));
    ASSERT_TRUE(until([this] { return workers[1]->state() == EngineState::serving; }));
    EXPECT_EQ(get(1, keyOf(1000)), bytesOf(5, 500));
    EXPECT_EQ(workers[1]->readAlone(), 1U);
}

/// The owner has given all of it, and needs no word that the reader ends.
TEST_F(RemoteStoreTest, aHitFromTheDeviceTakesOneMessage)
{
    const auto bytes = bytesOf(1, 100000);
    ASSERT_EQ(put(0, keyOf(1), bytes), Status::ok);
    ASSERT_EQ(put(0, keyOf(2), bytesOf(2, 300000)), Status::ok);
    ASSERT_TRUE(store.pack());
    loseOwner(); // so that nothing is in memory
    meet();
    store.clock.advance(10 * Link::quietMicros);
    const auto heard = owner->messages();
    const auto woken = workers[1]->link().wakeUps();
    auto reader = workers[1]->read(keyOf(1));
    ASSERT_TRUE(reader);
    EXPECT_EQ(all(*reader), bytes);
    Status beyond = Status::pending;
    reader->fetch(bytes.size(), [&beyond](const Status s) { beyond = s; });
    ASSERT_TRUE(until([&] { return beyond != Status::pending; }));
    EXPECT_EQ(beyond, Status::aborted) << "the owner has no reader any more, and does not answer";
    reader.reset();
    step();
    EXPECT_EQ(owner->messages(), heard + 1);
    EXPECT_EQ(workers[1]->link().wakeUps(), woken + 1);

    EXPECT_EQ(get(1, keyOf(2)), bytesOf(2, 300000)) << "in two pieces, so that the reader is closed";
    step();
    EXPECT_EQ(owner->messages(), heard + 4);
}

/// Nobody waits for a hint: only one that is of use soon wakes the owner, and all are heard at its next turn.
TEST_F(RemoteStoreTest, hintsWakeTheOwnerRarely)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    for (unsigned n = 0; n < 10; ++n)
        step();
    store.clock.advance(10 * Link::quietMicros);
    const auto before = workers[0]->link().wakeUps();
    const auto heard = owner->messages();
    for (unsigned n = 0; n < 20; ++n) {
        workers[0]->touch(keyOf(1));
        workers[0]->note(requestFor(0, 1, 5));
    }
    EXPECT_EQ(workers[0]->link().wakeUps(), before) << "it wakes by itself";
    const auto page = requestFor(0, 0, 5);
    ASSERT_EQ(page.kind, RequestKind::page);
    for (unsigned n = 0; n < 20; ++n)
        workers[0]->note(page);
    EXPECT_EQ(workers[0]->link().wakeUps(), before + 1) << "somebody wants its objects soon";
    owner->poll();
    workers[0]->note(page);
    EXPECT_EQ(workers[0]->link().wakeUps(), before + 1) << "within a millisecond";
    store.clock.advance(Link::quietMicros);
    workers[0]->note(page);
    EXPECT_EQ(workers[0]->link().wakeUps(), before + 2);
    owner->poll();
    EXPECT_EQ(owner->messages(), heard + 62);
}

/// an owner that is asleep takes nothing, and a full ring loses what comes
TEST_F(RemoteStoreTest, manyHintsWakeTheOwner)
{
    for (unsigned n = 0; n < 10; ++n)
        step();
    store.clock.advance(10 * Link::quietMicros);
    const auto before = workers[0]->link().wakeUps();
    const auto heard = owner->messages();
    unsigned hints = 0;
    for (; workers[0]->link().wakeUps() == before && hints < 100000; ++hints)
        workers[0]->touch(keyOf(1));
    EXPECT_EQ(workers[0]->link().wakeUps(), before + 1);
    ASSERT_TRUE(until([&] { return owner->messages() >= heard + hints; }));
    EXPECT_EQ(owner->messages(), heard + hints) << "none is lost";
}

namespace {

/// whose engine keeps the keys
class ListedStoreTest: public RemoteStoreTest
{
protected:
    ListedStoreTest() { store.config.list = true; }

    /// how many objects a worker lists, some looks at a time
    size_t listed(const size_t worker) const {
        size_t count = 0;
        uint64_t cursor = 0;
        Key key;
        ObjectInfo info;
        for (unsigned turn = 0; turn < 20; ++turn) {
            unsigned looks = 7;
            while (workers[worker]->next(cursor, key, info, looks))
                ++count;
        }
        return count;
    }
};

} // namespace

TEST_F(ListedStoreTest, listsWhatIsThere)
{
    for (unsigned n = 0; n < 50; ++n)
        ASSERT_EQ(put(0, keyOf(n), bytesOf(n, 1000)), Status::ok);
    EXPECT_EQ(listed(0), 50U);
    EXPECT_EQ(listed(1), 50U);
    workers[0]->remove(keyOf(7));
    EXPECT_EQ(listed(1), 49U) << "the owner has not heard of it";
    workers[1]->setFileLifetime(10);
    store.clock.advance(20 * 1000000);
    EXPECT_EQ(listed(1), 0U) << "too old";
    EXPECT_EQ(listed(0), 49U);
    owner = nullptr;
    ASSERT_TRUE(until([this] { return !workers[0]->connected(); }));
    EXPECT_EQ(listed(0), 0U);
}

TEST_F(RemoteStoreTest, tooOldToBeReadAlone)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    workers[1]->setFileLifetime(10);
    EXPECT_TRUE(workers[1]->read(keyOf(1)));
    store.clock.advance(20 * 1000000);
    EXPECT_FALSE(workers[1]->read(keyOf(1)));
    EXPECT_EQ(workers[1]->readAlone(), 1U);
}

/// an answer that comes after its reader is gone reaches nobody
TEST_F(RemoteStoreTest, aReaderOfACopyMayGoAtOnce)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    auto reader = workers[1]->read(keyOf(1));
    bool answered = false;
    reader->fetch(0, [&answered](Status) { answered = true; });
    reader = nullptr;
    for (unsigned n = 0; n < 10; ++n)
        step();
    EXPECT_FALSE(answered);
    reader = workers[1]->read(keyOf(1));
    char got[10];
    EXPECT_EQ(reader->copy(2000, got, sizeof(got)), 0);
}

/// more than a ring has room for, made while it is read
TEST_F(RemoteStoreTest, aQuestionIsAnswered)
{
    services.extra = bytesOf(7, 3 * MB);
    const auto text = [this](const std::string &question) {
        const auto answer = workers[1]->ask(question);
        std::string got;
        for (;;) {
            char piece[10000];
            const auto copied = answer->copy(got.size(), piece, sizeof(piece));
            if (copied > 0) {
                got.append(piece, static_cast<size_t>(copied));
                continue;
            }
            Status s = Status::pending;
            answer->fetch(got.size(), [&s](const Status outcome) { s = outcome; });
            if (!until([&] { return s != Status::pending; }))
                return std::string("no end");
            if (s != Status::ok)
                return s == Status::aborted ? got : statusText(s);
        }
    };
    EXPECT_EQ(text("echo hello"), "hello" + bytesOf(7, 3 * MB));
    EXPECT_EQ(text("what"), statusText(Status::notFound));
    const auto dropped = workers[0]->ask("echo ");
    step();
    owner = nullptr;
    Status s = Status::pending;
    dropped->fetch(3 * MB, [&s](const Status outcome) { s = outcome; });
    ASSERT_TRUE(until([&] { return s != Status::pending; }));
    EXPECT_EQ(s, Status::offline);
}

/// many go in one message, and those from before the owner came, too
TEST_F(RemoteStoreTest, figuresAreAddedUp)
{
    const auto before = owner->messages();
    for (unsigned n = 1; n <= 100; ++n) {
        workers[0]->tell({5, n});
        workers[1]->tell({6, 2});
        step();
    }
    store.clock.advance(1000000);
    ASSERT_TRUE(until([this] { return services.sums[5] == 5050 && services.sums[6] == 200; }));
    EXPECT_LE(owner->messages() - before, 4U);
    for (unsigned n = 0; n < 3000; ++n)
        workers[0]->tell({7, 1});
    ASSERT_TRUE(until([this] { return services.sums[7] > 0; }));
    EXPECT_LE(services.sums[7], 1024U) << "kept without a poll";
    owner = nullptr;
    ASSERT_TRUE(until([this] { return !workers[0]->connected(); }));
    workers[0]->tell({8, 3});
    ASSERT_NO_FATAL_FAILURE(begin());
    store.clock.advance(Owner::openMicros);
    ASSERT_TRUE(until([this] { return services.sums[8] == 3; }));
}

/// nothing is found, and what comes in is lost
TEST_F(RemoteStoreTest, aShutOwnerHasNothing)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    const auto writer = workers[1]->create(keyOf(2), infoOf(store.clock.wallSeconds()), 1000);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->append(bytesOf(2, 500).data(), 500));
    for (unsigned n = 0; n < 10; ++n)
        step();
    const auto closings = workers[1]->closings();
    owner->shut(true);
    EXPECT_EQ(workers[1]->closings(), closings + 1);
    EXPECT_FALSE(finds(0, keyOf(1)));
    EXPECT_EQ(put(0, keyOf(3), bytesOf(3, 1000)), Status::busy);
    owner->shut(false);
    EXPECT_EQ(workers[1]->closings(), closings + 1);
    EXPECT_TRUE(finds(0, keyOf(1)));
    if (writer->append(bytesOf(2, 500).data(), 500)) {
        EXPECT_NE(end(*writer), Status::ok);
    }
    EXPECT_FALSE(finds(0, keyOf(2)));
}

/// the owner has had no turn: the others know it all the same
TEST_F(RemoteStoreTest, aRemovalHoldsForAllAtOnce)
{
    for (unsigned n = 0; n < 10; ++n)
        ASSERT_EQ(put(0, keyOf(n), bytesOf(n, 1000)), Status::ok);
    EXPECT_TRUE(workers[0]->remove(keyOf(3)));
    EXPECT_TRUE(store.engine->has(keyOf(3)));
    EXPECT_FALSE(finds(0, keyOf(3)));
    EXPECT_FALSE(finds(1, keyOf(3)));
    EXPECT_TRUE(finds(1, keyOf(4)));
    EXPECT_FALSE(workers[0]->remove(keyOf(3))) << "it is gone already";
    ASSERT_TRUE(until([&] { return !store.engine->has(keyOf(3)); }));
    ASSERT_EQ(put(1, keyOf(3), bytesOf(33, 1000)), Status::ok);
    EXPECT_EQ(get(0, keyOf(3)), bytesOf(33, 1000)) << "a new one is found";
}

/// The owner hears the workers one after the other, in whatever order: an object that was said to be stored before its removal is
/// not stored after it.
TEST_F(RemoteStoreTest, whatIsBeingStoredIsRemovedToo)
{
    for (size_t storer = 0; storer < 2; ++storer) {
        const auto remover = 1 - storer;
        const auto begin = [&](const Key &key) { return workers[storer]->create(key, infoOf(store.clock.wallSeconds()), 1000); };
        // heard of at once, with its removal
        const auto quick = begin(keyOf(1));
        ASSERT_TRUE(quick->append(bytesOf(1, 1000).data(), 1000));
        quick->finish([](Status) {});
        workers[remover]->remove(keyOf(1));
        // heard of before
        const auto slow = begin(keyOf(2));
        for (unsigned n = 0; n < 10; ++n)
            step();
        workers[remover]->remove(keyOf(2));
        for (unsigned n = 0; n < 10; ++n)
            step();
        ASSERT_TRUE(slow->append(bytesOf(2, 1000).data(), 1000));
        const auto reader = workers[storer]->read(*slow);
        slow->finish([](Status) {});
        for (unsigned n = 0; n < 10; ++n)
            step();
        char got[1000];
        ASSERT_EQ(reader->copy(0, got, sizeof(got)), 1000);
        EXPECT_EQ(std::string(got, sizeof(got)), bytesOf(2, 1000)) << "clients that are reading it go on";
        for (const auto key: {keyOf(1), keyOf(2)}) {
            EXPECT_FALSE(store.engine->has(key)) << storer;
            ASSERT_EQ(put(storer, key, bytesOf(5, 1000)), Status::ok) << "a newer one is stored";
            EXPECT_EQ(get(remover, key), bytesOf(5, 1000));
            workers[remover]->remove(key);
        }
    }
}

/// nor is an object removed that was stored after the removal, whatever the owner hears of first
TEST_F(RemoteStoreTest, whatIsStoredAfterARemovalStays)
{
    for (size_t storer = 0; storer < 2; ++storer) {
        const auto remover = 1 - storer;
        ASSERT_EQ(put(storer, keyOf(1), bytesOf(1, 1000)), Status::ok);
        workers[remover]->remove(keyOf(1));
        ASSERT_EQ(put(storer, keyOf(1), bytesOf(2, 1000)), Status::ok);
        ASSERT_TRUE(until([&] { return finds(remover, keyOf(1)); })) << storer;
        EXPECT_EQ(get(remover, keyOf(1)), bytesOf(2, 1000));
        workers[remover]->remove(keyOf(1));
        ASSERT_TRUE(until([&] { return !store.engine->has(keyOf(1)); })) << "a newer removal";
    }
}

/// nor does a change of an object reach one that was stored in its place meanwhile
TEST_F(RemoteStoreTest, aChangeOfWhatWasRemovedIsNone)
{
    for (size_t changer = 0; changer < 2; ++changer) {
        const auto other = 1 - changer;
        ASSERT_EQ(put(0, keyOf(1), "headbody"), Status::ok);
        auto info = infoOf(store.clock.wallSeconds());
        info.expires = 12345;
        auto status = Status::pending;
        workers[changer]->updateInfo(keyOf(1), info);
        workers[changer]->replaceHead(keyOf(1), 4, "HEAD", info, [&status](const Status s) { status = s; });
        workers[other]->remove(keyOf(1));
        const auto writer = workers[other]->create(keyOf(1), infoOf(store.clock.wallSeconds()), 8);
        ASSERT_TRUE(writer->append("headnewb", 8));
        EXPECT_EQ(end(*writer), Status::ok);
        ASSERT_TRUE(until([&] { return status != Status::pending; }));
        ObjectInfo now;
        ASSERT_TRUE(workers[0]->find(keyOf(1), now));
        const auto got = get(0, keyOf(1));
        EXPECT_TRUE(got == "headnewb") << got;
        EXPECT_NE(now.expires, 12345) << changer;
        workers[0]->remove(keyOf(1));
    }
}

/// not even when the owner hears of the removal last
TEST_F(RemoteStoreTest, aChangeReachesNoNewerObject)
{
    RemoteStore third(folder.socket(), store.clock);
    const auto comes = [&](const std::function<bool()> &condition) {
        return until([&] {
            third.poll();
            return condition();
        });
    };
    ASSERT_TRUE(comes([&] { return third.connected(); }));
    const auto say = [&](RemoteStore &storer, const Key &key, const std::string &bytes) {
        auto writer = storer.create(key, infoOf(store.clock.wallSeconds()), static_cast<int64_t>(bytes.size()));
        EXPECT_TRUE(writer->append(bytes.data(), bytes.size()));
        writer->finish([](Status) {});
        return writer;
    };
    std::vector<RemoteStore *> roles{workers[0].get(), workers[1].get(), &third};
    std::sort(roles.begin(), roles.end());
    do { // the owner hears them in one of these orders
        for (const auto key: {keyOf(1), keyOf(2), keyOf(3)})
            ASSERT_EQ(put(0, key, "headbody"), Status::ok);
        auto info = infoOf(store.clock.wallSeconds());
        info.expires = 12345;
        Status outcomes[] = {Status::pending, Status::pending};
        roles[1]->updateInfo(keyOf(1), info);
        roles[1]->replaceHead(keyOf(1), 4, "HEAD", info, [&](const Status s) { outcomes[0] = s; });
        roles[1]->rename(keyOf(2), keyOf(3), 4, "HEAD", [&](const Status s) { outcomes[1] = s; });
        roles[2]->remove(keyOf(1));
        roles[2]->remove(keyOf(3));
        const auto first = say(*roles[0], keyOf(1), "headnewb");
        const auto second = say(*roles[0], keyOf(3), "headnewb");
        ASSERT_TRUE(comes([&] { return outcomes[0] != Status::pending && outcomes[1] != Status::pending; }));
        ASSERT_TRUE(comes([&] { return finds(0, keyOf(1)) && finds(0, keyOf(3)); }));
        for (const auto key: {keyOf(1), keyOf(3)})
            EXPECT_EQ(get(0, key), "headnewb");
        ObjectInfo now;
        ASSERT_TRUE(workers[0]->find(keyOf(1), now));
        EXPECT_NE(now.expires, 12345);
    } while (std::next_permutation(roles.begin(), roles.end()));
}

/// nor does a removal that is heard of late take an object that was renamed after it, or leave one that is older
TEST_F(RemoteStoreTest, lateRemovalsOfRenamedObjects)
{
    const auto rename = [this](const Key &from, const Key &to) {
        auto status = Status::pending;
        workers[0]->rename(from, to, 4, "HEAD", [&status](const Status s) { status = s; });
        EXPECT_TRUE(until([&] { return status != Status::pending; }));
        return status;
    };
    const auto hear = [this] {
        for (unsigned n = 0; n < 110; ++n)
            step();
    };
    ASSERT_EQ(put(0, keyOf(1), "headbody"), Status::ok);
    ASSERT_EQ(put(0, keyOf(2), "headgone"), Status::ok);
    removeLate(keyOf(2));
    EXPECT_EQ(rename(keyOf(1), keyOf(2)), Status::ok);
    hear();
    EXPECT_EQ(get(0, keyOf(2)), "HEADbody") << "it is newer than the removal";

    // there is nothing to rename, so that the stored object stays
    removeLate(keyOf(2));
    ASSERT_EQ(put(0, keyOf(2), "headnewb"), Status::ok);
    EXPECT_EQ(rename(keyOf(98), keyOf(2)), Status::notFound);
    hear();
    EXPECT_EQ(get(0, keyOf(2)), "headnewb");

    // the same removal takes what was renamed before
    ASSERT_EQ(put(0, keyOf(3), "headbody"), Status::ok);
    EXPECT_EQ(rename(keyOf(3), keyOf(2)), Status::ok);
    removeLate(keyOf(2));
    hear();
    EXPECT_FALSE(store.engine->has(keyOf(2)));
}

/// An object that could not be stored is not newer than its removal: the older one in its place is removed.
TEST_F(RemoteStoreTest, aLateRemovalTakesWhatWasNotReplaced)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    removeLate(keyOf(1));
    const auto writer = workers[0]->create(keyOf(1), infoOf(store.clock.wallSeconds()), 150000);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->append(bytesOf(2, 150000).data(), 150000));
    // the journal's comes first, and then that of a part
    store.faulty->script(IoOp::write, store.faulty->requests(IoOp::write) + 2, Fault::error);
    ASSERT_TRUE(until([this] { return store.faulty->injected(Fault::error); }));
    EXPECT_NE(end(*writer), Status::ok);
    EXPECT_TRUE(store.engine->has(keyOf(1))) << "the removal was not heard of yet";
    ASSERT_TRUE(until([this] { return !store.engine->has(keyOf(1)); }));
}

/// more than the row lists: then nothing is found, until the owner has done some
TEST_F(RemoteStoreTest, tooManyRemovalsHideEverything)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    for (unsigned n = 0; n < WorkerRow::length; ++n)
        workers[1]->remove(keyOf(1000 + n));
    EXPECT_TRUE(finds(0, keyOf(1)));
    EXPECT_FALSE(finds(0, keyOf(1000)));
    workers[1]->remove(keyOf(5000));
    EXPECT_FALSE(finds(0, keyOf(1)));
    ASSERT_TRUE(until([&] { return finds(0, keyOf(1)); }));
}

/// a worker that ends takes its row along, and another one gets it
TEST_F(RemoteStoreTest, rowsAreUsedAgain)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    for (unsigned lives = 0; lives < 600; ++lives) { // more than there are rows
        workers[1] = std::make_unique<RemoteStore>(folder.socket(), store.clock);
        ASSERT_TRUE(until([&] { return workers[1]->connected(); }));
        EXPECT_TRUE(finds(1, keyOf(1)));
        workers[1]->remove(keyOf(2));
    }
    EXPECT_TRUE(finds(0, keyOf(1)));
}

TEST_F(RemoteStoreTest, nothingIsFoundWithoutAnOwner)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    ASSERT_TRUE(store.pack());
    owner.reset();
    store.crash();
    for (const auto &worker: workers)
        worker->poll();
    EXPECT_EQ(workers[0]->state(), EngineState::offline);
    EXPECT_FALSE(finds(0, keyOf(1)));
    EXPECT_EQ(workers[0]->read(keyOf(1)), nullptr);
    int load = 0;
    EXPECT_FALSE(workers[0]->canCreate(1000, load));
    EXPECT_EQ(workers[0]->create(keyOf(2), infoOf(1), 1000), nullptr);
    Status status = Status::pending;
    workers[0]->replaceHead(keyOf(1), 10, "head", infoOf(1), [&status](const Status s) { status = s; });
    EXPECT_EQ(status, Status::pending) << "never within the call";
    workers[0]->poll();
    EXPECT_EQ(status, Status::offline);
    EXPECT_EQ(workers[0]->objectCount(), 0U);
    EXPECT_EQ(workers[0]->deviceBytes(), 0U);
}

/// an owner that comes back has an object that was removed meanwhile: nobody finds it
TEST_F(RemoteStoreTest, aRemovalOutlivesTheOwner)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    ASSERT_EQ(put(0, keyOf(2), bytesOf(2, 1000)), Status::ok);
    ASSERT_TRUE(store.pack());
    store.clock.advance(60 * 1000000ULL);
    ASSERT_TRUE(store.pack());
    ASSERT_NO_FATAL_FAILURE(loseOwner());
    workers[0]->remove(keyOf(1));
    // the other worker comes back first
    store.clock.advance(Link::connectMicros);
    for (unsigned i = 0; i < 10; ++i) {
        owner->poll();
        workers[1]->poll();
        EXPECT_FALSE(finds(1, keyOf(1)));
    }
    EXPECT_TRUE(workers[1]->connected());
    EXPECT_EQ(workers[1]->state(), EngineState::recovering);
    ASSERT_NO_FATAL_FAILURE(meet());
    ASSERT_TRUE(until([&] { return finds(1, keyOf(2)); }));
    for (unsigned i = 0; i < 100; ++i) {
        step();
        EXPECT_FALSE(finds(0, keyOf(1)));
        EXPECT_FALSE(finds(1, keyOf(1)));
    }
}

TEST_F(RemoteStoreTest, anOwnerThatHangsCountsAsDead)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    EXPECT_TRUE(finds(0, keyOf(1)));
    workers[0]->poll();
    store.clock.advance(Link::hangMicros + 1);
    owner->poll();
    workers[0]->poll(); // it was the worker that had no time
    EXPECT_TRUE(workers[0]->connected());
    store.clock.advance(Link::hangMicros + 1);
    workers[0]->poll();
    EXPECT_FALSE(workers[0]->connected());
    ASSERT_NO_FATAL_FAILURE(meet());
    EXPECT_TRUE(finds(0, keyOf(1)));
}

TEST_F(RemoteStoreTest, aShutOwnerHidesAll)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    owner->shut(true);
    step();
    EXPECT_FALSE(finds(0, keyOf(1)));
    EXPECT_EQ(put(0, keyOf(2), bytesOf(2, 1000)), Status::busy);
    owner->shut(false);
    EXPECT_TRUE(finds(0, keyOf(1)));
    EXPECT_EQ(put(0, keyOf(2), bytesOf(2, 1000)), Status::ok);
}

TEST_F(RemoteStoreTest, doubtIsTold)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    ObjectInfo info;
    ASSERT_TRUE(workers[1]->peek(keyOf(1), info));
    EXPECT_FALSE(info.flags & flagDoubtful);
    owner->doubt(info.timestamp - 1);
    ASSERT_TRUE(workers[1]->peek(keyOf(1), info));
    EXPECT_FALSE(info.flags & flagDoubtful);
    owner->doubt(info.timestamp);
    ASSERT_TRUE(workers[1]->peek(keyOf(1), info));
    EXPECT_TRUE(info.flags & flagDoubtful);
}

TEST_F(RemoteStoreTest, anObjectIsReadWhileItComesIn)
{
    const auto bytes = bytesOf(1, 300000);
    const auto writer = workers[0]->create(keyOf(1), infoOf(store.clock.wallSeconds()), -1);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->append(bytes.data(), 100000));
    const auto reader = workers[0]->read(*writer);
    ASSERT_TRUE(reader);
    std::string got;
    const auto take = [&](const size_t up) {
        std::vector<char> buffer(4096);
        while (got.size() < up) {
            const auto n = reader->copy(got.size(), buffer.data(), std::min(buffer.size(), up - got.size()));
            if (n > 0) {
                got.append(buffer.data(), static_cast<size_t>(n));
                continue;
            }
            ASSERT_EQ(n, -1);
            Status s = Status::pending;
            reader->fetch(got.size(), [&s](const Status outcome) { s = outcome; });
            ASSERT_TRUE(until([&] { return s != Status::pending; }));
            ASSERT_EQ(s, Status::ok);
        }
    };
    take(100000);
    ASSERT_TRUE(writer->append(bytes.data() + 100000, 200000));
    take(250000);
    ASSERT_EQ(end(*writer), Status::ok);
    take(300000);
    EXPECT_EQ(got, bytes);
    const auto late = workers[0]->read(*writer);
    ASSERT_TRUE(late);
    got.clear();
    EXPECT_EQ(get(1, keyOf(1)), bytes);
}

TEST_F(RemoteStoreTest, headsAndTimesChangeForAll)
{
    ASSERT_EQ(put(0, keyOf(1), "HEAD" + bytesOf(1, 5000)), Status::ok);
    Status status = Status::pending;
    workers[0]->replaceHead(keyOf(1), 4, "longer head", infoOf(777), [&status](const Status s) { status = s; });
    ASSERT_TRUE(until([&] { return status != Status::pending; }));
    EXPECT_EQ(status, Status::ok);
    EXPECT_EQ(get(1, keyOf(1)), "longer head" + bytesOf(1, 5000));
    workers[1]->updateInfo(keyOf(1), infoOf(888));
    ObjectInfo info;
    ASSERT_TRUE(until([&] { return workers[0]->peek(keyOf(1), info) && info.timestamp == infoOf(888).timestamp; }));
    status = Status::pending;
    workers[1]->rename(keyOf(1), keyOf(2), 11, "other", [&status](const Status s) { status = s; });
    ASSERT_TRUE(until([&] { return status != Status::pending; }));
    EXPECT_EQ(status, Status::ok);
    EXPECT_FALSE(finds(0, keyOf(1)));
    EXPECT_EQ(get(0, keyOf(2)), "other" + bytesOf(1, 5000));
    status = Status::pending;
    workers[0]->replaceHead(keyOf(2), 5, std::string(RemoteStore::maxHead + 1, 'x'), infoOf(1), [&status](const Status s) { status = s; });
    ASSERT_TRUE(until([&] { return status != Status::pending; }));
    EXPECT_EQ(status, Status::unsupported);
}

TEST_F(RemoteStoreTest, objectsGrowTooOld)
{
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    workers[0]->setFileLifetime(3600);
    EXPECT_TRUE(finds(0, keyOf(1)));
    store.clock.advance(3602 * 1000000ULL);
    EXPECT_FALSE(finds(0, keyOf(1)));
}

/// what workers tell without an answer
TEST_F(RemoteStoreTest, hintsReachTheEngine)
{
    store.config.admit = 2;
    store.engine->reconfigure(store.config);
    const auto before = store.engine->stats().tracker.clients;
    const auto refused = store.engine->stats().counters.notAdmitted;
    workers[0]->note(requestFor(0, 1, 5));
    EXPECT_NE(put(1, keyOf(2), bytesOf(2, 100)), Status::ok) << "it is the first request";
    EXPECT_EQ(store.engine->stats().counters.notAdmitted, refused + 1);
    workers[0]->noteUnadmitted(keyOf(3));
    ASSERT_TRUE(until([&] { return store.engine->stats().tracker.clients == before + 1; }));
    for (unsigned n = 0; n < 5; ++n)
        step();
    EXPECT_EQ(put(1, keyOf(3), bytesOf(3, 100)), Status::ok) << "it is the second one";
    workers[1]->touch(keyOf(3));
    EXPECT_EQ(get(0, keyOf(3)), bytesOf(3, 100));
    EXPECT_EQ(workers[0]->clusterBytes(), store.engine->clusterBytes());
    EXPECT_EQ(workers[0]->deviceBytes(), store.engine->deviceBytes());
}

/// what the device has damaged is no hit for workers either
TEST_F(RemoteStoreTest, errorsOfTheDeviceAreTold)
{
    for (unsigned n = 0; n < 2; ++n)
        ASSERT_EQ(put(0, keyOf(n), bytesOf(n, 3000)), Status::ok);
    ASSERT_TRUE(store.pack());
    ASSERT_EQ(store.engine->close(60000), Status::ok);
    ASSERT_TRUE(store.damageFirst(bytesOf(1, 3000)));
    ASSERT_NO_FATAL_FAILURE(loseOwner());
    ASSERT_NO_FATAL_FAILURE(meet());
    EXPECT_EQ(get(1, keyOf(0)), bytesOf(0, 3000));
    EXPECT_EQ(get(1, keyOf(1)), statusText(Status::corrupt));
    EXPECT_FALSE(finds(0, keyOf(1)));
    EXPECT_TRUE(finds(0, keyOf(0)));
}

/// an object that turns out to be larger than any may be
TEST_F(RemoteStoreTest, whatTheOwnerCannotStoreIsLost)
{
    const auto writer = workers[0]->create(keyOf(1), infoOf(store.clock.wallSeconds()), -1);
    ASSERT_TRUE(writer);
    const auto piece = bytesOf(1, 100000);
    auto taken = true;
    for (uint64_t bytes = 0; taken && bytes < 200 * MB; bytes += piece.size()) {
        taken = writer->append(piece.data(), piece.size());
        for (unsigned n = 0; n < 10; ++n)
            step();
    }
    EXPECT_FALSE(taken);
    EXPECT_EQ(workers[0]->read(*writer), nullptr);
    EXPECT_FALSE(finds(1, keyOf(1)));
    EXPECT_EQ(put(0, keyOf(1), bytesOf(2, 1000)), Status::ok);
}

/// new heads of many objects at a time: those beyond the limit are told to come again
TEST_F(RemoteStoreTest, newHeadsHaveALimit)
{
    ASSERT_EQ(put(0, keyOf(1), "HEAD" + bytesOf(1, 500)), Status::ok);
    std::map<Status, unsigned> answers;
    for (size_t n = 0; n < RemoteStore::maxRequests + 10; ++n)
        workers[0]->replaceHead(keyOf(1), 4, "HEAD", infoOf(777), [&answers](const Status s) { ++answers[s]; });
    ASSERT_TRUE(until([&] {
        unsigned all = 0;
        for (const auto &each: answers)
            all += each.second;
        return all == RemoteStore::maxRequests + 10;
    }));
    EXPECT_GE(answers[Status::busy], 10U);
    EXPECT_GT(answers[Status::ok], 0U);
    EXPECT_EQ(get(1, keyOf(1)), "HEAD" + bytesOf(1, 500));
}

/// what it says as long as nobody has the store
TEST_F(RemoteStoreTest, withoutAnOwnerThereAreNoFigures)
{
    int load = 0;
    const auto writer = workers[0]->create(keyOf(1), infoOf(store.clock.wallSeconds()), 1000);
    ASSERT_TRUE(writer);
    EXPECT_FALSE(workers[0]->canCreate(static_cast<int64_t>(workers[0]->maxObjectSize()) + 1, load));
    EXPECT_EQ(workers[0]->create(keyOf(2), infoOf(store.clock.wallSeconds()), 1 << 30), nullptr);
    EXPECT_EQ(workers[0]->state(), EngineState::serving);
    EXPECT_GT(workers[0]->capacityBytes(), 0U);
    owner = nullptr;
    ASSERT_TRUE(until([this] { return !workers[0]->connected(); }));
    EXPECT_EQ(workers[0]->read(*writer), nullptr);
    EXPECT_FALSE(workers[0]->canCreate(1000, load));
    EXPECT_EQ(load, ObjectStore::maxLoad);
    EXPECT_EQ(workers[0]->state(), EngineState::offline);
    EXPECT_EQ(workers[0]->objectCount() + workers[0]->liveBytes() + workers[0]->capacityBytes() + workers[0]->deviceBytes(), 0U);
    EXPECT_EQ(workers[0]->clusterBytes() + workers[0]->maxObjectSize() + workers[0]->closings(), 0U);
    EXPECT_FALSE(workers[0]->indexLoaded());
    EXPECT_EQ(workers[0]->recoveryProgress(), 0);
    workers[0]->tell({9, 1});
    store.clock.advance(5000000);
    workers[0]->poll(); // and keeps it
    EXPECT_EQ(workers[0]->read(keyOf(1)), nullptr);
    EXPECT_FALSE(workers[0]->remove(keyOf(1)));
    ASSERT_NO_FATAL_FAILURE(begin());
    EXPECT_TRUE(until([this] { return workers[0]->state() == EngineState::recovering; })) << "before it is open";
    ASSERT_NO_FATAL_FAILURE(meet());
    ASSERT_TRUE(until([this] { return services.sums[9] == 1; }));
}

/// of which nobody knows how old it is
TEST_F(RemoteStoreTest, anObjectWithoutADate)
{
    workers[0]->setFileLifetime(3600);
    const auto bytes = bytesOf(1, 1000);
    const auto writer = workers[0]->create(keyOf(1), ObjectInfo(), 1000);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->append(bytes.data(), bytes.size()));
    ASSERT_EQ(end(*writer), Status::ok);
    store.clock.advance(7200 * 1000000ULL);
    EXPECT_TRUE(finds(0, keyOf(1)));
    EXPECT_EQ(get(0, keyOf(1)), bytes);
}

/// The owner hears nothing for long: more removals than its row lists and than the ring holds.
TEST_F(RemoteStoreTest, removalsWaitForRoom)
{
    constexpr unsigned many = 40000;
    ASSERT_EQ(put(0, keyOf(1), bytesOf(1, 1000)), Status::ok);
    for (unsigned n = 2; n < many; ++n)
        workers[0]->remove(keyOf(n));
    workers[0]->remove(keyOf(1));
    EXPECT_GT(workers[0]->link().removalsKept(), size_t(WorkerRow::length));
    EXPECT_FALSE(finds(1, keyOf(1)));
    ASSERT_TRUE(until([this] { return !workers[0]->link().removalsKept(); }));
    EXPECT_FALSE(store.engine->has(keyOf(1)));
    ASSERT_EQ(put(1, keyOf(1), bytesOf(2, 1000)), Status::ok);
    EXPECT_EQ(get(0, keyOf(1)), bytesOf(2, 1000));
    EXPECT_FALSE(workers[0]->link().removalsLost());
}

TEST_F(RemoteStoreTest, removalsThatAreKeptHaveALimit)
{
    owner = nullptr;
    ASSERT_TRUE(until([this] { return !workers[0]->connected(); }));
    for (size_t n = 0; n <= Link::maxRemovals; ++n) {
        ASSERT_FALSE(workers[0]->link().removalsLost()) << n;
        workers[0]->remove(keyOf(n % 100));
    }
    EXPECT_TRUE(workers[0]->link().removalsLost());
    EXPECT_EQ(workers[0]->link().removalsKept(), size_t(Link::maxRemovals));
}

/// The process has all the descriptors that it may have: there is an owner and a worker, or a reason, and nothing is left behind.
TEST_F(RemoteStoreTest, tooFewDescriptorsAreTold)
{
    rlimit usual;
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
    owner = nullptr;
    for (auto &worker: workers)
        worker = nullptr;
    const auto used = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()); };
    const auto before = used();
    unsigned refused = 0;
    unsigned alone = 0;
    for (rlim_t limit = 0;; ++limit) {
        const rlimit less{limit, usual.rlim_max};
        std::string error;
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &less), 0);
        owner = Owner::Open(*store.engine, store.clock, folder.socket(), error, &services);
        if (owner)
            workers[0] = std::make_unique<RemoteStore>(folder.socket(), store.clock);
        const auto turns = [this] {
            for (unsigned n = 0; owner && n < 20; ++n) {
                store.clock.advance(Link::connectMicros);
                owner->poll();
                workers[0]->poll();
            }
            return owner && workers[0]->connected();
        };
        const auto connected = turns();
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
        ASSERT_EQ(owner == nullptr, !error.empty()) << limit;
        refused += !owner;
        alone += owner && !connected;
        if (owner && !connected && workers[0]->fd() >= 0) {
            ASSERT_TRUE(turns()) << "it tries again, " << limit;
        }
        workers[0] = nullptr;
        owner = nullptr;
        ASSERT_EQ(used(), before) << limit;
        if (connected)
            break;
    }
    EXPECT_GT(refused, 3U);
    EXPECT_GT(alone, 3U);
    for (auto &worker: workers)
        worker = std::make_unique<RemoteStore>(folder.socket(), store.clock);
    ASSERT_NO_FATAL_FAILURE(begin());
    ASSERT_NO_FATAL_FAILURE(meet());
}

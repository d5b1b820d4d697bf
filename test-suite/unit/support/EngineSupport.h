// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tests of the engine share: keys, bytes, a store that can crash. */

#ifndef SQUID_TEST_SUITE_UNIT_SUPPORT_ENGINESUPPORT_H
#define SQUID_TEST_SUITE_UNIT_SUPPORT_ENGINESUPPORT_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/engine/Open.h"
#include "fs/cluster/layout/Superblock.h"
#include "fs/cluster/recovery/Format.h"
#include "test-suite/doubles/Content.h"
#include "test-suite/doubles/FaultyDevice.h"
#include "test-suite/unit/support/IdSupport.h"
#include "tools/models/ManualClock.h"
#include "tools/models/MemoryDevice.h"

#include <algorithm>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <unordered_map>
#include <utility>

namespace ClusterFs {
namespace Testing {

/// times and flags of an object that was received now
inline ObjectInfo
infoOf(const int64_t now, const uint8_t flags = 0)
{
    ObjectInfo info;
    info.timestamp = now;
    info.expires = now + 3600;
    info.lastModified = now - 86400;
    info.flags = flags;
    return info;
}

/// small enough that a test wraps around quickly
inline Config
smallConfig()
{
    Config c;
    c.clusterKb = 64;
    c.objectKb = 1;
    c.stagingMb = 2;
    c.readCacheMb = 2;
    c.warm = false; // or each start would change what the tests count
    return c;
}

/// a tenth of all bytes may be regrouped: enough for stores of a few clusters
inline Config
muchRewriting()
{
    auto c = smallConfig();
    c.writeBudget = 35;
    return c;
}

/// clusters that hold thousands of small objects
inline Config
largeClusters()
{
    auto c = smallConfig();
    c.clusterKb = 4096;
    c.stagingMb = 16;
    c.readCacheMb = 16;
    c.localityMb = 0;
    return c;
}

constexpr uint64_t MB = 1 << 20;

/// copies all from a reader
/// \param fetch brings the bytes from an offset on into memory. \returns what became of that
/// \returns ok, or why not
template <class Fetch>
Status
readAll(Reader &reader, std::string &out, const size_t piece, const Fetch &fetch)
{
    out.clear();
    std::vector<char> buffer(piece);
    for (unsigned tries = 0; tries < 1000;) {
        const auto n = reader.copy(out.size(), buffer.data(), piece);
        if (n == 0)
            return Status::ok;
        if (n > 0) {
            out.append(buffer.data(), static_cast<size_t>(n));
            continue;
        }
        ++tries;
        const auto status = fetch(out.size());
        if (status != Status::ok && status != Status::busy)
            return status;
    }
    return Status::busy;
}

/// A device in memory that can fail and lose power, and an engine on it.
class TestStore
{
public:
    /// \param plain without the faulty device in front: faster, cannot fail
    explicit TestStore(const uint64_t deviceBytes = 16 * MB, const Config &c = smallConfig(), const bool plain = false):
        config(c),
        media(clock, deviceBytes),
        plain_(plain)
    {
        connect();
    }

    /// formats and opens; to be wrapped in ASSERT_NO_FATAL_FAILURE
    void start(const uint64_t seed = 1) {
        std::string error;
        ASSERT_EQ(formatDevice(device(), config, seed, error), Status::ok) << error;
        ASSERT_EQ(open(), Status::ok) << lastError;
        settle();
    }

    Device &device() { return plain_ ? static_cast<Device &>(media) : *faulty; }

    /// a new engine on the device as it is; does not wait for the index
    Status open() {
        const Log record = [this](const LogLevel level, const std::string &line) {
            log.push_back(line);
            errors += level == LogLevel::error;
        };
        return openEngine(device(), clock, config, record, engine, lastError);
    }

    /// the process dies; what it had in flight reaches the device
    void crash() {
        engine.reset();
        connect();
    }

    /// the power goes; a part of what was not flushed is lost
    void cut() {
        faulty->cut();
        crash();
    }

    void reopen() {
        ASSERT_EQ(open(), Status::ok) << lastError;
        recover();
    }

    void crashAndReopen() {
        crash();
        reopen();
    }

    void closeAndReopen() {
        ASSERT_EQ(engine->close(60000), Status::ok);
        reopen();
    }

    /// one turn of the event loop
    void step() {
        engine->poll();
        device().wait(1);
        if (plain_)
            clock.advance(1000);
    }

    /// steps until that is so. \returns whether it ever was
    bool until(const std::function<bool()> &condition, const unsigned steps = 100000) {
        for (unsigned i = 0; i < steps; ++i) {
            if (condition())
                return true;
            step();
        }
        return condition();
    }

    void recover() { ASSERT_TRUE(until([&] { return engine->state() != EngineState::recovering; })); }

    /// recovered, and what the engine does at once is done
    void settle() {
        recover();
        for (int i = 0; i < 20; ++i)
            step();
    }

    /// lets time pass, a tenth of a second at a time
    void pass(const double seconds) {
        const auto end = clock.micros() + static_cast<uint64_t>(seconds * 1e6);
        while (clock.micros() < end) {
            clock.advance(100000);
            for (int i = 0; i < 3; ++i)
                step();
        }
    }

    /// lets time pass until all is on the device, and flushed
    /// \returns whether nothing is left in staging (readers may hold some of it)
    bool pack() {
        pass(config.persist);
        pass(config.persist);
        return engine->stats().stagedObjects == 0;
    }

    /// waits for a checkpoint that begins now
    bool checkpoint() {
        const auto before = engine->stats().counters.checkpoints;
        engine->requestCheckpoint();
        return until([&] { return engine->stats().counters.checkpoints > before; });
    }

    using ChoreAnswer = std::shared_ptr<std::optional<Status>>;
    /// begins a chore, which is answered once, and not before the next turn
    ChoreAnswer beginChore(const Chore chore, const uint64_t bytes = 0) {
        const auto answer = std::make_shared<std::optional<Status>>();
        engine->run(chore, bytes, [answer](const Status s) {
            EXPECT_FALSE(*answer) << "answered twice";
            *answer = s;
        });
        EXPECT_FALSE(*answer) << "answered before poll()";
        return answer;
    }

    /// \returns the answer to a chore; nothing when none came
    std::optional<Status> runChore(const Chore chore, const uint64_t bytes = 0) {
        const auto answer = beginChore(chore, bytes);
        until([&] { return answer->has_value(); }, 20000);
        return *answer;
    }

    /// stores an object in pieces; retries while a limit is in the way
    Status store(const Key &key, const std::string &bytes, const bool known = true, const ObjectInfo *info = nullptr,
                 const size_t piece = 4096) {
        const auto own = info ? *info : infoOf(clock.wallSeconds());
        std::unique_ptr<Writer> writer;
        if (!until([&] { return bool(writer = engine->create(key, own, known ? static_cast<int64_t>(bytes.size()) : -1)); }, 2000))
            return Status::busy;
        for (size_t at = 0; at < bytes.size(); at += piece) {
            if (!writer->append(bytes.data() + at, std::min(piece, bytes.size() - at)))
                return Status::full;
            if (at % 16384 < piece)
                step();
        }
        EXPECT_EQ(writer->size(), bytes.size());
        return writer->finish();
    }

    /// copies all from a reader. \returns ok, or why not
    Status readAll(Reader &reader, std::string &out, const size_t piece = 4096) {
        return Testing::readAll(reader, out, piece, [&](const uint64_t offset) { return fetch(reader, offset); });
    }

    Status fetch(Reader &reader, const uint64_t offset) {
        auto answer = std::make_shared<std::pair<unsigned, Status>>(0, Status::busy);
        reader.fetch(offset, [answer](const Status s) {
            ++answer->first;
            answer->second = s;
        });
        EXPECT_EQ(answer->first, 0U) << "answered before the call returned";
        EXPECT_TRUE(until([&] { return answer->first > 0; })) << "never answered";
        EXPECT_LE(answer->first, 1U) << "answered twice";
        return answer->second;
    }

    /// finds and reads an object. \returns notFound, or what became of it
    Status load(const Key &key, std::string &out, const size_t piece = 4096) {
        out.clear();
        ObjectInfo info;
        if (!engine->find(key, info))
            return Status::notFound;
        const auto reader = engine->read(key);
        if (!reader)
            return Status::notFound;
        EXPECT_EQ(reader->size(), info.size);
        const auto status = readAll(*reader, out, piece);
        if (status == Status::ok) {
            EXPECT_EQ(out.size(), info.size);
        }
        return status;
    }

    /// whether the object is there, whole; wrong bytes fail the test
    bool has(const Key &key, const std::string &wanted, const size_t piece = 4096) {
        std::string got;
        const auto status = load(key, got, piece);
        if (status == Status::ok) {
            EXPECT_TRUE(got == wanted) << "wrong bytes for " << key.hex() << ": " << got.size() << " instead of " << wanted.size();
        }
        return status == Status::ok;
    }

    bool remembers(const Key &key) const {
        ObjectInfo info;
        return engine->find(key, info);
    }

    /// overwrites what the media holds, past the engine
    void damage(const uint64_t offset, const uint64_t size, const char with = 0x55) {
        for (auto at = offset; at < std::min(offset + size, media.size()); ++at)
            media.data()[at] = static_cast<char>(media.data()[at] ^ with);
    }

    /// the same at the first place that holds these bytes
    /// \returns whether there is one
    bool damageFirst(const std::string &bytes) {
        const auto end = media.data() + media.size();
        const auto found = std::search(media.data(), end, bytes.begin(), bytes.end());
        if (found == end)
            return false;
        damage(static_cast<uint64_t>(found - media.data()), 1);
        return true;
    }

    /// whether some line of the log holds that
    bool logged(const std::string &text) const {
        for (const auto &line: log) {
            if (line.find(text) != std::string::npos)
                return true;
        }
        return false;
    }

    const Geometry &geometry() const { return engine->superblock()->geometry; }

    Config config;
    ManualClock clock;
    MemoryDevice media;
    std::unique_ptr<FaultyDevice> faulty;
    std::unique_ptr<Engine> engine;
    std::vector<std::string> log;
    unsigned errors = 0; ///< lines of that level
    std::string lastError;

private:
    void connect() {
        if (!plain_)
            faulty = std::make_unique<FaultyDevice>(media, clock, ++seed_);
    }

    const bool plain_;
    uint64_t seed_ = 0;
};

/// two keys that an index takes for one: only whoever knows its secret finds them
inline std::pair<Key, Key>
twins(TestStore &t)
{
    const KeyHasher hash(t.engine->superblock()->secret, t.geometry().baseBuckets);
    std::vector<uint32_t> latest(1 << 22); // of the keys whose number ends so, the newest, plus 1
    for (uint32_t n = 0;; ++n) { // among some millions are two that agree in 41 bits
        const auto number = hash(keyOf(n)).number();
        auto &earlier = latest[number % latest.size()];
        if (earlier && hash(keyOf(earlier - 1)).number() == number)
            return {keyOf(earlier - 1), keyOf(n)};
        earlier = n + 1;
    }
}

} // namespace Testing
} // namespace ClusterFs

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The measurements, from a store that is made to a store that is started after a crash. */

#include "tools/bench/scale/Measures.h"

#include "fs/cluster/layout/IndexBlock.h"
#include "tools/base/Json.h"
#include "tools/bench/scale/Session.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ClusterFs;
using Tools::Json;

namespace ScaleBench {

namespace {

constexpr uint64_t terabyte = uint64_t(1) << 40;
constexpr uint64_t usualBytes = 13 * 1024; ///< of an object
constexpr unsigned checkpoints = 3; ///< after which the figures are taken in the mean
constexpr unsigned idleSeconds = 4; ///< with a checkpoint due in each
constexpr double full = 0.9; ///< of a disk that is too small for so many objects of the usual size

/* processes */

/// what the processes of one measurement tell each other
struct Told {
    uint64_t objects; ///< that the next start must find
    uint64_t next; ///< number of the next object to be stored
    double recovered; ///< seconds of a start
    uint64_t recoveredBytes; ///< that it read
};

Told &
told()
{
    static auto *const shared = static_cast<Told *>(mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    return *shared;
}

void
need(const bool well, const std::string &what)
{
    if (!well)
        throw std::runtime_error(what);
}

/// Does something in a process of its own, which ends without closing anything.
/// \returns the JSON object that it filled
Json
inProcess(const char *const name, const std::function<void(Json &)> &work)
{
    std::array<int, 2> ends{};
    need(pipe(ends.data()) == 0, "there is no pipe");
    fflush(stdout);
    const auto child = fork();
    need(child >= 0, "there is no process");
    if (child == 0) {
        close(ends[0]);
        Json json = {{"what", name}};
        try {
            work(json);
        } catch (const std::exception &e) {
            fprintf(stderr, "bench-scale: %s: %s\n", name, e.what());
            _exit(1);
        }
        const auto text = Tools::jsonText(json);
        fflush(stdout);
        _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t got; (got = read(ends[0], piece.data(), piece.size())) > 0;)
        text.append(piece.data(), static_cast<size_t>(got));
    close(ends[0]);
    int status = 0;
    need(waitpid(child, &status, 0) == child && status == 0, std::string(name) + " failed");
    return Json::parse(text);
}

/* what is said of them */

double
milliseconds(const uint64_t nanos)
{
    return static_cast<double>(nanos) / 1e6;
}

double
each(const double bytes, const uint64_t count)
{
    return count ? bytes / static_cast<double>(count) : 0;
}

void
tell(Json &json, const char *const when, const Turns &turns)
{
    printf("  longest turn, %s: %.2f ms (%s), %llu of %llu above 2 ms; processor time %.2f ms (%s), %llu\n", when,
           milliseconds(turns.wall.longest), turns.wall.which.c_str(), static_cast<unsigned long long>(turns.wall.tooLong),
           static_cast<unsigned long long>(turns.calls), milliseconds(turns.processor.longest), turns.processor.which.c_str(),
           static_cast<unsigned long long>(turns.processor.tooLong));
    json[std::string("turns ") + when] = {
        {"calls", turns.calls}, {"longestMs", milliseconds(turns.wall.longest)}, {"longest", turns.wall.which},
        {"above2ms", turns.wall.tooLong}, {"longestProcessorMs", milliseconds(turns.processor.longest)},
        {"longestProcessor", turns.processor.which}, {"processorAbove2ms", turns.processor.tooLong}
    };
}

void
tell(Json &json, const char *const name, const double value, const char *const unit)
{
    printf("  %s: %.4g %s\n", name, value, unit);
    json[name] = value;
}

void
tell(Json &json, const char *const name, const uint64_t value, const char *const unit)
{
    printf("  %s: %llu %s\n", name, static_cast<unsigned long long>(value), unit);
    json[name] = value;
}

void
tell(Json &json, const Start &start, const Stats &stats)
{
    tell(json, "clean", uint64_t(stats.recovery.clean), "(1 = yes)");
    tell(json, "objects", stats.recovery.objects, "");
    tell(json, "seconds to the first hit", start.firstHit, "");
    tell(json, "seconds to the whole index", start.seconds, "");
    tell(json, "processor seconds of it", static_cast<double>(start.turns.processorNanos) / 1e9, "");
    tell(json, "bytes read for it", stats.recovery.bytesRead, "");
    tell(json, "index bytes of an object", stats.bytesPerObject, "");
    tell(json, "resident bytes of an object", each(static_cast<double>(start.residentBytes), stats.objects), "");
    tell(json, "in a start", start.turns);
}

/* measurements */

/// What the index log says of objects that were stored: a section for each cluster, a line for each object.
uint64_t
bytesToSay(const Stats &before, const Stats &after)
{
    return (after.counters.packs - before.counters.packs) * IndexSection::encodedBytes +
           (after.counters.packedObjects - before.counters.packedObjects) * IndexObject::encodedBytes;
}

/// checkpoints after some objects were stored, after some were deleted, after some got other times, and after nothing
void
useIt(Session &session, const MadeStore &store, const Plan &plan, Json &json)
{
    auto &t = told();
    Turns load;
    Turns writing;
    double bytes = 0;
    double say = 0;
    double processor = 0;
    double seconds = 0;
    for (unsigned i = 0; i < checkpoints; ++i) {
        const auto before = session.stats();
        session.store(t.next, plan.changes(), load);
        t.next += plan.changes();
        const auto said = bytesToSay(before, session.stats());
        const auto c = session.checkpoint();
        bytes += static_cast<double>(c.bytes);
        say += static_cast<double>(said);
        processor += c.processorSeconds;
        seconds += c.seconds;
        writing.add(c.turns);
    }
    tell(json, "bytes of a checkpoint", bytes / checkpoints, "");
    tell(json, "bytes of it for each object stored", each(bytes, checkpoints * plan.changes()), "");
    tell(json, "bytes of it for each byte that there was to say", bytes / say, "");
    tell(json, "seconds of a checkpoint", seconds / checkpoints, "");
    tell(json, "processor time of a checkpoint, of the time between two", 100 * processor / checkpoints / static_cast<double>(plan.interval), "%");
    tell(json, "while objects are stored and read", load);
    tell(json, "while a checkpoint is written", writing);

    const auto few = plan.changes() / 10;
    const auto apart = store.shape().objects / (2 * few);
    Turns changing;
    for (uint64_t i = 0; i < few; ++i)
        session.remove(2 * i * apart, changing);
    const auto removed = session.checkpoint();
    tell(json, "bytes of a checkpoint for each object deleted", each(static_cast<double>(removed.bytes), few), "");
    for (uint64_t i = 0; i < few; ++i)
        session.update((2 * i + 1) * apart, changing);
    const auto updated = session.checkpoint();
    tell(json, "bytes of a checkpoint for each object with other times", each(static_cast<double>(updated.bytes), few), "");
    tell(json, "while objects are deleted and updated", changing);
    Turns idling;
    tell(json, "bytes written while nothing happens", session.idle(idleSeconds, idling), "");
    tell(json, "while nothing happens", idling);
}

/// Whether a start has found all objects, but for a few that hash like others: among ten million, in a small
/// index, two do in one store of sixty.
bool
areAll(const uint64_t found, const uint64_t stored)
{
    constexpr uint64_t alike = 3;
    return found <= stored && found + alike >= stored;
}

/// a start of a store that was stopped, its use, and another stop
void
cleanRun(const MadeStore &store, const Plan &plan, Json &json)
{
    Session session(store);
    const auto start = session.start();
    tell(json, start, session.stats());
    need(areAll(session.stats().recovery.objects, store.shape().objects), "objects are missing after a stop");
    told().next = store.shape().objects;
    useIt(session, store, plan, json);
    Turns load;
    session.store(told().next, plan.changes(), load);
    told().next += plan.changes();
    told().objects = session.stats().objects;
    tell(json, "seconds of a stop", session.stop(), "");
    tell(json, "bytes of its checkpoint", session.stats().counters.checkpointBytes, "in all checkpoints");
}

/// a start after a stop, and a crash
void
crash(const MadeStore &store, const Plan &plan, Json &json)
{
    Session session(store);
    const auto start = session.start();
    tell(json, start, session.stats());
    need(session.stats().recovery.objects == told().objects, "after a stop there are " +
         std::to_string(session.stats().recovery.objects) + " objects, not " + std::to_string(told().objects));
    Turns turns;
    session.store(told().next, plan.changes(), turns);
    const auto few = plan.changes() / 10; // of those that useIt() left
    for (uint64_t i = 0; i < few; ++i)
        session.remove((2 * i + 1) * (store.shape().objects / (2 * few)), turns);
    session.writeDeletes(turns);
    told().objects = session.stats().objects;
}

/// the start after a crash, beside reading the log
void
recover(const MadeStore &store, Json &json)
{
    uint64_t bytes = 0;
    const auto once = store.readLog(bytes);
    const auto micros = std::min(once, store.readLog(bytes));
    Session session(store);
    const auto start = session.start();
    const auto stats = session.stats();
    tell(json, start, stats);
    need(areAll(stats.recovery.objects, told().objects), "objects are missing after a crash: " + std::to_string(told().objects) + " were packed");
    const auto alike = static_cast<double>(micros) / 1e6 * static_cast<double>(stats.recovery.bytesRead) / static_cast<double>(bytes);
    tell(json, "seconds to read as many bytes in sequence", alike, "");
    tell(json, "seconds to the whole index, of those", start.seconds / alike, "x");
    Turns turns;
    session.settle(turns);
    tell(json, "in the checkpoint after a crash", turns);
}

/// a start with a damaged block in the middle of the index log
void
damaged(const MadeStore &store, Json &json)
{
    const auto described = store.damage();
    Session session(store);
    const auto start = session.start();
    tell(json, start, session.stats());
    uint64_t lost = 0;
    uint64_t others = 0;
    uint64_t doubtful = 0;
    for (uint64_t n = 0; n < store.shape().objects; ++n) {
        ObjectInfo info;
        const bool there = session.engine().peek(keyOf(n), info);
        lost += !there;
        others += !there && !described.count(n);
        doubtful += there && (info.flags & flagDoubtful);
    }
    tell(json, "blocks lost", session.stats().recovery.blocksLost, "");
    tell(json, "objects that they described", uint64_t(described.size()), "");
    tell(json, "objects lost", lost, "");
    tell(json, "of these, others than they described", others, "");
    tell(json, "doubtful objects", doubtful, "");
}

/// the start of a store that died while it moved objects
void
contested(const MadeStore &store, Json &json)
{
    Session session(store);
    const auto start = session.start();
    tell(json, start, session.stats());
    need(areAll(session.stats().recovery.objects, store.shape().objects), "objects are missing");
    Turns turns;
    session.settle(turns);
    tell(json, "in the checkpoint after a crash", turns);
}

/// stores into a full device, so that what is there must go
void
evict(const MadeStore &store, const Plan &plan, Json &json)
{
    Session session(store);
    session.start();
    Turns turns;
    session.store(store.shape().objects, plan.changes(), turns);
    tell(json, "clusters evicted", session.stats().counters.evictedClusters, "");
    tell(json, "objects evicted", session.stats().counters.evictedObjects, "");
    tell(json, "objects relocated", session.stats().counters.relocatedObjects, "");
    need(session.stats().counters.evictedClusters > 0, "nothing was evicted");
    tell(json, "while clusters are evicted", turns);
}

/// Objects are stored until all that was there has been replaced, over and over: checkpoints when the
/// index log has been written round.
void
turnOver(const MadeStore &store, const Plan &plan, Json &json)
{
    constexpr unsigned times = 3;
    const auto pieces = plan.pieces;
    Session session(store);
    session.start();
    Turns turns;
    double bytes = 0;
    double say = 0;
    double most = 0;
    const auto piece = store.shape().objects / pieces;
    for (unsigned i = 0; i < times * pieces; ++i) {
        const auto before = session.stats();
        session.store(store.shape().objects + i * piece, piece, turns);
        const auto said = static_cast<double>(bytesToSay(before, session.stats()));
        const auto c = session.checkpoint();
        if (i < pieces)
            continue; // a log that has just been made is short
        bytes += static_cast<double>(c.bytes);
        say += said;
        most = std::max(most, static_cast<double>(c.bytes) / said);
    }
    tell(json, "bytes of a checkpoint for each byte that there was to say", bytes / say, "");
    tell(json, "the same, most", most, "");
}

/* all of it */

class Measuring
{
public:
    explicit Measuring(const Plan &plan): plan_(plan) {}

    Json run() {
        for (const auto tb: plan_.terabytes)
            disk(tb);
        memory(usualBytes);
        memory(3000);
        shapes();
        return {{"machine", machine()}, {"measured", measured_}};
    }

private:
    std::string path() const { return plan_.folder + "/bench-scale.image"; }

    void add(const std::string &title, const char *const what, const std::function<void(Json &)> &work) {
        printf("%s: %s\n", title.c_str(), what);
        measured_.push_back(inProcess((title + ": " + what).c_str(), work));
    }

    void disk(const uint64_t tb) {
        Shape shape;
        shape.deviceBytes = tb * terabyte;
        shape.objects = plan_.objects;
        const auto room = full * static_cast<double>(shape.deviceBytes) / static_cast<double>(plan_.objects);
        shape.objectBytes = static_cast<uint32_t>(std::min<double>(usualBytes, room));
        const auto title = std::to_string(tb) + " TB, " + std::to_string(shape.objects) + " objects of " + std::to_string(shape.objectBytes) + " bytes";
        MadeStore store(shape, path());
        store.make();
        add(title, "start with a damaged block", [&](Json &json) { damaged(store, json); });
        store.make();
        add(title, "start, checkpoints, stop", [&](Json &json) { cleanRun(store, plan_, json); });
        add(title, "start after the stop, crash", [&](Json &json) { crash(store, plan_, json); });
        add(title, "start after the crash", [&](Json &json) { recover(store, json); });
        unlink(path().c_str());
    }

    /// a disk that is full of objects
    Shape filled(const uint64_t objects, const uint32_t bytes, const uint32_t clusterKb, const uint64_t copies = 0) const {
        Shape shape;
        shape.objects = objects;
        shape.objectBytes = bytes;
        shape.clusterKb = clusterKb;
        shape.copies = copies;
        for (shape.deviceBytes = (objects + copies) * bytes; !MadeStore::Fits(shape); shape.deviceBytes += shape.deviceBytes / 500) {}
        return shape;
    }

    static std::string fullDisk(const uint32_t bytes, const uint32_t clusterKb) {
        return "full, objects of " + std::to_string(bytes) + " bytes, clusters of " + std::to_string(clusterKb / 1024) + " MB";
    }

    void memory(const uint32_t bytes) {
        MadeStore store(filled(plan_.fewer, bytes, 1024), path());
        store.make();
        add(fullDisk(bytes, 1024), "memory", [&](Json &json) {
            Session session(store);
            const auto start = session.start();
            tell(json, start, session.stats());
        });
        unlink(path().c_str());
    }

    void shapes() {
        for (const bool large: {false, true}) {
            const uint32_t bytes = large ? 800 : usualBytes;
            const uint32_t clusterKb = large ? 16384 : 1024;
            const auto title = fullDisk(bytes, clusterKb);
            MadeStore moving(filled(plan_.fewer, bytes, clusterKb, plan_.copies), path());
            moving.make();
            add(title, "start with two copies of some", [&](Json &json) { contested(moving, json); });
            MadeStore store(filled(plan_.fewer, bytes, clusterKb), path());
            store.make();
            add(title, "eviction", [&](Json &json) { evict(store, plan_, json); });
        }
        MadeStore store(filled(plan_.fewer / 20, 3000, 1024), path());
        store.make();
        add(fullDisk(3000, 1024), "checkpoints while all is replaced",
            [&](Json &json) { turnOver(store, plan_, json); });
        unlink(path().c_str());
    }

    Json machine() const {
        std::string cpu;
        std::ifstream file("/proc/cpuinfo");
        for (std::string line; std::getline(file, line);) {
            if (line.compare(0, 10, "model name") == 0)
                cpu = line.substr(line.find(':') + 2);
        }
        struct utsname system{};
        uname(&system);
        return {
            {"cpu", cpu}, {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
            {"memoryMb", static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) >> 20},
            {"kernel", system.release}, {"storesPerSecond", plan_.rate}, {"checkpointSeconds", plan_.interval}
        };
    }

    const Plan plan_;
    Json measured_ = Json::array(); ///< an object for each thing that was done
};

} // namespace

std::string
measureAll(const Plan &plan)
{
    told(); // before there are processes to share it
    return Tools::jsonText(Measuring(plan).run(), 1) + "\n";
}

} // namespace ScaleBench

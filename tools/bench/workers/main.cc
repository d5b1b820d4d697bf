// SPDX-License-Identifier: GPL-2.0-or-later
/* bench-workers: the costs of a store that several workers share: look-ups and copies in shared memory, waking another process, the
 * processor time of the engine itself, and of objects that come from another process. */

#include "fs/cluster/api/Writer.h"
#include "fs/cluster/base/Crc32c.h"
#include "fs/cluster/catalog/Index.h"
#include "fs/cluster/catalog/IndexView.h"
#include "lib/Formatting.h"
#include "tools/base/Clock.h"
#include "tools/base/CommandLine.h"
#include "tools/base/LatencyHistogram.h"
#include "tools/base/Random.h"
#include "tools/bench/engine/DirectEngine.h"
#include "tools/bench/workers/Exchange.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace ClusterFs;
using Tools::LatencyHistogram;

namespace {

struct Plan {
    std::string path;
    uint64_t records = 1000000; ///< of the index
    uint64_t bytes = 13000; ///< of an object
    uint64_t objects = 20000; ///< that the engine stores
    uint64_t rounds = 5;
};

constexpr uint64_t apart = 101; ///< more objects than lie in a cluster: a read brings others of its cluster along
volatile uint64_t sink; ///< so that nothing is left out whose result nobody wants

/// the median of some rounds, with the least and the most
void
show(const char *const what, std::vector<double> values, const char *const unit)
{
    std::sort(values.begin(), values.end());
    printf("%-76s %9.2f %9.2f %9.2f %s\n", what, values[values.size() / 2], values.front(), values.back(), unit);
    fflush(stdout);
}

/// \param work does something so many times
void
measure(const Plan &plan, const char *const what, const uint64_t times, const std::function<void(uint64_t)> &work)
{
    work(times / 10);
    std::vector<double> nanos;
    for (uint64_t i = 0; i < plan.rounds; ++i) {
        const auto begin = Tools::now();
        work(times);
        nanos.push_back(static_cast<double>(Tools::now() - begin) / static_cast<double>(times));
    }
    show(what, nanos, "ns");
}

Key
keyOf(const uint64_t n)
{
    Key key;
    const uint64_t halves[] = {Tools::mix(n), Tools::mix(n + (uint64_t(1) << 40))};
    memcpy(key.bytes.data(), halves, sizeof(halves));
    return key;
}

/// memory that another process could map: once to write, once to read
class Shared
{
public:
    explicit Shared(const size_t size): size_(size) {
        const int fd = memfd_create("bench-workers", MFD_CLOEXEC);
        if (fd < 0 || ftruncate(fd, static_cast<off_t>(size)) != 0)
            throw std::runtime_error("no memfd");
        writable_ = map(fd, PROT_READ | PROT_WRITE);
        readable_ = map(fd, PROT_READ);
        close(fd);
    }
    ~Shared() {
        munmap(writable_, size_);
        munmap(readable_, size_);
    }
    Shared(const Shared &) = delete;
    Shared &operator =(const Shared &) = delete;

    void *writable() const { return writable_; }
    const void *readable() const { return readable_; }

private:
    void *map(const int fd, const int how) const {
        void *const at = mmap(nullptr, size_, how, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED)
            throw std::runtime_error("no memory");
        return at;
    }

    const size_t size_;
    void *writable_;
    void *readable_;
};

void
lookUps(const Plan &plan)
{
    constexpr uint64_t times = 2000000;
    Index index(plan.records * 2, 1024, {1, 2, 3, 4}, false);
    for (uint64_t n = 0; n < plan.records; ++n)
        index.insert(keyOf(n));
    measure(plan, "look-up in the engine's index", times, [&](const uint64_t count) {
        for (uint64_t i = 0; i < count; ++i)
            sink = sink + index.find(keyOf(Tools::mix(i) % plan.records)).value();
    });
    const Region clusters(sizeof(ClusterEntry));
    IndexView::Tables tables;
    tables.head = reinterpret_cast<const IndexHead *>(index.headMemory().data());
    tables.buckets = reinterpret_cast<const uint32_t *>(index.bucketMemory().data());
    tables.bucketsAtMost = index.bucketMemory().size() / sizeof(uint32_t);
    tables.records = reinterpret_cast<const Record *>(index.recordMemory().data());
    tables.recordsAtMost = index.capacity();
    tables.clusters = reinterpret_cast<const ClusterEntry *>(clusters.data());
    tables.clusterCount = 1;
    tables.baseBuckets = 1024;
    const IndexView view(tables, {1, 2, 3, 4});
    const auto lookAll = [&](const uint64_t count) {
        ObjectInfo info;
        for (uint64_t i = 0; i < count; ++i)
            sink = sink + view.find(keyOf(Tools::mix(i) % plan.records), info);
    };
    measure(plan, "look-up by a worker in the owner's index", times, lookAll);
    const auto change = [&](const uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            const auto slot = index.insert(keyOf(plan.records + i % plan.records));
            index.unlink(slot);
            index.release(slot);
        }
    };
    measure(plan, "a record that comes and goes", times, change);
    std::atomic<bool> stop{false};
    std::thread changes([&] {
        while (!stop)
            change(1000);
    });
    measure(plan, "look-up by a worker while records come and go all the time", times, lookAll);
    stop = true;
    changes.join();
}

void
copies(const Plan &plan)
{
    constexpr uint64_t times = 100000;
    constexpr size_t chunk = 1024; // of staging
    const size_t room = 64 << 20;
    const Shared memory(room);
    memset(memory.writable(), 7, room);
    const auto *const from = static_cast<const char *>(memory.readable());
    std::vector<char> to(plan.bytes + chunk);
    const std::atomic<uint64_t> generation{2};
    const auto copied = [&](const bool checked) {
        return [&, checked](const uint64_t count) {
            for (uint64_t i = 0; i < count; ++i) {
                const auto before = generation.load(std::memory_order_acquire);
                for (size_t at = 0; at < plan.bytes; at += chunk)
                    memcpy(to.data() + at, from + Tools::mix(i, at) % (room / chunk) * chunk, std::min<size_t>(chunk, plan.bytes - at));
                std::atomic_thread_fence(std::memory_order_acquire);
                sink = sink + (generation.load(std::memory_order_relaxed) == before);
                if (checked)
                    sink = sink + crc32c(to.data(), plan.bytes);
            }
        };
    };
    measure(plan, "copy of an object from chunks of 1 KB, with two looks at a generation", times, copied(false));
    measure(plan, "the same with a checksum of the copy", times, copied(true));
}

void
pin(const unsigned processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

/// a way to wake another process, as its main loop would see it: by a descriptor in epoll
class Way
{
public:
    virtual ~Way() = default;
    virtual int waitFor(bool child) const = 0; ///< the descriptor on one side
    virtual void wake(bool child) const = 0; ///< from that side
    virtual void take(bool child) const = 0; ///< what has come to that side
};

class ByEvent final : public Way
{
public:
    ByEvent(): ends_{eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK)} {}
    ~ByEvent() override {
        close(ends_[0]);
        close(ends_[1]);
    }
    int waitFor(const bool child) const override { return ends_[child]; }
    void wake(const bool child) const override {
        const uint64_t one = 1;
        sink = sink + static_cast<uint64_t>(write(ends_[!child], &one, sizeof(one)));
    }
    void take(const bool child) const override {
        uint64_t count = 0;
        sink = sink + static_cast<uint64_t>(read(ends_[child], &count, sizeof(count)));
    }

private:
    const int ends_[2];
};

class BySocket final : public Way
{
public:
    BySocket(const int type, const size_t bytes): message_(bytes) {
        if (socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, ends_) != 0)
            throw std::runtime_error("no sockets");
    }
    ~BySocket() override {
        close(ends_[0]);
        close(ends_[1]);
    }
    int waitFor(const bool child) const override { return ends_[child]; }
    void wake(const bool child) const override { sink = sink + static_cast<uint64_t>(send(ends_[child], message_.data(), message_.size(), 0)); }
    void take(const bool child) const override {
        char to[8192];
        sink = sink + static_cast<uint64_t>(recv(ends_[child], to, sizeof(to), 0));
    }

private:
    int ends_[2];
    std::vector<char> message_;
};

void
await(const int epoll)
{
    epoll_event event;
    while (epoll_wait(epoll, &event, 1, -1) != 1)
        continue;
}

/// a process that takes a processor's time until it is killed
pid_t
begin(const std::function<void()> &work)
{
    const auto child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    return child;
}

/// Half of the time of a message there and an answer back, between two processes on two processors.
/// \param busy whether other processes want both processors, too \param pause microseconds between two messages
void
wakeUps(const Plan &plan, const char *const what, const Way &way, const bool busy, const unsigned pause)
{
    const unsigned times = pause ? 2000 : 20000;
    const auto loop = [&way](const bool child) {
        const int epoll = epoll_create1(0);
        epoll_event event{};
        event.events = EPOLLIN;
        (void)epoll_ctl(epoll, EPOLL_CTL_ADD, way.waitFor(child), &event);
        return epoll;
    };
    std::vector<pid_t> children;
    children.push_back(begin([&] {
        pin(1);
        const int epoll = loop(true);
        for (;;) {
            await(epoll);
            way.take(true);
            way.wake(true);
        }
    }));
    for (unsigned processor = 0; busy && processor < 2; ++processor) {
        children.push_back(begin([processor] {
            pin(processor);
            for (;;)
                sink = sink + 1;
        }));
    }
    cpu_set_t before;
    (void)sched_getaffinity(0, sizeof(before), &before);
    pin(0);
    const int epoll = loop(false);
    std::vector<double> medians;
    for (uint64_t round = 0; round < plan.rounds; ++round) {
        LatencyHistogram nanos;
        for (unsigned i = 0; i < times / (busy ? 20 : 1); ++i) {
            if (pause)
                usleep(pause);
            const auto begun = Tools::now();
            way.wake(false);
            await(epoll);
            way.take(false);
            nanos.add((Tools::now() - begun) / 2);
        }
        medians.push_back(static_cast<double>(nanos.percentile(0.5)) / 1000);
    }
    close(epoll);
    (void)sched_setaffinity(0, sizeof(before), &before);
    for (const auto child: children) {
        kill(child, SIGKILL);
        (void)waitpid(child, nullptr, 0);
    }
    show(what, medians, "us");
}

double
processorSeconds()
{
    rusage use;
    getrusage(RUSAGE_SELF, &use);
    const auto seconds = [](const timeval &t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

/// makes an empty store, on a blank disk or in a new file
void
format(const Plan &plan)
{
    Library::FormatOrder order;
    order.path = plan.path;
    order.bytes = roundDown(plan.objects * plan.bytes * 3 / 2 + (64 << 20), 4096);
    order.log = [](LogLevel, const std::string &) {};
    bool already = false;
    std::string error;
    if (Library::makeCache(order, already, error) != Status::ok || already)
        throw std::runtime_error(already ? plan.path + " is a store already; give a blank disk, or a file that is not there" : error);
}

/// stores an object as its owner would for a worker
void
store(Bench::DirectEngine &direct, const Key &key, const std::vector<char> &bytes)
{
    auto &engine = direct.engine();
    ObjectInfo info;
    (void)engine.find(key, info);
    std::unique_ptr<Writer> writer;
    while (!(writer = engine.create(key, info, static_cast<int64_t>(bytes.size()))))
        direct.turn();
    if (!writer->append(bytes.data(), bytes.size()) || writer->finish() != Status::ok)
        throw std::runtime_error("not stored");
    engine.poll();
    while (writer->congested())
        direct.turn();
}

void
owner(const Plan &plan)
{
    format(plan);
    Bench::DirectEngine engine(plan.path);
    std::vector<char> buffer(plan.bytes);
    const auto read = [&](const uint64_t n) {
        if (!engine.read(keyOf(n), buffer))
            throw std::runtime_error("not there");
    };
    const auto measured = [&](const char *const what, const uint64_t times, const std::function<void(uint64_t)> &work) {
        std::vector<double> micros;
        for (uint64_t round = 0; round < plan.rounds; ++round) {
            const auto begin = processorSeconds();
            for (uint64_t i = 0; i < times; ++i)
                work(round * times + i);
            engine.finish();
            micros.push_back((processorSeconds() - begin) * 1e6 / static_cast<double>(times));
        }
        show(what, micros, "us of processor time");
    };
    const auto each = plan.objects / plan.rounds;
    measured("engine: look-up, store and packing of an object", each, [&](const uint64_t n) { store(engine, keyOf(n), buffer); });
    // each round has others, none of which an earlier read has brought along
    const auto places = plan.objects / apart;
    measured("engine: hit from the disk, objects far apart", places, [&](const uint64_t n) { read((n * apart + n / places * 20) % plan.objects); });
    measured("engine: hit from memory", each, [&](const uint64_t n) { read(plan.objects - 1 - n % 200); });
}

/// the same for a process that has no engine of its own
void
throughOwner(const Plan &plan)
{
    const auto each = plan.objects / plan.rounds;
    const auto places = plan.objects / apart;
    const auto farApart = [&plan, places](const uint64_t n) { return (n * apart + n / places * 20 + 7) % plan.objects; };
    const auto newest = [&plan](const uint64_t n) { return plan.objects - 1 - n % 200; };
    const auto any = [&plan](const uint64_t n) { return plan.objects + n; };
    const Bench::Load loads[] = {
        {"owner and worker: hit from the disk, one after the other", false, places, 1, farApart},
        {"owner and worker: hit from the disk, 16 at a time", false, places, 16, farApart},
        {"owner and worker: hit from memory, one after the other", false, each, 1, newest},
        {"owner and worker: hit from memory, 16 at a time", false, each, 16, newest},
        {"owner and worker: store, one after the other", true, each, 1, any},
        {"owner and worker: store, 16 at a time", true, each, 16, any},
    };
    for (const auto &load: loads) {
        const auto costs = Bench::exchange(plan.path, load, plan.bytes, plan.rounds, keyOf);
        const std::string name = load.name;
        show((name + ": owner").c_str(), costs.ownerMicros, "us of processor time");
        show((name + ": worker").c_str(), costs.workerMicros, "us of processor time");
        show((name + ": latency").c_str(), costs.latency, "us");
        show((name + ": wake-ups").c_str(), costs.wakeUps, "for each object");
    }
}

} // namespace

int
main(int argc, char **argv)
{
    Plan plan;
    Tools::CommandLine line("bench-workers: measures the costs of a store that several workers share: look-ups and copies in shared memory, waking "
                            "another process, the processor time of the engine, and objects that come from another process. Each line: median of the rounds, least, most.");
    line.text("path", plan.path, "PATH", "a blank disk, or a file to be made, for the engine; its figures are left out without it");
    line.whole("records", plan.records, 1000, 100000000, "records of the index");
    line.bytes("bytes", plan.bytes, 100, 200000, "bytes of an object");
    line.whole("objects", plan.objects, 1000, 10000000, "objects that the engine stores");
    line.whole("rounds", plan.rounds, 1, 100, "rounds of each measurement");
    try {
        if (!line.read(Tools::wordsOf(argc, argv)))
            return 0;
        plan.objects -= plan.objects % plan.rounds; // each round stores as many
        lookUps(plan);
        copies(plan);
        const ByEvent event;
        const BySocket byte(SOCK_SEQPACKET, 1), message(SOCK_DGRAM, 4096);
        for (const bool busy: {false, true}) {
            wakeUps(plan, busy ? "eventfd, both processors busy" : "wake-up by eventfd, one after the other", event, busy, 0);
            wakeUps(plan, busy ? "SEQPACKET, both processors busy" : "wake-up by a byte on SEQPACKET, one after the other", byte, busy, 0);
            wakeUps(plan, busy ? "datagram of 4 KB, both processors busy" : "wake-up by a datagram of 4 KB, as Squid's own, one after the other", message, busy, 0);
        }
        wakeUps(plan, "eventfd, a pause of 1 ms before each", event, false, 1000);
        wakeUps(plan, "SEQPACKET, a pause of 1 ms before each", byte, false, 1000);
        if (!plan.path.empty()) {
            owner(plan);
            throughOwner(plan);
        }
        return 0;
    } catch (const std::exception &e) {
        std::cerr << "bench-workers: " << e.what() << "\n";
        return 1;
    }
}

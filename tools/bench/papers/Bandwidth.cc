// SPDX-License-Identifier: GPL-2.0-or-later
/* How much of a device's bandwidth a store uses: when it packs, and when
 * many objects are read at once. */

#include "Bench.h"
#include "Experiments.h"
#include "LibraryStore.h"

#include "tools/base/Random.h"

#include <array>
#include <numeric>

namespace Papers {
namespace {

/// Keeps a number of reads going, from one thread, as an event loop does.
class ReadLoop
{
public:
    ReadLoop(clusterfs_store *store, const Content &content, const uint32_t size, Tally &tally):
        store_(store),
        content_(content),
        size_(size),
        tally_(tally),
        buffer_(size) {}

    void run(const std::vector<uint32_t> &ids, unsigned depth);

private:
    static bool begin(clusterfs_queue *, uint32_t id);
    void finish(const clusterfs_answer &);

    clusterfs_store *const store_;
    const Content &content_;
    const uint32_t size_;
    Tally &tally_;
    std::vector<char> buffer_;
};

void
ReadLoop::run(const std::vector<uint32_t> &ids, const unsigned depth)
{
    clusterfs_queue *queue = nullptr;
    if (clusterfs_queue_new(store_, depth, &queue) != 0)
        throw std::runtime_error("there is no memory for a queue");
    const std::unique_ptr<clusterfs_queue, decltype(&clusterfs_queue_free)> owner(queue, &clusterfs_queue_free);
    std::array<clusterfs_answer, 32> answers;
    size_t next = 0;
    for (size_t done = 0; done < ids.size();) {
        while (next < ids.size() && next - done < depth && begin(queue, ids[next]))
            ++next;
        const int came = clusterfs_wait(queue, answers.data(), answers.size(), -1);
        if (came <= 0)
            throw std::runtime_error(std::string("reads are not answered: ") + clusterfs_strerror(came));
        for (int i = 0; i < came; ++i)
            finish(answers[static_cast<size_t>(i)]);
        done += static_cast<size_t>(came);
    }
}

/// \returns whether an answer will come
bool
ReadLoop::begin(clusterfs_queue *const queue, const uint32_t id)
{
    const auto name = LibraryStore::NameOf(id);
    clusterfs_request request{};
    request.struct_size = sizeof(request);
    request.operation = CLUSTERFS_OP_READ;
    request.tag = id;
    request.name = name.data();
    request.name_size = name.size();
    return clusterfs_submit(queue, &request) == 0;
}

void
ReadLoop::finish(const clusterfs_answer &answer)
{
    if (answer.result != 0) {
        tally_.count(answer.result == -CLUSTERFS_NOT_FOUND ? Outcome::missing : Outcome::bad, true);
        return;
    }
    uint32_t version = 0;
    const auto id = static_cast<uint32_t>(answer.tag);
    const bool right = clusterfs_size(answer.object) == size_ && clusterfs_read_bytes(answer.object, 0, buffer_.data(), size_) == size_ &&
                       content_.check(id, size_, 0, buffer_.data(), size_, version);
    clusterfs_release(answer.object);
    tally_.count(right ? Outcome::done : Outcome::bad, true);
}

void
describe(Json &json, const uint32_t objects, const uint32_t size)
{
    json["operations"] = objects;
    json["bytes"] = uint64_t(objects) * size;
}

void
declare(CommandLine &line, Options &o)
{
    o.size = 65536;
    line.whole("megabytes", o.megabytes, 8, 1 << 20, "MB of objects to write and to read");
    line.bytes("size", o.size, Content::headerBytes, 1 << 20, "bytes of an object");
    line.whole("depth", o.depth, 1, 1024, "reads at once");
    Bench::Declare(line, o);
}

bool
run(const Options &options, Json &json)
{
    if (options.store != "clusterfs" || options.threads != 1)
        throw BadRequest("this experiment is for --store clusterfs and one thread; its other side is fio on the device");
    const auto size = options.size;
    const auto objects = static_cast<uint32_t>((options.megabytes << 20) / size);
    const auto depth = options.depth;
    Bench bench(options, Calls::plain, objects, size);
    const Content content(options.seed);
    bench.ready();
    bench.phase("pack", 1, [&](unsigned) {
        LatencyHistogram unused;
        for (uint32_t id = 0; id < objects; ++id) {
            Item item;
            item.id = id;
            item.size = size;
            (void)bench.create(item, Hint(), unused);
        }
    }, [&](Json &j) { describe(j, objects, size); });
    bench.dropMemory();
    std::vector<uint32_t> order(objects);
    std::iota(order.begin(), order.end(), 0);
    Tools::TwisterRandom(options.seed).shuffle(order);
    ReadLoop loop(dynamic_cast<LibraryStore &>(bench.store()).store(), content, size, bench.tally);
    bench.phase("read", 1, [&](unsigned) { loop.run(order, depth); }, [&](Json &j) { describe(j, objects, size); });
    json["workload"] = {{"objects", objects}, {"size", size}, {"depth", depth}};
    return bench.report(json);
}

} // namespace

const Experiment bandwidthExperiment = {"bandwidth", "packing, and reading many objects at once, for fio's figure beside it", declare, run};

} // namespace Papers

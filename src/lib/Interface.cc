// SPDX-License-Identifier: GPL-2.0-or-later
/* The C interface: checks arguments, and turns exceptions into errors. */

#include "clusterfs/clusterfs.h"
#include "fs/cluster/api/Options.h"
#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Version.h"
#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/engine/Statistics.h"
#include "lib/Calls.h"
#include "lib/Formatting.h"
#include "lib/Handles.h"

#include <algorithm>
#include <cstring>
#include <string>

using namespace ClusterFs;
using namespace ClusterFs::Library;

namespace {

/// the texts of clusterfs_strerror(), by code
constexpr const char *texts[] = {
    "success",
    "an argument is not valid",
    "not found",
    "a limit was reached; the call may succeed later",
    "too large",
    "no room on the device",
    "not enough memory, threads or file descriptors",
    "the device refused or lost a request",
    "the bytes on the device are damaged",
    "the device holds something else than a store",
    "the store has a format or geometry that this library cannot use",
    "the device cannot be opened or used",
    "the device takes no writes",
    "the device is out of service",
    "the store is closed",
    "the store belongs to the parent of this process",
    "the object was given up while it came in",
    "the store was opened with list=off",
    "the option admit keeps the object out until it was offered more often",
    "a defect of the library",
    "a file cannot be opened or read",
    "the store was opened with locality=0",
};
static_assert(std::size(texts) == CLUSTERFS_NO_LOCALITY + 1, "each error has a text");

/// \returns the bytes of the text
int64_t
copyText(const std::string &text, char *const to, const size_t size)
{
    if (size) {
        const auto n = std::min(text.size(), size - 1);
        memcpy(to, text.data(), n);
        to[n] = '\0';
    }
    return static_cast<int64_t>(text.size());
}

int
because(const int result, const std::string &text, char *const reason, const size_t size)
{
    if (reason)
        copyText(result < 0 && text.empty() ? clusterfs_strerror(result) : text, reason, size);
    return result;
}

/// whether bytes may be used
int
checked(const void *const bytes, const size_t size)
{
    return bytes || !size ? 0 : -CLUSTERFS_ARGUMENT;
}

int
checkedName(const void *const name, const size_t size)
{
    return size > Label::maxName ? -CLUSTERFS_TOO_LARGE : checked(name, size);
}

/// whether calls on a store may be made here
int
usable(const Store &store)
{
    return store.forked() ? -CLUSTERFS_FORKED : 0;
}

/// the same for calls with a handle of a store, and a name
int
usable(const clusterfs_store *const store, const void *const name, const size_t size)
{
    if (!store)
        return -CLUSTERFS_ARGUMENT;
    const int wrong = checkedName(name, size);
    return wrong != 0 ? wrong : usable(*store->store);
}

std::string
nameOf(const void *const name, const size_t size)
{
    return size ? std::string(static_cast<const char *>(name), size) : std::string();
}

/// Takes what the caller's version of the structure has.
/// \returns 0 or -CLUSTERFS_ARGUMENT
int
takeAttributes(const clusterfs_attributes *const given, clusterfs_attributes &attributes)
{
    attributes = CLUSTERFS_ATTRIBUTES;
    if (!given)
        return 0;
    if (!known(*given))
        return -CLUSTERFS_ARGUMENT;
    attributes = *given;
    const bool passing = attributes.flags == CLUSTERFS_NO_CACHE;
    if ((attributes.flags && !passing) || attributes.expected_size < -1 || attributes.group == Store::passing || (passing && attributes.group))
        return -CLUSTERFS_ARGUMENT;
    if (passing)
        attributes.group = Store::passing;
    return 0;
}

/// whether a caller may give a group this number
bool
isGroup(const uint64_t group)
{
    return group && group != Store::passing;
}

/// gives an order to a store for a group
template <class Order>
int
withGroup(const clusterfs_store *const store, const uint64_t group, const Order &order)
{
    const int wrong = isGroup(group) ? usable(store, nullptr, 0) : -CLUSTERFS_ARGUMENT;
    return wrong != 0 ? wrong : guarded(order);
}

/// begins a walk over a store that can list its objects
int
beginWalk(const clusterfs_store *const store, const WalkJob::Way way, clusterfs_walk **const walk)
{
    const int wrong = walk ? usable(store, nullptr, 0) : -CLUSTERFS_ARGUMENT;
    if (wrong != 0)
        return wrong;
    if (!store->store->listed())
        return -CLUSTERFS_NOT_LISTED;
    return guarded([&] {
        *walk = new clusterfs_walk{store->store, way, 0, 0, 0, {}, 0};
        return 0;
    });
}

/// hands a device's text over
template <class Function>
int64_t
textOf(clusterfs_store *const store, const size_t device, char *const to, const size_t size, Function text)
{
    if (!store || device >= store->store->devices() || (!to && size))
        return -CLUSTERFS_ARGUMENT;
    const int wrong = usable(*store->store);
    if (wrong != 0)
        return wrong;
    std::string all;
    const int64_t result = text(store->store->service(device), all);
    return result < 0 ? result : copyText(all, to, size);
}

/// the value of a statistic that is a number
int64_t
numberOf(const Engine &engine, const Device &device, const std::string &name, double &value)
{
    for (const auto &row: statistics()) {
        if (name != row.name)
            continue;
        const auto found = row.value(snapshotOf(engine, device));
        if (const auto *const whole = std::get_if<uint64_t>(&found))
            value = static_cast<double>(*whole);
        else if (const auto *const real = std::get_if<double>(&found))
            value = *real;
        else
            break;
        return 0;
    }
    return -CLUSTERFS_NOT_FOUND;
}

} // namespace

extern "C" {

const char *
clusterfs_strerror(const int code)
{
    const auto positive = code < 0 ? -static_cast<int64_t>(code) : code;
    return positive < static_cast<int64_t>(std::size(texts)) ? texts[positive] : "an unknown error";
}

const char *
clusterfs_version(void)
{
    return projectVersion;
}

int
clusterfs_options_new(clusterfs_options **const options)
{
    if (!options)
        return -CLUSTERFS_ARGUMENT;
    return guarded([&] {
        *options = new clusterfs_options;
        return 0;
    });
}

int
clusterfs_options_set(clusterfs_options *const options, const char *const name, const char *const value, char *const reason, const size_t size)
{
    if (!options || !name || !value)
        return -CLUSTERFS_ARGUMENT;
    return guarded([&] {
        std::string error;
        return because(options->config.set(name, value, error) ? 0 : -CLUSTERFS_ARGUMENT, error, reason, size);
    });
}

int
clusterfs_options_policies(clusterfs_options *const options, const clusterfs_policies *const policies)
{
    if (!options || (policies && !known(*policies)))
        return -CLUSTERFS_ARGUMENT;
    return guarded([&] {
        options->policies = policies ? std::make_shared<Policies>(*policies) : nullptr;
        return 0;
    });
}

void
clusterfs_options_free(clusterfs_options *const options)
{
    delete options;
}

int
clusterfs_format(const char *const path, const clusterfs_options *const options, const uint64_t bytes, const unsigned flags,
                 char *const reason, const size_t size)
{
    if (!path || (flags & ~CLUSTERFS_FORMAT_FORCE))
        return -CLUSTERFS_ARGUMENT;
    return guarded([&] {
        FormatOrder order;
        order.path = path;
        order.bytes = roundDown(bytes, 4096); // devices have whole blocks
        order.force = flags & CLUSTERFS_FORMAT_FORCE;
        order.log = [](LogLevel, const std::string &) {};
        std::string error;
        if (options)
            order.config = options->config;
        if (!order.config.validate(error))
            return because(-CLUSTERFS_ARGUMENT, error, reason, size);
        if (bytes && bytes < smallestDevice)
            return because(-CLUSTERFS_ARGUMENT, order.path + ": " + std::to_string(bytes) + " bytes are too few: at least " +
                           std::to_string(smallestDevice) + " are needed", reason, size);
        bool already = false;
        const auto status = makeCache(order, already, error);
        if (status == Status::ok)
            return already ? 1 : 0;
        return because(status == Status::notOurs ? -CLUSTERFS_FOREIGN : -CLUSTERFS_DEVICE, error, reason, size);
    });
}

int
clusterfs_open(const char *const *const paths, const size_t count, const clusterfs_options *const options, clusterfs_store **const store,
               char *const reason, const size_t size)
{
    if (!paths || !count || count > Store::maxDevices || !store)
        return -CLUSTERFS_ARGUMENT;
    if (std::any_of(paths, paths + count, [](const char *const path) { return !path; }))
        return -CLUSTERFS_ARGUMENT;
    return guarded([&] {
        std::string error;
        auto handle = std::make_unique<clusterfs_store>();
        const int result = Store::Open(std::vector<std::string>(paths, paths + count), options ? *options : clusterfs_options(),
                                       handle->store, error);
        if (result == 0)
            *store = handle.release();
        return because(result, error, reason, size);
    });
}

int
clusterfs_close(clusterfs_store *const store)
{
    if (!store)
        return 0;
    if (store->store->forked())
        return -CLUSTERFS_FORKED;
    return guarded([&] {
        const int result = store->store->close();
        delete store;
        return result;
    });
}

size_t
clusterfs_devices(const clusterfs_store *const store)
{
    return store ? store->store->devices() : 0;
}

int
clusterfs_write(clusterfs_store *const store, const void *const name, const size_t name_size, const void *const data, const size_t size,
                const clusterfs_attributes *const given)
{
    clusterfs_attributes attributes;
    int wrong = usable(store, name, name_size);
    wrong = wrong != 0 ? wrong : checked(data, size);
    wrong = wrong != 0 ? wrong : takeAttributes(given, attributes);
    if (wrong != 0)
        return wrong;
    return guarded([&] { return store->store->write(nameOf(name, name_size), data, size, attributes.group); });
}

int
clusterfs_create(clusterfs_store *const store, const void *const name, const size_t name_size, const clusterfs_attributes *const given,
                 clusterfs_writer **const writer)
{
    clusterfs_attributes attributes;
    int wrong = writer ? usable(store, name, name_size) : -CLUSTERFS_ARGUMENT;
    wrong = wrong != 0 ? wrong : takeAttributes(given, attributes);
    if (wrong != 0)
        return wrong;
    return guarded([&] {
        auto handle = std::make_unique<clusterfs_writer>(clusterfs_writer{store->store, nullptr, 0});
        const int result = store->store->create(nameOf(name, name_size), attributes.expected_size, attributes.group, handle->service,
                                                handle->number);
        if (result >= 0)
            *writer = handle.release();
        return result;
    });
}

int
clusterfs_append(clusterfs_writer *const writer, const void *const data, const size_t size)
{
    if (!writer || checked(data, size) != 0)
        return -CLUSTERFS_ARGUMENT;
    if (writer->store->forked())
        return -CLUSTERFS_FORKED;
    return guarded([&] {
        return static_cast<int>(writer->service->call(std::make_shared<AppendJob>(*writer->service, writer->number, data, size)));
    });
}

int
clusterfs_commit(clusterfs_writer *const writer)
{
    if (!writer)
        return -CLUSTERFS_ARGUMENT;
    if (writer->store->forked())
        return -CLUSTERFS_FORKED;
    const std::unique_ptr<clusterfs_writer> handle(writer);
    return guarded([&] {
        return static_cast<int>(handle->service->ask([&handle](Engine &) {
            auto &writers = handle->service->writers;
            auto *const object = writers.find(handle->number);
            const auto status = object ? object->finish() : Status::aborted;
            writers.remove(handle->number);
            return status == Status::aborted ? -CLUSTERFS_LOST : errorOf(status);
        }));
    });
}

void
clusterfs_abort(clusterfs_writer *const writer)
{
    if (!writer || writer->store->forked())
        return;
    const std::unique_ptr<clusterfs_writer> handle(writer);
    (void)guarded([&] {
        handle->service->postEnd([number = handle->number](Service &service) { service.writers.remove(number); });
        return 0;
    });
}

int
clusterfs_read(clusterfs_store *const store, const void *const name, const size_t name_size, clusterfs_object **const object)
{
    const int wrong = object ? usable(store, name, name_size) : -CLUSTERFS_ARGUMENT;
    if (wrong != 0)
        return wrong;
    return guarded([&] {
        std::unique_ptr<Object> found;
        const int result = store->store->read(nameOf(name, name_size), found);
        if (result == 0)
            *object = new clusterfs_object(std::move(found));
        return result;
    });
}

uint64_t
clusterfs_size(const clusterfs_object *const object)
{
    return object ? object->object->size() : 0;
}

int64_t
clusterfs_read_bytes(clusterfs_object *const object, const uint64_t offset, void *const to, const size_t size)
{
    if (!object || checked(to, size) != 0)
        return -CLUSTERFS_ARGUMENT;
    if (object->object->store().forked())
        return -CLUSTERFS_FORKED;
    return guarded([&] { return object->object->copy(offset, to, size); });
}

int
clusterfs_view(clusterfs_object *const object, const uint64_t offset, const void **const data, size_t *const size)
{
    if (!object || !data || !size)
        return -CLUSTERFS_ARGUMENT;
    if (object->object->store().forked())
        return -CLUSTERFS_FORKED;
    return guarded([&] { return object->object->view(offset, *data, *size); });
}

clusterfs_object *
clusterfs_retain(clusterfs_object *const object)
{
    if (object)
        object->holders.fetch_add(1, std::memory_order_relaxed);
    return object;
}

void
clusterfs_release(clusterfs_object *const object)
{
    if (object && object->holders.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete object;
}

int64_t
clusterfs_read_into(clusterfs_store *const store, const void *const name, const size_t name_size, void *const to, const size_t size)
{
    int wrong = usable(store, name, name_size);
    wrong = wrong != 0 ? wrong : checked(to, size);
    if (wrong != 0)
        return wrong;
    return guarded([&] { return store->store->readInto(nameOf(name, name_size), to, size); });
}

int
clusterfs_remove(clusterfs_store *const store, const void *const name, const size_t name_size)
{
    const int wrong = usable(store, name, name_size);
    return wrong != 0 ? wrong : guarded([&] { return store->store->remove(nameOf(name, name_size)); });
}

int64_t
clusterfs_length(clusterfs_store *const store, const void *const name, const size_t name_size)
{
    const int wrong = usable(store, name, name_size);
    if (wrong != 0)
        return wrong;
    return guarded([&] { return store->store->length(nameOf(name, name_size)); });
}

int
clusterfs_exists(clusterfs_store *const store, const void *const name, const size_t name_size)
{
    const auto length = clusterfs_length(store, name, name_size);
    if (length == -CLUSTERFS_NOT_FOUND)
        return 0;
    return length < 0 ? static_cast<int>(length) : 1;
}

int
clusterfs_sync(clusterfs_store *const store)
{
    const int wrong = usable(store, nullptr, 0);
    return wrong != 0 ? wrong : guarded([&] { return store->store->run(Chore::sync, 0); });
}

int
clusterfs_run(clusterfs_store *const store, const int chore, const uint64_t bytes)
{
    const int wrong = usable(store, nullptr, 0);
    if (wrong != 0)
        return wrong;
    switch (chore) {
    case CLUSTERFS_PACK:
        return guarded([&] { return store->store->run(Chore::pack, bytes); });
    case CLUSTERFS_PACK_FROM_HEAD:
        return guarded([&] { return store->store->run(Chore::packFromHead, bytes); });
    case CLUSTERFS_FREE_MEMORY:
        return guarded([&] { return store->store->run(Chore::freeMemory, bytes); });
    case CLUSTERFS_FREE_DISK:
        return guarded([&] { return store->store->run(Chore::freeDisk, bytes); });
    case CLUSTERFS_CHECKPOINT:
        return bytes != 0 ? -CLUSTERFS_ARGUMENT : guarded([&] { return store->store->run(Chore::checkpoint, 0); });
    default:
        return -CLUSTERFS_ARGUMENT;
    }
}

int
clusterfs_walk_new(clusterfs_store *const store, clusterfs_walk **const walk)
{
    return beginWalk(store, WalkJob::Way::any, walk);
}

int
clusterfs_walk_ripe(clusterfs_store *const store, clusterfs_walk **const walk)
{
    return beginWalk(store, WalkJob::Way::ripe, walk);
}

int
clusterfs_walk_hot(clusterfs_store *const store, clusterfs_walk **const walk)
{
    return beginWalk(store, WalkJob::Way::hot, walk);
}

int
clusterfs_walk_next(clusterfs_walk *const walk, clusterfs_name *const name, uint64_t *const size)
{
    if (!walk || !name)
        return -CLUSTERFS_ARGUMENT;
    if (walk->store->forked())
        return -CLUSTERFS_FORKED;
    return guarded([&] {
        while (walk->at == walk->found.size()) {
            if (walk->device == walk->store->devices())
                return 0;
            const auto job = std::make_shared<WalkJob>(walk->way, walk->group, walk->cursor);
            const auto result = walk->store->service(walk->device).call(job);
            if (result < 0)
                return static_cast<int>(result);
            walk->found = std::move(job->found);
            walk->at = 0;
            walk->cursor = job->cursor;
            if (result == 0) {
                ++walk->device;
                walk->cursor = 0;
            }
        }
        const auto &found = walk->found[walk->at++];
        *name = {found.name.data(), found.name.size()};
        if (size)
            *size = found.size;
        return 1;
    });
}

void
clusterfs_walk_free(clusterfs_walk *const walk)
{
    delete walk;
}

int
clusterfs_collocate(clusterfs_store *const store, const void *const leader, const size_t leader_size, const clusterfs_name *const members,
                    const size_t count)
{
    int wrong = usable(store, leader, leader_size);
    wrong = wrong != 0 ? wrong : checked(members, count);
    for (size_t n = 0; n < count && wrong == 0; ++n)
        wrong = checkedName(members[n].bytes, members[n].size);
    if (wrong != 0)
        return wrong;
    return guarded([&] {
        std::vector<std::string> names;
        for (size_t n = 0; n < count; ++n)
            names.push_back(nameOf(members[n].bytes, members[n].size));
        return store->store->collocate(nameOf(leader, leader_size), names);
    });
}

int
clusterfs_assign(clusterfs_store *const store, const uint64_t group, const void *const name, const size_t name_size)
{
    const int wrong = isGroup(group) ? usable(store, name, name_size) : -CLUSTERFS_ARGUMENT;
    return wrong != 0 ? wrong : guarded([&] { return store->store->assign(group, nameOf(name, name_size)); });
}

int
clusterfs_unassign(clusterfs_store *const store, const void *const name, const size_t name_size)
{
    const int wrong = usable(store, name, name_size);
    return wrong != 0 ? wrong : guarded([&] { return store->store->unassign(nameOf(name, name_size)); });
}

int
clusterfs_group(clusterfs_store *const store, const void *const name, const size_t name_size, uint64_t *const group)
{
    const int wrong = group ? usable(store, name, name_size) : -CLUSTERFS_ARGUMENT;
    return wrong != 0 ? wrong : guarded([&] { return store->store->groupOf(nameOf(name, name_size), *group); });
}

int
clusterfs_dissolve(clusterfs_store *const store, const uint64_t group)
{
    return withGroup(store, group, [&] { return store->store->dissolve(group); });
}

int
clusterfs_love(clusterfs_store *const store, const uint64_t group)
{
    return withGroup(store, group, [&] { return store->store->setFavour(group, Favour::loved); });
}

int
clusterfs_hate(clusterfs_store *const store, const uint64_t group)
{
    return withGroup(store, group, [&] { return store->store->setFavour(group, Favour::hated); });
}

int
clusterfs_unmark(clusterfs_store *const store, const uint64_t group)
{
    return withGroup(store, group, [&] { return store->store->setFavour(group, Favour::none); });
}

int
clusterfs_persist(clusterfs_store *const store, const uint64_t group, const uint32_t seconds)
{
    return withGroup(store, group, [&] { return store->store->setPersist(group, seconds); });
}

int
clusterfs_walk_group(clusterfs_store *const store, const uint64_t group, clusterfs_walk **const walk)
{
    if (!walk)
        return -CLUSTERFS_ARGUMENT;
    return withGroup(store, group, [&] {
        *walk = new clusterfs_walk{store->store, WalkJob::Way::group, group, 0, 0, {}, 0};
        return 0;
    });
}

int
clusterfs_note(clusterfs_store *const store, const uint64_t client, const void *const name, const size_t name_size, const void *const page,
               const size_t page_size)
{
    int wrong = client ? usable(store, name, name_size) : -CLUSTERFS_ARGUMENT;
    wrong = wrong != 0 ? wrong : checkedName(page, page_size);
    if (wrong != 0)
        return wrong;
    return guarded([&] {
        const auto asking = nameOf(page, page_size);
        return store->store->note(client, nameOf(name, name_size), page ? &asking : nullptr);
    });
}

int
clusterfs_note_http(clusterfs_store *const store, const uint64_t client, const void *const name, const size_t name_size,
                    const clusterfs_http *const http)
{
    int wrong = client && http && known(*http) ? usable(store, name, name_size) : -CLUSTERFS_ARGUMENT;
    if (wrong != 0)
        return wrong;
    return guarded([&] {
        const auto text = [](const char *const given) { return given ? std::string_view(given) : std::string_view(); };
        RequestText request;
        request.url = text(http->url);
        request.referer = text(http->referer);
        request.accept = text(http->accept);
        request.destination = text(http->fetch_dest);
        request.mode = text(http->fetch_mode);
        return store->store->note(client, nameOf(name, name_size), request);
    });
}

int
clusterfs_queue_new(clusterfs_store *const store, const size_t limit, clusterfs_queue **const queue)
{
    const bool good = queue && limit && limit <= Queue::maxLimit;
    const int wrong = good ? usable(store, nullptr, 0) : -CLUSTERFS_ARGUMENT;
    if (wrong != 0)
        return wrong;
    return guarded([&] {
        auto handle = std::make_unique<clusterfs_queue>();
        handle->queue = Queue::Make(store->store, limit);
        if (!handle->queue)
            return -CLUSTERFS_NO_MEMORY;
        *queue = handle.release();
        return 0;
    });
}

int
clusterfs_queue_fd(const clusterfs_queue *const queue)
{
    return queue ? queue->queue->descriptor() : -CLUSTERFS_ARGUMENT;
}

int
clusterfs_submit(clusterfs_queue *const queue, const clusterfs_request *const request)
{
    if (!queue || !request || !known(*request))
        return -CLUSTERFS_ARGUMENT;
    const auto &r = *request;
    clusterfs_attributes attributes;
    int wrong = usable(queue->queue->store());
    wrong = wrong != 0 ? wrong : checkedName(r.name, r.name_size);
    wrong = wrong != 0 ? wrong : checked(r.data, r.size);
    wrong = wrong != 0 ? wrong : takeAttributes(r.attributes, attributes);
    if (wrong != 0)
        return wrong;
    return guarded([&] {
        auto &q = *queue->queue;
        switch (r.operation) {
        case CLUSTERFS_OP_READ:
            return q.read(r.tag, nameOf(r.name, r.name_size));
        case CLUSTERFS_OP_WRITE:
            return q.write(r.tag, nameOf(r.name, r.name_size), r.data, r.size, attributes.group);
        case CLUSTERFS_OP_REMOVE:
            return q.remove(r.tag, nameOf(r.name, r.name_size));
        case CLUSTERFS_OP_SYNC:
            return q.sync(r.tag);
        default:
            return -CLUSTERFS_ARGUMENT;
        }
    });
}

int
clusterfs_wait(clusterfs_queue *const queue, clusterfs_answer *const answers, const size_t most, const int milliseconds)
{
    if (!queue || !answers || !most || milliseconds < -1)
        return -CLUSTERFS_ARGUMENT;
    const int wrong = usable(queue->queue->store());
    return wrong != 0 ? wrong : guarded([&] { return queue->queue->wait(answers, most, milliseconds); });
}

void
clusterfs_queue_free(clusterfs_queue *const queue)
{
    if (!queue || queue->queue->store().forked())
        return;
    queue->queue->drain();
    delete queue;
}

int64_t
clusterfs_report(clusterfs_store *const store, const size_t device, char *const to, const size_t size)
{
    return guarded([&] {
        return textOf(store, device, to, size, [](Service &service, std::string &text) {
            return service.ask([&text](Engine &engine) {
                text = engine.report();
                return 0;
            });
        });
    });
}

int
clusterfs_statistic(clusterfs_store *const store, const size_t device, const char *const name, double *const value)
{
    if (!store || device >= store->store->devices() || !name || !value)
        return -CLUSTERFS_ARGUMENT;
    const int wrong = usable(*store->store);
    if (wrong != 0)
        return wrong;
    return guarded([&] {
        auto &service = store->store->service(device);
        return static_cast<int>(service.ask([&](Engine &engine) { return numberOf(engine, service.device(), name, *value); }));
    });
}

int64_t
clusterfs_messages(clusterfs_store *const store, const size_t device, char *const to, const size_t size)
{
    return guarded([&] {
        return textOf(store, device, to, size, [](const Service &service, std::string &text) {
            text = service.messages();
            return 0;
        });
    });
}

} // extern "C"

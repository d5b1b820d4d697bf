// SPDX-License-Identifier: GPL-2.0-or-later
/* An open store on one device or several. */

#include "lib/Store.h"

#include "clusterfs/clusterfs.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <utility>

namespace ClusterFs::Library {
namespace {

/// a number that looks random, the same for the same one
uint64_t
mixed(uint64_t n)
{
    n ^= n >> 33;
    n *= 0xff51afd7ed558ccdULL;
    n ^= n >> 33;
    n *= 0xc4ceb9fe1a85ec53ULL;
    return n ^ (n >> 33);
}

/// an id for the tracker; never 0, which stands for none
uint64_t
idOf(const Key &key)
{
    return key.high() ? key.high() : 1;
}

/// what an engine answers to an order for a group
int
orderOf(const Status status)
{
    return status == Status::unsupported ? -CLUSTERFS_NO_LOCALITY : errorOf(status);
}

} // namespace

int
Store::Open(const std::vector<std::string> &paths, const clusterfs_options &options, std::shared_ptr<Store> &store, std::string &error)
{
    if (!options.config.validate(error))
        return -CLUSTERFS_ARGUMENT;
    const std::shared_ptr<Store> opened(new Store);
    opened->makeKey_ = options.makeKey;
    opened->listed_ = options.config.list;
    opened->owner_ = getpid();
    opened->policies_ = options.policies;
    auto config = options.config;
    if (options.policies)
        options.policies->apply(config);
    for (const auto &path: paths) {
        std::unique_ptr<Service> service;
        const int result = Service::Open(path, config, service, error);
        if (result != 0)
            return result;
        opened->services_.push_back(std::move(service));
    }
    store = opened;
    return 0;
}

int
Store::close()
{
    int result = 0;
    for (const auto &service: services_) {
        const int one = service->close();
        result = result != 0 ? result : one;
    }
    return result;
}

bool
Store::forked() const
{
    return getpid() != owner_;
}

/// The device whose number makes the highest value with the key (rendezvous hashing, Thaler and Ravishankar, 1998): the
/// order of devices has no effect, and one device more takes only its own share of the objects.
Store::Target
Store::target(const std::string &name) const
{
    const auto key = makeKey_(name.data(), name.size());
    auto *best = services_.front().get();
    uint64_t most = 0;
    for (const auto &service: services_) {
        const auto value = mixed(service->number() ^ mixed(key.high() ^ key.low()));
        if (value > most) {
            most = value;
            best = service.get();
        }
    }
    return {key, Label::Of(name), *best};
}

/// the first object that is not kept in memory tells that of its group
void
Store::preparePassing() const
{
    if (!passingIsHated_ && setFavour(passing, Favour::hated) == 0)
        passingIsHated_ = true;
}

int
Store::write(const std::string &name, const void *const data, const size_t size, const uint64_t group) const
{
    if (group == passing)
        preparePassing();
    auto t = target(name);
    return static_cast<int>(t.service.call(std::make_shared<WriteJob>(t.service, t.key, std::move(t.label), data, size, group)));
}

int
Store::create(const std::string &name, const int64_t expected, const uint64_t group, Service *&service, uint64_t &number) const
{
    if (group == passing)
        preparePassing();
    auto t = target(name);
    const auto job = std::make_shared<CreateJob>(t.service, t.key, std::move(t.label), expected, group);
    const auto result = t.service.call(job);
    service = &t.service;
    number = job->number;
    return static_cast<int>(result);
}

/// Another object with the same key counts as not found here: the job looks once more, and says so.
bool
Store::readAlone(const Target &t, EngineView::Copy &copy)
{
    return t.service.readAlone(t.key, ReadJob::wholeBytes, copy) && copy.info.size >= t.label.size() &&
           memcmp(copy.data(), t.label.data(), t.label.size()) == 0;
}

int
Store::read(const std::string &name, std::unique_ptr<Object> &object)
{
    auto t = target(name);
    const auto labelBytes = t.label.size();
    EngineView::Copy copy;
    if (readAlone(t, copy)) {
        object = std::make_unique<Object>(shared_from_this(), t.service, labelBytes, std::move(copy));
        return 0;
    }
    const auto job = std::make_shared<ReadJob>(t.service, t.key, std::move(t.label), true);
    const auto result = t.service.call(job);
    if (result == 0)
        object = std::make_unique<Object>(shared_from_this(), t.service, labelBytes, *job);
    return static_cast<int>(result);
}

int64_t
Store::readInto(const std::string &name, void *const to, const size_t size) const
{
    auto t = target(name);
    EngineView::Copy copy;
    if (readAlone(t, copy)) {
        const auto found = copy.info.size - t.label.size();
        if (size)
            memcpy(to, copy.data() + t.label.size(), std::min<uint64_t>(found, size));
        return static_cast<int64_t>(found);
    }
    char nowhere = 0;
    const auto job = std::make_shared<ReadJob>(t.service, t.key, std::move(t.label), size ? to : &nowhere, size);
    const auto result = t.service.call(job);
    return result == 0 ? static_cast<int64_t>(job->size) : result;
}

int
Store::remove(const std::string &name) const
{
    const auto t = target(name);
    return static_cast<int>(t.service.ask([&t](Engine &engine) { return engine.remove(t.key) ? 0 : -CLUSTERFS_NOT_FOUND; }));
}

int64_t
Store::length(const std::string &name) const
{
    const auto t = target(name);
    if (ObjectInfo info; t.service.peekAlone(t.key, info) && info.size >= t.label.size())
        return static_cast<int64_t>(info.size - t.label.size());
    return t.service.ask([&t](Engine &engine) -> int64_t {
        ObjectInfo info;
        if (!engine.peek(t.key, info) || info.size < t.label.size())
            return -CLUSTERFS_NOT_FOUND;
        return static_cast<int64_t>(info.size - t.label.size());
    });
}

int
Store::run(const Chore chore, const uint64_t bytes) const
{
    // all devices at a time
    std::vector<JobPointer> jobs;
    std::vector<std::future<void>> ends;
    int error = 0;
    for (const auto &service: services_) {
        const auto job = std::make_shared<ChoreJob>(chore, bytes);
        const auto end = std::make_shared<std::promise<void>>();
        auto ended = end->get_future();
        const int posted = service->post(job, [end] { end->set_value(); });
        if (posted == 0) {
            jobs.push_back(job);
            ends.push_back(std::move(ended));
            continue;
        }
        // its queue is full: waits for room, while the others work
        const auto result = posted == -CLUSTERFS_BUSY ? service->call(std::make_shared<ChoreJob>(chore, bytes)) : posted;
        error = result != 0 ? static_cast<int>(result) : error;
    }
    for (size_t n = 0; n < jobs.size(); ++n) {
        ends[n].wait();
        error = jobs[n]->result != 0 ? static_cast<int>(jobs[n]->result) : error;
    }
    return error;
}

int
Store::collocate(const std::string &leader, const std::vector<std::string> &members) const
{
    const auto first = target(leader);
    std::unordered_map<Service *, std::vector<Key>> keys;
    for (const auto &name: members) {
        const auto t = target(name);
        keys[&t.service].push_back(t.key);
    }
    for (const auto &[service, ofDevice]: keys) {
        const auto result = service->ask([&key = first.key, &all = ofDevice](Engine &engine) {
            engine.collocate(key, all);
            return 0;
        });
        if (result != 0)
            return static_cast<int>(result);
    }
    return 0;
}

int
Store::assign(const uint64_t group, const std::string &name) const
{
    const auto t = target(name);
    return static_cast<int>(t.service.ask([&t, group](Engine &engine) { return orderOf(engine.assign(group, t.key)); }));
}

int
Store::unassign(const std::string &name) const
{
    const auto t = target(name);
    return static_cast<int>(t.service.ask([&t](Engine &engine) { return engine.unassign(t.key) ? 0 : -CLUSTERFS_NOT_FOUND; }));
}

int
Store::groupOf(const std::string &name, uint64_t &group) const
{
    const auto t = target(name);
    return static_cast<int>(t.service.ask([&t, &group](Engine &engine) {
        group = engine.groupOf(t.key);
        return group && group != passing ? 0 : -CLUSTERFS_NOT_FOUND;
    }));
}

/// gives an order to the engines of all devices
/// \returns the first error, or the highest answer
template <class Order>
int
Store::onAll(const Order &order) const
{
    int64_t answer = 0;
    for (const auto &service: services_) {
        const auto result = service->ask(order);
        if (result < 0)
            return static_cast<int>(result);
        answer = std::max(answer, result);
    }
    return static_cast<int>(answer);
}

int
Store::dissolve(const uint64_t group) const
{
    const auto known = onAll([group](Engine &engine) { return engine.dissolve(group) ? 1 : 0; });
    return known > 0 ? 0 : known == 0 ? -CLUSTERFS_NOT_FOUND : known;
}

int
Store::setFavour(const uint64_t group, const Favour favour) const
{
    return onAll([group, favour](Engine &engine) { return orderOf(engine.setFavour(group, favour)); });
}

int
Store::setPersist(const uint64_t group, const uint32_t seconds) const
{
    return onAll([group, seconds](Engine &engine) { return orderOf(engine.setPersist(group, seconds)); });
}

int
Store::note(const uint64_t client, const std::string &name, const std::string *const page) const
{
    const auto t = target(name);
    Request request;
    request.client = client;
    request.url = idOf(t.key);
    request.referer = page ? idOf(makeKey_(page->data(), page->size())) : 0;
    return note(request, t);
}

int
Store::note(const uint64_t client, const std::string &name, const RequestText &text) const
{
    Request request;
    request.client = client;
    describe(text, request);
    return note(request, target(name));
}

/// \param request all but its key
int
Store::note(Request request, const Target &t) const
{
    int error = 0;
    // each device hears of each page, and only its own of the object
    for (const auto &service: services_) {
        request.key = service.get() == &t.service ? t.key : Key{};
        const auto tell = [request](Engine &engine) {
            engine.note(request);
            return 0;
        };
        const int posted = service->post(std::make_shared<SimpleJob<decltype(tell)>>(tell), [] {});
        error = posted != 0 ? posted : error;
    }
    return error;
}

Object::Object(std::shared_ptr<Store> store, Service &service, const size_t labelBytes, ReadJob &job):
    store_(std::move(store)),
    service_(service),
    labelBytes_(labelBytes),
    size_(job.size),
    number_(job.number),
    whole_(number_ ? Bytes() : std::move(job.bytes))
{
}

Object::Object(std::shared_ptr<Store> store, Service &service, const size_t labelBytes, EngineView::Copy &&copy):
    store_(std::move(store)),
    service_(service),
    labelBytes_(copy.front + labelBytes),
    size_(copy.info.size - labelBytes),
    number_(0),
    whole_(std::move(copy.memory), copy.front + copy.info.size)
{
}

Object::~Object()
{
    if (number_ && !store_->forked())
        service_.postEnd([number = number_](Service &service) { service.readers.remove(number); });
}

int64_t
Object::copy(const uint64_t offset, void *const to, size_t size) const
{
    if (offset >= size_)
        return 0;
    size = std::min<uint64_t>(size, size_ - offset);
    if (!size)
        return 0;
    if (number_)
        return copyLarge(offset, static_cast<char *>(to), size);
    memcpy(to, whole_.data() + labelBytes_ + offset, size);
    return static_cast<int64_t>(size);
}

/// \param size bytes that the object has there, at least 1
int64_t
Object::copyLarge(const uint64_t offset, char *const to, const size_t size) const
{
    const auto result = service_.call(std::make_shared<CopyJob>(service_, number_, labelBytes_ + offset, to, size));
    return result == 0 ? static_cast<int64_t>(size) : result;
}

int
Object::view(const uint64_t offset, const void *&data, size_t &size)
{
    data = nullptr;
    size = 0;
    if (offset >= size_)
        return 0;
    if (!number_) {
        data = whole_.data() + labelBytes_ + offset;
        size = size_ - offset;
        return 0;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto start = offset / pieceBytes * pieceBytes;
    auto found = pieces_.find(start / pieceBytes);
    if (found == pieces_.end()) {
        Bytes piece(std::min<uint64_t>(pieceBytes, size_ - start));
        const auto result = copyLarge(start, piece.data(), piece.size());
        if (result < 0)
            return static_cast<int>(result);
        found = pieces_.emplace(start / pieceBytes, std::move(piece)).first;
    }
    data = found->second.data() + (offset - start);
    size = found->second.size() - (offset - start);
    return 0;
}

} // namespace ClusterFs::Library

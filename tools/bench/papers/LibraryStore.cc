// SPDX-License-Identifier: GPL-2.0-or-later
/* A store of libclusterfs: its memory, its end and beginning, its figures. */

#include "LibraryStore.h"

#include <algorithm>
#include <sstream>

namespace Papers {
namespace {

constexpr unsigned defaultClusterKb = 256;
constexpr uint64_t indexBytes = 40; ///< of memory, for an object
constexpr size_t reasonBytes = 400;

/// counters that go on where the store was before it was closed
const char *const counters[] = {
    "objects stored", "bytes stored", "stores refused", "hits from staging", "hits from read cache", "hits from disk", "clusters written",
    "objects packed", "bytes packed", "large object parts", "clusters evicted", "objects evicted", "objects packed in groups", "objects regrouped",
    "group reads", "objects read along", "read along and used", "objects relocated", "bytes relocated", "disk reads", "disk read bytes",
    "disk writes", "disk write bytes", "checkpoints"
};
const char *const gauges[] = {"objects", "object bytes", "clusters", "index bytes", "objects in numbered groups", "learning memory"};

} // namespace

char *
scratch(const size_t size)
{
    static thread_local std::vector<char> buffer;
    if (buffer.size() < size)
        buffer.resize(std::max(size, pieceBytes));
    return buffer.data();
}

LibraryStore::LibraryStore(const StoreOrder &order, const Content &content, std::string device, const uint64_t bytes):
    order_(order),
    content_(content),
    device_(std::move(device)),
    bytes_(bytes)
{
}

LibraryStore::~LibraryStore()
{
    (void)clusterfs_close(store_);
}

bool
LibraryStore::start(std::string &error)
{
    return plan(order_.hints ? std::max(1U, static_cast<unsigned>(order_.memory >> 24)) : 0, 0, error) && format(error) && open(error);
}

bool
LibraryStore::plan(const unsigned locality, const uint64_t rest, std::string &error)
{
    settings_ = {{"cluster-size", std::to_string(defaultClusterKb)}, {"locality", std::to_string(locality)}};
    const auto objectKb = std::min<uint64_t>(16384, std::max<uint64_t>(1, order_.meanBytes / 1024));
    settings_["object-size"] = std::to_string(objectKb);
    settings_["list"] = "off";
    for (const auto &option: order_.options)
        settings_[option.first] = option.second;
    const auto megabytes = (order_.memory - std::min(order_.memory, rest)) >> 20;
    const auto numberOf = [this](const char *const name) {
        return strtoul(settings_[name].c_str(), nullptr, 10); // what is no number is refused when the option is set
    };
    if (!settings_.count("staging"))
        settings_["staging"] = std::to_string(std::max<uint64_t>({2, megabytes / 4, numberOf("cluster-size") * 4 / 1024}));
    const auto others = numberOf("staging") + numberOf("locality");
    if (!settings_.count("read-cache") && others < megabytes)
        settings_["read-cache"] = std::to_string(megabytes - others);
    if (settings_.count("read-cache") && others + numberOf("read-cache") <= megabytes)
        return true;
    error = "memory of " + std::to_string(megabytes) + " MB is too little for staging=" + settings_["staging"] + ", locality=" +
            settings_["locality"] + " and read-cache=" + settings_["read-cache"] + ": give more, or smaller clusters";
    return false;
}

LibraryStore::Options
LibraryStore::makeOptions(std::string &error) const
{
    clusterfs_options *made = nullptr;
    if (clusterfs_options_new(&made) != 0) {
        error = "no memory for options";
        return nullptr;
    }
    Options options(made);
    char reason[reasonBytes] = "";
    for (const auto &setting: settings_) {
        if (clusterfs_options_set(options.get(), setting.first.c_str(), setting.second.c_str(), reason, sizeof(reason)) != 0) {
            error = reason;
            return nullptr;
        }
    }
    return options;
}

bool
LibraryStore::format(std::string &error)
{
    const auto options = makeOptions(error);
    if (!options)
        return false;
    char reason[reasonBytes] = "";
    const auto flags = order_.force ? CLUSTERFS_FORMAT_FORCE : 0U;
    auto result = clusterfs_format(device_.c_str(), options.get(), bytes_, flags, reason, sizeof(reason));
    if (result == 1) // a store of an earlier experiment
        result = clusterfs_format(device_.c_str(), options.get(), bytes_, CLUSTERFS_FORMAT_FORCE, reason, sizeof(reason));
    if (result >= 0)
        return true;
    error = reason;
    if (result == -CLUSTERFS_FOREIGN)
        error += " (--force formats it all the same)";
    return false;
}

bool
LibraryStore::open(std::string &error)
{
    const auto options = makeOptions(error);
    if (!options)
        return false;
    char reason[reasonBytes] = "";
    const char *const device = device_.c_str();
    if (clusterfs_open(&device, 1, options.get(), &store_, reason, sizeof(reason)) == 0)
        return true;
    error = reason;
    return false;
}

bool
LibraryStore::close(std::string &error)
{
    const int result = clusterfs_close(store_);
    store_ = nullptr;
    if (result == 0)
        return true;
    error = device_ + ": closing the store failed: " + clusterfs_strerror(result);
    return false;
}

bool
LibraryStore::sync(std::string &error)
{
    const int result = clusterfs_sync(store_);
    if (result == 0)
        return true;
    error = device_ + ": not all could be written: " + clusterfs_strerror(result);
    return false;
}

bool
LibraryStore::dropMemory(std::string &error)
{
    for (const auto *const name: counters)
        before_[name] += statistic(name);
    return close(error) && open(error);
}

uint64_t
LibraryStore::memoryToCome() const
{
    // The store bypasses the page cache, so that more does it no good: this is ample, since its buffers cost more
    // than they hold.
    uint64_t caches = order_.memory;
    const auto readCache = settings_.find("read-cache");
    if (readCache != settings_.end())
        caches += strtoull(readCache->second.c_str(), nullptr, 10) << 20;
    const uint64_t index = uint64_t(order_.objects) * indexBytes;
    constexpr uint64_t slack = 96 << 20;
    return caches + index + order_.threads * threadBytes + slack;
}

/// \returns 0 where there is none
double
LibraryStore::statistic(const char *const name) const
{
    double value = 0;
    return clusterfs_statistic(store_, 0, name, &value) == 0 ? value : 0;
}

Json
LibraryStore::describe() const
{
    Json figures;
    for (const auto *const name: gauges)
        figures[name] = statistic(name);
    for (const auto *const name: counters) {
        const auto before = before_.find(name);
        figures[name] = statistic(name) + (before == before_.end() ? 0 : before->second);
    }
    return {{"options", settings_}, {"version", clusterfs_version()}, {"counters", figures}};
}

Outcome
LibraryStore::check(const Item &item, const void *const bytes, const uint64_t size, uint32_t &version) const
{
    return size == item.size && content_.check(item.id, item.size, 0, static_cast<const char *>(bytes), item.size, version) ?
           Outcome::done : Outcome::bad;
}

Outcome
LibraryStore::OutcomeOf(const int64_t result)
{
    if (result >= 0)
        return Outcome::done;
    // what cannot be read is forgotten
    const bool isGone = result == -CLUSTERFS_NOT_FOUND || result == -CLUSTERFS_DAMAGED || result == -CLUSTERFS_IO;
    return isGone ? Outcome::missing : Outcome::refused;
}

} // namespace Papers

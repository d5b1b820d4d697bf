/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The class of Damelo, the object cache for web proxies (section 3 of its paper), on a store of clusterfs.h. C++17, this header alone.
 * It has its name of the paper where CLUSTERFS_BARE_NAMES is defined before this header is included.
 *
 * It differs where the paper has a limit: objects have any size, groups any number of members, names any length. A device that holds
 * something else than a store is refused.
 */

#ifndef CLUSTERFS_DAMELO_H
#define CLUSTERFS_DAMELO_H

#include <clusterfs/clusterfs.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace clusterfs::damelo {

/// 0, or the negative of a clusterfs_error. \see Damelo::perror()
using Status = int;

/// A cache of objects on one raw device, in groups. All calls may come from any thread.
class Damelo
{
public:
    /// Opens the store on a device, which is made when the device is blank.
    /// \param groups that there may be: group numbers are 1 to groups
    /// \param megabytes of memory for objects, at least 16. A sixteenth of it is for the groups: 20,900 members for each of these megabytes
    /// \param status receives 0, or why there is no store: then all calls answer CLUSTERFS_CLOSED
    Damelo(const char *const device, const int groups, const int megabytes, Status &status): groups_(groups) {
        status = groups < 1 || megabytes < leastMegabytes ? -CLUSTERFS_ARGUMENT : open(device, megabytes);
    }

    /// Writes all that is in memory. No object may be in use: each read() has had its release().
    ~Damelo() { clusterfs_close(store_); }
    Damelo(const Damelo &) = delete;
    Damelo &operator =(const Damelo &) = delete;

    /// Stores a copy of an object in a group, in place of an older one.
    /// \returns CLUSTERFS_BUSY also when the group has no room for another member
    Status create(const char *const name, const int group, const char *const data, const int size) {
        if (!valid(group) || !name || size < 0)
            return -CLUSTERFS_ARGUMENT;
        clusterfs_attributes attributes = CLUSTERFS_ATTRIBUTES;
        attributes.group = static_cast<uint64_t>(group);
        const int result = store_ ? clusterfs_write(store_, name, strlen(name), data, static_cast<size_t>(size), &attributes) : -CLUSTERFS_CLOSED;
        return result > 0 ? -CLUSTERFS_BUSY : result;
    }

    /// Finds the group of an object.
    /// \param group receives it
    Status lookup(const char *const name, int &group) const {
        uint64_t number = 0;
        if (!name)
            return -CLUSTERFS_ARGUMENT;
        if (!store_)
            return -CLUSTERFS_CLOSED;
        const int there = clusterfs_exists(store_, name, strlen(name));
        const int result = there == 0 ? -CLUSTERFS_NOT_FOUND : there < 0 ? there : clusterfs_group(store_, name, strlen(name), &number);
        if (result == 0)
            group = static_cast<int>(number);
        return result;
    }

    /// Gives a pointer to an object's bytes, which stay until release(). Several threads may have the same one.
    /// \param group as lookup() says
    Status read(const char *const name, const int group, char *&data, int &size) {
        if (!valid(group) || !name)
            return -CLUSTERFS_ARGUMENT;
        if (!store_)
            return -CLUSTERFS_CLOSED;
        clusterfs_object *object = nullptr;
        int result = clusterfs_read(store_, name, strlen(name), &object);
        if (result < 0)
            return result;
        Use use{object, {}};
        result = bytesOf(use, data, size);
        if (result < 0) {
            clusterfs_release(object);
            return result;
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        auto &held = held_[name];
        held.uses.push_back(std::move(use));
        ++held.readers;
        return 0;
    }

    /// Ends one read() of an object. It has no pointer that says which, so the bytes of all go with the last one.
    Status release(const char *const name, const int group) {
        if (!valid(group) || !name)
            return -CLUSTERFS_ARGUMENT;
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = held_.find(name);
        if (found == held_.end())
            return -CLUSTERFS_NOT_FOUND;
        if (--found->second.readers)
            return 0;
        for (const auto &use: found->second.uses)
            clusterfs_release(use.object);
        held_.erase(found);
        return 0;
    }

    /// Forgets an object; who reads it may go on.
    Status remove(const char *const name, const int group) {
        if (!valid(group) || !name)
            return -CLUSTERFS_ARGUMENT;
        if (!store_)
            return -CLUSTERFS_CLOSED;
        const int result = clusterfs_remove(store_, name, strlen(name));
        if (result == 0)
            (void)clusterfs_unassign(store_, name, strlen(name));
        return result;
    }

    /// The members of a group leave memory in the order of their use.
    Status love(const int group) { return order(group, &clusterfs_love); }

    /// The members of a group are the first to leave memory, each time that they were used.
    Status hate(const int group) { return order(group, &clusterfs_hate); }

    /// What is stored in a group survives a power cut after so many seconds.
    /// \param seconds 0 = it need not
    Status setCheckpoint(const int group, const int seconds) {
        if (!valid(group) || seconds < 0)
            return -CLUSTERFS_ARGUMENT;
        return store_ ? clusterfs_persist(store_, static_cast<uint64_t>(group), seconds ? static_cast<uint32_t>(seconds) : CLUSTERFS_NEVER) : -CLUSTERFS_CLOSED;
    }

    /// writes a text for a status, behind another one
    static void perror(const char *const text, const Status status) { fprintf(stderr, "%s: %s\n", text, clusterfs_strerror(status)); }

    clusterfs_store *store() const { return store_; } ///< for the calls of clusterfs.h; nil when it is not open

private:
    static constexpr int leastMegabytes = 16;

    /// an object that somebody reads
    struct Use {
        clusterfs_object *object;
        std::vector<char> bytes; ///< of an object that has no single view
    };

    /// what is read under one name
    struct Held {
        size_t readers = 0;
        std::vector<Use> uses;
    };

    bool valid(const int group) const { return group >= 1 && group <= groups_; }

    Status order(const int group, int (*const call)(clusterfs_store *, uint64_t)) {
        if (!valid(group))
            return -CLUSTERFS_ARGUMENT;
        return store_ ? call(store_, static_cast<uint64_t>(group)) : -CLUSTERFS_CLOSED;
    }

    Status open(const char *const device, const int megabytes) {
        clusterfs_options *options = nullptr;
        int result = clusterfs_options_new(&options);
        const auto staging = std::max(megabytes / 16, leastMegabytes / 8); // for what comes in
        const auto locality = megabytes / 16; // an object for each 800 bytes of the pool can have a group
        if (result == 0)
            result = clusterfs_options_set(options, "staging", std::to_string(staging).c_str(), nullptr, 0);
        if (result == 0)
            result = clusterfs_options_set(options, "locality", std::to_string(locality).c_str(), nullptr, 0);
        if (result == 0)
            result = clusterfs_options_set(options, "read-cache", std::to_string(megabytes - staging - locality).c_str(), nullptr, 0);
        if (result == 0)
            result = std::min(clusterfs_format(device, options, 0, 0, nullptr, 0), 0);
        if (result == 0)
            result = clusterfs_open(&device, 1, options, &store_, nullptr, 0);
        clusterfs_options_free(options);
        return result;
    }

    /// the bytes of an object as one piece
    static Status bytesOf(Use &use, char *&data, int &size) {
        const auto bytes = clusterfs_size(use.object);
        if (bytes > INT32_MAX)
            return -CLUSTERFS_TOO_LARGE;
        const void *view = nullptr;
        size_t seen = 0;
        int64_t result = clusterfs_view(use.object, 0, &view, &seen);
        if (result < 0)
            return static_cast<Status>(result);
        if (seen < bytes) {
            use.bytes.resize(bytes);
            result = clusterfs_read_bytes(use.object, 0, use.bytes.data(), bytes);
            view = use.bytes.data();
        }
        if (result < 0)
            return static_cast<Status>(result);
        data = const_cast<char *>(static_cast<const char *>(view)); // the paper's pointer is not const
        size = static_cast<int>(bytes);
        return 0;
    }

    const int groups_;
    clusterfs_store *store_ = nullptr;
    std::mutex mutex_; ///< for held_
    std::unordered_map<std::string, Held> held_;
};

} // namespace clusterfs::damelo

#ifdef CLUSTERFS_BARE_NAMES
using Damelo = clusterfs::damelo::Damelo;
using Status = clusterfs::damelo::Status;
#endif

#endif

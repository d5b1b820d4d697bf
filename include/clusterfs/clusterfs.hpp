/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C++17 on top of clusterfs.h: handles that end themselves, errors as exceptions. All of it is in this header, and only
 * the calls of clusterfs.h have to be there at run time. Each class says what its calls do where that is not what the
 * call of C does whose name they have.
 */

#ifndef CLUSTERFS_CLUSTERFS_HPP
#define CLUSTERFS_CLUSTERFS_HPP

#include "clusterfs.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clusterfs {

/// what all calls throw that have no other way to tell of a failure
class Error : public std::runtime_error
{
public:
    /// \param code as a call returned it
    explicit Error(const int code, const std::string &text = std::string()):
        std::runtime_error(text.empty() ? clusterfs_strerror(code) : text), code_(code < 0 ? -code : code) {}

    int code() const noexcept { return code_; } ///< a clusterfs_error

private:
    int code_;
};

namespace detail {

/// \throws Error for an error; \returns the result
template <class Number>
Number
checked(const Number result)
{
    if (result < 0)
        throw Error(static_cast<int>(result));
    return result;
}

template <auto End>
struct Ender {
    template <class Handle>
    void operator ()(Handle *const handle) const { (void)End(handle); }
};

template <class Handle, auto End>
using Owned = std::unique_ptr<Handle, Ender<End>>;

constexpr size_t reasonBytes = 1024;

} // namespace detail

/// \see clusterfs_options
class Options
{
public:
    Options() {
        clusterfs_options *options = nullptr;
        detail::checked(clusterfs_options_new(&options));
        handle_.reset(options);
    }

    Options &set(const std::string &name, const std::string &value) {
        char reason[detail::reasonBytes] = "";
        const int result = clusterfs_options_set(handle_.get(), name.c_str(), value.c_str(), reason, sizeof(reason));
        if (result < 0)
            throw Error(result, reason);
        return *this;
    }

    /// \see clusterfs_options_policies()
    Options &setPolicies(clusterfs_policies policies) {
        policies.struct_size = sizeof(policies);
        const int result = clusterfs_options_policies(handle_.get(), &policies);
        if (result < 0)
            throw Error(result);
        return *this;
    }

    const clusterfs_options *get() const noexcept { return handle_.get(); }

private:
    detail::Owned<clusterfs_options, clusterfs_options_free> handle_;
};

/// An object that was found. A copy is another holder of the same object.
class Object
{
public:
    explicit Object(clusterfs_object *const object): handle_(object) {} ///< takes the handle over
    Object(const Object &other): handle_(clusterfs_retain(other.handle_.get())) {}
    Object(Object &&) noexcept = default;
    Object &operator =(Object other) noexcept {
        handle_.swap(other.handle_);
        return *this;
    }
    ~Object() = default;

    uint64_t size() const noexcept { return clusterfs_size(handle_.get()); }

    size_t read(const uint64_t offset, void *const to, const size_t size) const {
        return static_cast<size_t>(detail::checked(clusterfs_read_bytes(handle_.get(), offset, to, size)));
    }

    /// \returns bytes from offset on, as many as are in one piece: valid as long as somebody holds the object
    std::string_view view(const uint64_t offset = 0) const {
        const void *data = nullptr;
        size_t size = 0;
        detail::checked(clusterfs_view(handle_.get(), offset, &data, &size));
        return {static_cast<const char *>(data), size};
    }

    std::string str() const { ///< a copy of all bytes
        std::string all(size(), '\0');
        for (size_t at = 0; at < all.size();)
            at += read(at, all.data() + at, all.size() - at);
        return all;
    }

private:
    detail::Owned<clusterfs_object, clusterfs_release> handle_;
};

/// An object on its way in. Destroyed before commit(), it is forgotten.
class Writer
{
public:
    explicit Writer(clusterfs_writer *const writer): handle_(writer) {} ///< takes the handle over

    void append(const std::string_view bytes) { detail::checked(clusterfs_append(handle_.get(), bytes.data(), bytes.size())); }
    void commit() { detail::checked(clusterfs_commit(handle_.release())); }

private:
    detail::Owned<clusterfs_writer, clusterfs_abort> handle_;
};

/// an object as a walk finds it
struct Entry {
    std::string name;
    uint64_t size; ///< bytes
};

/// \see clusterfs_walk
class Walk
{
public:
    explicit Walk(clusterfs_walk *const walk): handle_(walk) {} ///< takes the handle over

    /// \returns the next object, or nothing
    std::optional<Entry> next() {
        clusterfs_name name;
        uint64_t size = 0;
        if (!detail::checked(clusterfs_walk_next(handle_.get(), &name, &size)))
            return std::nullopt;
        return Entry{std::string(static_cast<const char *>(name.bytes), name.size), size};
    }

private:
    detail::Owned<clusterfs_walk, clusterfs_walk_free> handle_;
};

/// A store that is open. Destroyed, it is closed; close() tells whether that went well.
class Store
{
public:
    /// \throws Error with the reason
    explicit Store(const std::vector<std::string> &paths, const Options &options = Options()) {
        std::vector<const char *> all;
        for (const auto &path: paths)
            all.push_back(path.c_str());
        char reason[detail::reasonBytes] = "";
        clusterfs_store *store = nullptr;
        const int result = clusterfs_open(all.data(), all.size(), options.get(), &store, reason, sizeof(reason));
        if (result < 0)
            throw Error(result, reason);
        handle_.reset(store);
    }

    /// \returns whether there was a store already, which was left as it was; \throws Error with the reason
    static bool format(const std::string &path, const uint64_t bytes = 0, const Options &options = Options(), const unsigned flags = 0) {
        char reason[detail::reasonBytes] = "";
        const int result = clusterfs_format(path.c_str(), options.get(), bytes, flags, reason, sizeof(reason));
        if (result < 0)
            throw Error(result, reason);
        return result != 0;
    }

    void close() { detail::checked(clusterfs_close(handle_.release())); }

    /// \param group 0 = none; \param flags 0 or CLUSTERFS_NO_CACHE
    void write(const std::string_view name, const std::string_view bytes, const uint64_t group = 0, const uint64_t flags = 0) {
        clusterfs_attributes attributes = CLUSTERFS_ATTRIBUTES;
        attributes.group = group;
        attributes.flags = flags;
        detail::checked(clusterfs_write(get(), name.data(), name.size(), bytes.data(), bytes.size(), &attributes));
    }

    /// \param expected bytes, -1 = unknown; \param group 0 = none; \param flags 0 or CLUSTERFS_NO_CACHE
    Writer create(const std::string_view name, const int64_t expected = -1, const uint64_t group = 0, const uint64_t flags = 0) {
        clusterfs_attributes attributes = CLUSTERFS_ATTRIBUTES;
        attributes.group = group;
        attributes.flags = flags;
        attributes.expected_size = expected;
        clusterfs_writer *writer = nullptr;
        detail::checked(clusterfs_create(get(), name.data(), name.size(), &attributes, &writer));
        return Writer(writer);
    }

    /// \returns nothing when there is no such object, or its bytes turned out to be damaged
    std::optional<Object> read(const std::string_view name) {
        clusterfs_object *object = nullptr;
        const int result = clusterfs_read(get(), name.data(), name.size(), &object);
        if (result == -CLUSTERFS_NOT_FOUND || result == -CLUSTERFS_DAMAGED)
            return std::nullopt;
        detail::checked(result);
        return Object(object);
    }

    /// \returns whether there was one
    bool remove(const std::string_view name) {
        const int result = clusterfs_remove(get(), name.data(), name.size());
        return result != -CLUSTERFS_NOT_FOUND && detail::checked(result) == 0;
    }

    bool exists(const std::string_view name) { return detail::checked(clusterfs_exists(get(), name.data(), name.size())) == 1; }

    /// \returns nothing when there is no such object
    std::optional<uint64_t> length(const std::string_view name) {
        const int64_t result = clusterfs_length(get(), name.data(), name.size());
        if (result == -CLUSTERFS_NOT_FOUND)
            return std::nullopt;
        return static_cast<uint64_t>(detail::checked(result));
    }

    void sync() { detail::checked(clusterfs_sync(get())); }
    /// \see clusterfs_run()
    void run(const clusterfs_chore chore, const uint64_t bytes = 0) { detail::checked(clusterfs_run(get(), chore, bytes)); }

    Walk walk() { return begin(&clusterfs_walk_new); }

    /// \see clusterfs_walk_ripe()
    Walk walkRipe() { return begin(&clusterfs_walk_ripe); }
    /// \see clusterfs_walk_hot()
    Walk walkHot() { return begin(&clusterfs_walk_hot); }

    void collocate(const std::string_view leader, const std::vector<std::string> &members) {
        std::vector<clusterfs_name> names;
        for (const auto &member: members)
            names.push_back({member.data(), member.size()});
        detail::checked(clusterfs_collocate(get(), leader.data(), leader.size(), names.data(), names.size()));
    }
    void assign(const uint64_t group, const std::string_view name) {
        detail::checked(clusterfs_assign(get(), group, name.data(), name.size()));
    }
    /// \returns whether it was in a group
    bool unassign(const std::string_view name) { return found(clusterfs_unassign(get(), name.data(), name.size())); }
    /// \returns nothing when it is in none
    std::optional<uint64_t> group(const std::string_view name) {
        uint64_t number = 0;
        return found(clusterfs_group(get(), name.data(), name.size(), &number)) ? std::optional<uint64_t>(number) : std::nullopt;
    }
    /// \returns whether there was one
    bool dissolve(const uint64_t group) { return found(clusterfs_dissolve(get(), group)); }
    void love(const uint64_t group) { detail::checked(clusterfs_love(get(), group)); }
    void hate(const uint64_t group) { detail::checked(clusterfs_hate(get(), group)); }
    void unmark(const uint64_t group) { detail::checked(clusterfs_unmark(get(), group)); }
    void persist(const uint64_t group, const uint32_t seconds) { detail::checked(clusterfs_persist(get(), group, seconds)); }
    Walk walk(const uint64_t group) {
        clusterfs_walk *walk = nullptr;
        detail::checked(clusterfs_walk_group(get(), group, &walk));
        return Walk(walk);
    }

    /// \param page an empty one = nobody knows; \returns whether the store took notice, which it does not while it is busy
    bool note(const uint64_t client, const std::string_view name, const std::string_view page = {}) {
        const int result = clusterfs_note(get(), client, name.data(), name.size(), page.empty() ? nullptr : page.data(), page.size());
        return result != -CLUSTERFS_BUSY && detail::checked(result) == 0;
    }

    /// \param http its struct_size is set here; \returns as note()
    bool note(const uint64_t client, const std::string_view name, clusterfs_http http) {
        http.struct_size = sizeof(http);
        const int result = clusterfs_note_http(get(), client, name.data(), name.size(), &http);
        return result != -CLUSTERFS_BUSY && detail::checked(result) == 0;
    }

    size_t devices() const noexcept { return clusterfs_devices(get()); }

    std::string report(const size_t device = 0) const { return text(&clusterfs_report, device); }
    std::string messages(const size_t device = 0) const { return text(&clusterfs_messages, device); }

    double statistic(const std::string &name, const size_t device = 0) const {
        double value = 0;
        detail::checked(clusterfs_statistic(get(), device, name.c_str(), &value));
        return value;
    }

    clusterfs_store *get() const noexcept { return handle_.get(); } ///< for the calls of C

private:
    Walk begin(int (*const call)(clusterfs_store *, clusterfs_walk **)) {
        clusterfs_walk *walk = nullptr;
        detail::checked(call(get(), &walk));
        return Walk(walk);
    }
    static bool found(const int result) { return result != -CLUSTERFS_NOT_FOUND && detail::checked(result) >= 0; }

    std::string text(int64_t (*const call)(clusterfs_store *, size_t, char *, size_t), const size_t device) const {
        std::string all;
        for (auto size = detail::checked(call(get(), device, nullptr, 0)); static_cast<size_t>(size) >= all.size();) {
            all.resize(static_cast<size_t>(size) + 256); // it may grow meanwhile
            size = detail::checked(call(get(), device, all.data(), all.size()));
            if (static_cast<size_t>(size) < all.size()) {
                all.resize(static_cast<size_t>(size));
                break;
            }
        }
        return all;
    }

    detail::Owned<clusterfs_store, clusterfs_close> handle_;
};

/// \see clusterfs_queue
class Queue
{
public:
    /// \param limit most requests that are not answered, or whose answers are not fetched
    Queue(Store &store, const size_t limit) {
        clusterfs_queue *queue = nullptr;
        detail::checked(clusterfs_queue_new(store.get(), limit, &queue));
        handle_.reset(queue);
    }

    int descriptor() const noexcept { return clusterfs_queue_fd(handle_.get()); }

    /* each \returns false when a limit is reached: fetch answers first */
    bool read(const uint64_t tag, const std::string_view name) { return submit(CLUSTERFS_OP_READ, tag, name, {}); }
    /// \param bytes stay as they are until the answer has come
    bool write(const uint64_t tag, const std::string_view name, const std::string_view bytes) {
        return submit(CLUSTERFS_OP_WRITE, tag, name, bytes);
    }
    bool remove(const uint64_t tag, const std::string_view name) { return submit(CLUSTERFS_OP_REMOVE, tag, name, {}); }
    bool sync(const uint64_t tag) { return submit(CLUSTERFS_OP_SYNC, tag, {}, {}); }

    struct Answer {
        uint64_t tag;
        int operation; ///< a clusterfs_operation
        int result; ///< what the call that waits would have returned
        std::optional<Object> object; ///< of a read that succeeded
    };

    /// \param milliseconds to wait, -1 = without limit
    /// \returns nothing when no answer came, or none is under way
    std::optional<Answer> wait(const int milliseconds = -1) {
        clusterfs_answer answer = {};
        if (!detail::checked(clusterfs_wait(handle_.get(), &answer, 1, milliseconds)))
            return std::nullopt;
        Answer result{answer.tag, answer.operation, answer.result, std::nullopt};
        if (answer.object)
            result.object.emplace(answer.object);
        return result;
    }

private:
    bool submit(const int operation, const uint64_t tag, const std::string_view name, const std::string_view bytes) {
        clusterfs_request request = {};
        request.struct_size = sizeof(request);
        request.operation = operation;
        request.tag = tag;
        request.name = name.data();
        request.name_size = name.size();
        request.data = bytes.data();
        request.size = bytes.size();
        const int result = clusterfs_submit(handle_.get(), &request);
        return result != -CLUSTERFS_BUSY && detail::checked(result) == 0;
    }

    detail::Owned<clusterfs_queue, clusterfs_queue_free> handle_;
};

} // namespace clusterfs

#endif

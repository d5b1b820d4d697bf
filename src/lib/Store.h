// SPDX-License-Identifier: GPL-2.0-or-later
/* An open store on one device or several. */

#ifndef CLUSTERFS_SRC_LIB_STORE_H
#define CLUSTERFS_SRC_LIB_STORE_H

#include "fs/cluster/learning/RequestText.h"
#include "lib/Jobs.h"
#include "lib/Options.h"

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

struct clusterfs_attributes;

namespace ClusterFs::Library {

class Object;

/// Spreads objects over devices by their names, and waits for the answers. Handles keep it in memory after close().
/// Calls return 0 or more, or a negative clusterfs_error; clusterfs.h says which. Those that take a name throw
/// std::bad_alloc.
class Store : public std::enable_shared_from_this<Store>
{
public:
    static constexpr size_t maxDevices = 64;
    static constexpr uint64_t passing = UINT64_MAX; ///< the group of the objects that are not kept in memory

    /// \param error receives the reason unless 0 is returned
    static int Open(const std::vector<std::string> &paths, const clusterfs_options &, std::shared_ptr<Store> &, std::string &error);

    int close();

    /// an object's key, its label, and the service of its device
    struct Target {
        Key key;
        std::string label;
        Service &service;
    };
    Target target(const std::string &name) const;

    /// Copies an object that is in memory on this thread, see Service::readAlone().
    static bool readAlone(const Target &, EngineView::Copy &);

    int write(const std::string &name, const void *data, size_t size, uint64_t group) const;
    int create(const std::string &name, int64_t expected, uint64_t group, Service *&, uint64_t &number) const;
    int read(const std::string &name, std::unique_ptr<Object> &);
    int64_t readInto(const std::string &name, void *to, size_t size) const;
    int remove(const std::string &name) const;
    int64_t length(const std::string &name) const; ///< -CLUSTERFS_NOT_FOUND when there is none
    int run(Chore, uint64_t bytes) const;
    int collocate(const std::string &leader, const std::vector<std::string> &members) const;
    int assign(uint64_t group, const std::string &name) const;
    int unassign(const std::string &name) const;
    int groupOf(const std::string &name, uint64_t &group) const;
    int dissolve(uint64_t group) const;
    int setFavour(uint64_t group, Favour) const;
    int setPersist(uint64_t group, uint32_t seconds) const;
    int note(uint64_t client, const std::string &name, const std::string *page) const; ///< \param page nil = unknown
    int note(uint64_t client, const std::string &name, const RequestText &) const;

    size_t devices() const { return services_.size(); }
    Service &service(const size_t device) const { return *services_[device]; }
    bool listed() const { return listed_; } ///< whether its objects can be listed
    bool forked() const; ///< whether this is a child of the process that has opened it

private:
    Store() = default;
    int note(Request, const Target &) const;
    template <class Order> int onAll(const Order &) const;
    void preparePassing() const;

    std::shared_ptr<const Policies> policies_; ///< outlives the services, which use them
    std::vector<std::unique_ptr<Service>> services_;
    KeyMaker makeKey_ = nullptr;
    bool listed_ = true;
    mutable std::atomic<bool> passingIsHated_{false};
    pid_t owner_ = 0;
};

/// An object that was found.
class Object
{
public:
    /// takes over what the job has found
    Object(std::shared_ptr<Store>, Service &, size_t labelBytes, ReadJob &);
    /// takes over what Store::readAlone() has copied
    Object(std::shared_ptr<Store>, Service &, size_t labelBytes, EngineView::Copy &&);
    ~Object();
    Object(const Object &) = delete;
    Object &operator =(const Object &) = delete;

    uint64_t size() const { return size_; }
    int64_t copy(uint64_t offset, void *to, size_t size) const;
    int view(uint64_t offset, const void *&data, size_t &size);
    const Store &store() const { return *store_; }

    static constexpr size_t pieceBytes = ReadJob::wholeBytes; ///< that a view of a larger object has at most

private:
    int64_t copyLarge(uint64_t offset, char *to, size_t size) const;

    const std::shared_ptr<Store> store_;
    Service &service_;
    const size_t labelBytes_; ///< in front of the object's own
    const uint64_t size_;
    const uint64_t number_; ///< in Service::readers; 0 when whole_ has all
    const Bytes whole_; ///< with the label
    std::mutex mutex_; ///< for pieces_
    std::unordered_map<uint64_t, Bytes> pieces_; ///< that were viewed, by offset / pieceBytes
};

} // namespace ClusterFs::Library

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers of calls that do not wait. */

#ifndef CLUSTERFS_SRC_LIB_QUEUE_H
#define CLUSTERFS_SRC_LIB_QUEUE_H

#include "clusterfs/clusterfs.h"
#include "lib/Store.h"

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>

namespace ClusterFs::Library {

/// \see clusterfs_queue
class Queue : public std::enable_shared_from_this<Queue>
{
public:
    static constexpr size_t maxLimit = 65536;

    /// \returns nil when there is no file descriptor
    static std::shared_ptr<Queue> Make(std::shared_ptr<Store>, size_t limit);
    ~Queue();
    Queue(const Queue &) = delete;
    Queue &operator =(const Queue &) = delete;

    int descriptor() const { return event_; }
    const Store &store() const { return *store_; }

    int read(uint64_t tag, const std::string &name);
    int write(uint64_t tag, const std::string &name, const void *data, size_t size, uint64_t group);
    int remove(uint64_t tag, const std::string &name);
    int sync(uint64_t tag);

    /// \see clusterfs_wait()
    int wait(clusterfs_answer *, size_t most, int milliseconds);

    /// waits until all requests are answered
    void drain();

private:
    /// a list of one answer, so that its arrival takes no memory
    using Slip = std::list<clusterfs_answer>;
    using SlipPointer = std::shared_ptr<Slip>;

    Queue(std::shared_ptr<Store> store, const size_t limit): store_(std::move(store)), limit_(limit) {}

    SlipPointer begin(uint64_t tag, int operation);
    int begun(int posted);
    void arrived(Slip &);
    int post(Service &, const JobPointer &, const SlipPointer &);

    const std::shared_ptr<Store> store_;
    const size_t limit_;
    int event_ = -1; ///< eventfd, readable while there are answers

    std::mutex mutex_; ///< for all below
    std::condition_variable changed_;
    Slip answers_;
    size_t underWay_ = 0; ///< requests without an answer
};

} // namespace ClusterFs::Library

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls of CFS. They stand on the C interface, as another program would. */

#include "clusterfs/cfs.h"

#include "lib/Calls.h"

#include <chrono>
#include <climits>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>

using namespace ClusterFs::Library;

namespace {

constexpr size_t mostUnderWay = 256; ///< requests of a thread

/// What one thread has begun.
class Requests
{
public:
    explicit Requests(clusterfs_queue *const queue): queue_(queue) {}
    ~Requests() { clusterfs_queue_free(queue_); }
    Requests(const Requests &) = delete;
    Requests &operator =(const Requests &) = delete;

    int begin(const clusterfs_request &);
    int sync();

private:
    int take();

    clusterfs_queue *const queue_;
    size_t underWay_ = 0;
    int error_ = 0; ///< the first one that sync() has not told
};

/// The store, and the requests of all threads.
struct Face {
    std::mutex mutex; ///< for all
    clusterfs_store *store = nullptr;
    uint64_t number = 0; ///< of the store: each that is given is another one
    std::unordered_set<std::shared_ptr<Requests>> all;
};

Face &
face()
{
    static Face one;
    return one;
}

/// a thread's own requests; gives them up when the thread ends
struct Own {
    Own() = default;
    Own(const Own &) = delete;
    Own &operator =(const Own &) = delete;
    ~Own() { drop(); }

    void drop() {
        const std::lock_guard<std::mutex> lock(face().mutex);
        face().all.erase(requests);
        requests.reset(); // what is under way ends before the store can be taken away
    }

    std::shared_ptr<Requests> requests;
    uint64_t number = 0; ///< of the store that they are for
};

thread_local Own own;

/// \returns the store, or nil
clusterfs_store *
store()
{
    const std::lock_guard<std::mutex> lock(face().mutex);
    return face().store;
}

/// finds the requests of this thread, or makes some
int
ownRequests(std::shared_ptr<Requests> &requests)
{
    uint64_t number = 0;
    {
        const std::lock_guard<std::mutex> lock(face().mutex);
        if (!face().store)
            return -CLUSTERFS_CLOSED;
        number = face().number;
        if (own.requests && own.number == number) {
            requests = own.requests;
            return 0;
        }
    }
    own.drop(); // of a store that is gone
    const std::lock_guard<std::mutex> lock(face().mutex);
    clusterfs_queue *queue = nullptr;
    const int wrong = clusterfs_queue_new(face().store, mostUnderWay, &queue);
    if (wrong != 0)
        return wrong;
    own.requests = std::make_shared<Requests>(queue);
    own.number = number;
    face().all.insert(own.requests);
    requests = own.requests;
    return 0;
}

int
Requests::begin(const clusterfs_request &request)
{
    for (;;) {
        const int result = clusterfs_submit(queue_, &request);
        if (result == 0)
            ++underWay_;
        if (result != -CLUSTERFS_BUSY)
            return result;
        // its own requests, or those of other threads: both end
        const int wrong = take();
        if (wrong != 0)
            return wrong;
    }
}

/// waits for some answers, and fills the buffers of reads
int
Requests::take()
{
    if (!underWay_) { // the store is full of what other threads have begun
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return 0;
    }
    clusterfs_answer answers[32];
    const int count = clusterfs_wait(queue_, answers, std::size(answers), -1);
    for (int n = 0; n < count; ++n) {
        auto &answer = answers[n];
        int64_t result = answer.result;
        if (answer.object) {
            void *buffer = nullptr;
            const auto number = static_cast<uintptr_t>(answer.tag);
            memcpy(&buffer, &number, sizeof(number));
            const auto size = clusterfs_size(answer.object);
            result = size > INT_MAX ? -CLUSTERFS_TOO_LARGE : clusterfs_read_bytes(answer.object, 0, buffer, size);
            clusterfs_release(answer.object);
        }
        if (result < 0 && error_ == 0)
            error_ = static_cast<int>(result);
        --underWay_;
    }
    return count < 0 ? count : 0;
}

int
Requests::sync()
{
    while (underWay_) {
        const int wrong = take();
        if (wrong != 0)
            return wrong;
    }
    const int error = error_;
    error_ = 0;
    return error;
}

/// begins a request of this thread
int
begin(const int operation, const char *const url, const void *const data, const size_t size, void *const buffer)
{
    return guarded([&] {
        std::shared_ptr<Requests> requests;
        const int wrong = ownRequests(requests);
        if (wrong != 0)
            return wrong;
        clusterfs_request request{};
        request.struct_size = sizeof(request);
        request.operation = operation;
        request.tag = reinterpret_cast<uintptr_t>(buffer);
        request.name = url;
        request.name_size = strlen(url);
        request.data = data;
        request.size = size;
        return requests->begin(request);
    });
}

} // namespace

extern "C" {

int
clusterfs_cfs_begin(clusterfs_store *const store)
{
    if (!store)
        return -CLUSTERFS_ARGUMENT;
    const std::lock_guard<std::mutex> lock(face().mutex);
    if (face().store)
        return -CLUSTERFS_BUSY;
    face().store = store;
    ++face().number;
    return 0;
}

int
clusterfs_cfs_end(void)
{
    const std::lock_guard<std::mutex> lock(face().mutex);
    int error = 0;
    for (const auto &requests: face().all) {
        const int one = requests->sync();
        error = error != 0 ? error : one;
    }
    face().all.clear();
    face().store = nullptr;
    return error;
}

int
clusterfs_cfs_create(const char *const url, const char *const buffer, const int size)
{
    if (!url || size < 0 || (!buffer && size))
        return -CLUSTERFS_ARGUMENT;
    return begin(CLUSTERFS_OP_WRITE, url, buffer, static_cast<size_t>(size), nullptr);
}

int
clusterfs_cfs_read(const char *const url, char *const buffer)
{
    return url && buffer ? begin(CLUSTERFS_OP_READ, url, nullptr, 0, buffer) : -CLUSTERFS_ARGUMENT;
}

int
clusterfs_cfs_remove(const char *const url)
{
    auto *const s = store();
    return !url ? -CLUSTERFS_ARGUMENT : s ? clusterfs_remove(s, url, strlen(url)) : -CLUSTERFS_CLOSED;
}

int
clusterfs_cfs_length(const char *const url)
{
    auto *const s = store();
    if (!url || !s)
        return url ? -CLUSTERFS_CLOSED : -CLUSTERFS_ARGUMENT;
    const auto length = clusterfs_length(s, url, strlen(url));
    return length > INT_MAX ? -CLUSTERFS_TOO_LARGE : static_cast<int>(length);
}

int
clusterfs_cfs_sync(void)
{
    if (!store())
        return -CLUSTERFS_CLOSED;
    return guarded([] {
        std::shared_ptr<Requests> requests;
        const int wrong = ownRequests(requests);
        return wrong != 0 ? wrong : requests->sync();
    });
}

} // extern "C"

// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests whose time of completion is known. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_MODEL_COMPLETIONS_H
#define CLUSTERFS_TOOLS_DISKMODEL_MODEL_COMPLETIONS_H

#include "tools/diskmodel/model/Request.h"

#include <queue>
#include <vector>

namespace DiskModel {

/// Keeps requests in the order in which they are due. Does not own them.
class Completions
{
public:
    void add(Request &request, const Nanos due) {
        queue_.push(Entry{due + request.delay, ++count_, &request});
    }

    /// when the first one is due; never when there is none
    Nanos next() const { return queue_.empty() ? never : queue_.top().due; }

    /// takes the first one out; there must be one
    Request &pop() {
        Request &result = *queue_.top().request;
        queue_.pop();
        return result;
    }

private:
    struct Entry {
        Nanos due;
        uint64_t number; ///< requests due at the same time are answered as they came
        Request *request;

        bool operator<(const Entry &other) const {
            return due != other.due ? due > other.due : number > other.number;
        }
    };

    std::priority_queue<Entry, std::vector<Entry>> queue_;
    uint64_t count_ = 0;
};

} // namespace DiskModel

#endif

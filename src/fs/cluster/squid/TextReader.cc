// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/TextReader.h"

#include <algorithm>
#include <cstring>
#include <utility>

int64_t
ClusterFs::TextReader::copy(const uint64_t offset, char * const to, const size_t size)
{
    if (offset < begin_ || offset > this->size())
        return -1;
    made_.erase(0, offset - begin_);
    begin_ = offset;
    if (made_.empty())
        return text_->over() ? 0 : -1;
    const auto bytes = std::min(size, made_.size());
    memcpy(to, made_.data(), bytes);
    return static_cast<int64_t>(bytes);
}

void
ClusterFs::TextReader::fetch(const uint64_t offset, std::function<void(Status)> done)
{
    const auto waits = static_cast<bool>(done_);
    done_ = std::move(done);
    if (offset < begin_ || offset > size())
        made_.clear(); // nobody can have these bytes: go() ends the wait with what there is
    if (!waits)
        schedule(0);
}

/// makes another piece, and tells who waits for it
void
ClusterFs::TextReader::go()
{
    const auto pause = text_->go(made_);
    if (made_.empty() && !text_->over())
        return schedule(pause);
    const auto done = std::exchange(done_, nullptr);
    const auto answered = answered_; // the answer may destroy this
    done(Status::ok);
    answered();
}

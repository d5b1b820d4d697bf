// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/RemoteText.h"

namespace {

/// seconds between looks at what has come
const double Pause = 0.002;

/// bytes of one piece
const size_t PieceBytes = 32 * 1024;

} // namespace

double
ClusterFs::RemoteText::work(std::string &text)
{
    if (waits_)
        return Pause;
    if (status_ == Status::aborted) { // the end
        end();
        return 0;
    }
    if (status_ != Status::ok) {
        fail("cache_dir " + path_ + ": the process that has the device does not answer: " + statusText(status_));
        return 0;
    }
    const auto before = text.size();
    text.resize(before + PieceBytes);
    const auto copied = answer_->copy(at_, &text[before], PieceBytes);
    text.resize(before + (copied > 0 ? static_cast<size_t>(copied) : 0));
    if (copied > 0) {
        at_ += static_cast<uint64_t>(copied);
        return 0;
    }
    waits_ = true;
    answer_->fetch(at_, [this](const Status status) {
        waits_ = false;
        status_ = status;
    });
    return Pause;
}

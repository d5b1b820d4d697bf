// SPDX-License-Identifier: GPL-2.0-or-later
/* A writer in a worker. */

#include "fs/cluster/sharing/RemoteWriter.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace ClusterFs::Messages;

ClusterFs::RemoteWriter::RemoteWriter(std::shared_ptr<Link> link, const Key &key, const ObjectInfo &info, const int64_t expectedSize):
    link_(std::move(link)),
    number_(link_->enter(*this)),
    key_(key),
    partedFrom_(link_->connected() ? link_->control()->clusterBytes / 4 : 0),
    lost_(!link_->connected())
{
    link_->send(Kind::create, Create{number_, key, info, expectedSize, link_->removals()});
}

ClusterFs::RemoteWriter::~RemoteWriter()
{
    link_->leave(number_);
    if (!finished_ && !lost_)
        link_->send(Kind::dropWriter, Numbered{number_});
}

bool
ClusterFs::RemoteWriter::append(const char *bytes, size_t left)
{
    size_ += left;
    while (left && !lost_) {
        const auto piece = std::min(left, pieceBytes);
        if (link_->keptBytes() + piece > Link::maxKept) {
            lost_ = true;
            link_->send(Kind::dropWriter, Numbered{number_});
            break;
        }
        link_->send(Kind::append, Numbered{number_}, bytes, piece);
        bytes += piece;
        left -= piece;
    }
    return !lost_;
}

ClusterFs::Status
ClusterFs::RemoteWriter::finish(std::function<void(Status)> later)
{
    finished_ = true;
    if (lost_)
        return Status::aborted;
    done_ = std::move(later);
    link_->send(Kind::finish, Numbered{number_});
    return Status::pending;
}

void
ClusterFs::RemoteWriter::hear(const Kind kind, const char *const content, const size_t bytes)
{
    if (kind == Kind::congested) {
        congested_ = true;
    } else if (kind == Kind::relieved) {
        congested_ = false;
    } else if ((kind == Kind::lost || kind == Kind::finished) && bytes >= sizeof(Done)) {
        Done m;
        memcpy(&m, content, sizeof(m));
        lost_ = lost_ || kind == Kind::lost;
        if (finished_)
            end(kind == Kind::lost ? Status::aborted : m.status);
    }
}

void
ClusterFs::RemoteWriter::bereave()
{
    lost_ = true;
    if (finished_)
        end(Status::aborted);
}

void
ClusterFs::RemoteWriter::end(const Status status)
{
    const auto done = std::exchange(done_, nullptr); // which may destroy this writer
    if (done)
        done(status);
}

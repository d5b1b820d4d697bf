// SPDX-License-Identifier: GPL-2.0-or-later
/* A reader in a worker. */

#include "fs/cluster/sharing/RemoteReader.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace ClusterFs::Messages;

ClusterFs::RemoteReader::RemoteReader(std::shared_ptr<Link> link, const Key &key, const uint64_t writer, std::string question, const uint64_t size):
    link_(std::move(link)),
    number_(link_->enter(*this)),
    key_(key),
    writer_(writer),
    question_(std::move(question)),
    size_(size),
    alive_(std::make_shared<bool>(true))
{
    if (link_->connected())
        ask();
    else
        fail(Status::offline);
}

ClusterFs::RemoteReader::RemoteReader(std::shared_ptr<Link> link, const Key &key, const uint64_t size):
    RemoteReader(std::move(link), key, 0, std::string(), size)
{
}

ClusterFs::RemoteReader::RemoteReader(std::shared_ptr<Link> link, const RemoteWriter &writer):
    RemoteReader(std::move(link), writer.key(), writer.number(), std::string(), writer.size())
{
}

ClusterFs::RemoteReader::RemoteReader(std::shared_ptr<Link> link, std::string question):
    RemoteReader(std::move(link), Key(), 0, std::move(question), 0)
{
}

ClusterFs::RemoteReader::~RemoteReader()
{
    *alive_ = false;
    link_->leave(number_);
    if (!closed_)
        link_->send(Kind::closeReader, Numbered{number_});
}

int64_t
ClusterFs::RemoteReader::copy(const uint64_t offset, char *const to, const size_t size)
{
    if (has(offset)) {
        const auto from = offset - at_;
        const auto bytes = std::min<uint64_t>(size, bytes_.size() - from);
        memcpy(to, bytes_.data() + from, bytes);
        return static_cast<int64_t>(bytes);
    }
    return offset >= size_ && !grows() ? 0 : -1;
}

void
ClusterFs::RemoteReader::fetch(const uint64_t offset, std::function<void(Status)> done)
{
    done_ = std::move(done);
    wanted_ = offset;
    if (failure_ != Status::ok)
        answerLater(failure_);
    else if (has(offset))
        answerLater(Status::ok);
    else if (closed_)
        answerLater(Status::aborted); // there are no such bytes
    else if (!underWay_) {
        at_ = open_ ? offset : 0;
        bytes_.clear();
        ask();
    }
    // or else what is under way comes first, and may have it
}

/// asks for the bytes from at_ on
void
ClusterFs::RemoteReader::ask()
{
    underWay_ = true;
    if (open_)
        link_->send(Kind::fetch, Fetch{number_, at_, pieceBytes});
    else if (!question_.empty())
        link_->send(Kind::ask, Ask{number_, pieceBytes}, question_.data(), question_.size());
    else if (writer_)
        link_->send(Kind::openWriter, OpenWriter{{number_, key_, pieceBytes}, writer_});
    else
        link_->send(Kind::open, Open{number_, key_, pieceBytes});
}

void
ClusterFs::RemoteReader::hear(const Kind kind, const char *const content, const size_t bytes)
{
    Bytes m;
    if (kind != Kind::bytes || bytes < sizeof(m))
        return;
    memcpy(&m, content, sizeof(m));
    hearBytes(m, content + sizeof(m), bytes - sizeof(m));
}

void
ClusterFs::RemoteReader::hearBytes(const Bytes &m, const char *const bytes, const size_t size)
{
    if (failure_ != Status::ok)
        return;
    if (m.status == Status::ok && m.size != size_) {
        if (!grows())
            return fail(Status::notFound); // another version than the one that was looked up
        size_ = m.size;
    }
    open_ = open_ || m.status == Status::ok;
    closed_ = m.closed;
    if (m.status == Status::ok && m.offset == at_ + bytes_.size())
        bytes_.append(bytes, size);
    underWay_ = !m.last;
    if (m.status != Status::ok && m.status != Status::busy)
        fail(m.status);
    else if (has(wanted_))
        answer(Status::ok);
    else if (m.last && done_ && wanted_ != at_)
        fetch(wanted_, std::move(done_)); // somebody wants other bytes than those that were under way
    else if (m.last)
        answer(m.status == Status::ok ? Status::aborted : m.status);
}

void
ClusterFs::RemoteReader::bereave()
{
    fail(Status::offline);
}

void
ClusterFs::RemoteReader::fail(const Status status)
{
    failure_ = status;
    underWay_ = false;
    answer(status);
}

void
ClusterFs::RemoteReader::answer(const Status status)
{
    // the caller may ask again from there, or destroy this reader
    const auto done = std::exchange(done_, nullptr);
    if (done)
        done(status);
}

void
ClusterFs::RemoteReader::answerLater(const Status status)
{
    link_->later([this, status, alive = alive_] {
        if (*alive)
            answer(status);
    });
}

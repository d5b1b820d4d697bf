// SPDX-License-Identifier: GPL-2.0-or-later
/* The jobs that take more than one turn. */

#include "lib/Jobs.h"

#include "clusterfs/clusterfs.h"

#include <algorithm>
#include <cstring>

namespace ClusterFs::Library {
namespace {

constexpr uint64_t patienceMicros = 60000000; ///< for room in staging
constexpr size_t pieceBytes = 64 * 1024; ///< appended at a time, so that a writer can say that the device is behind
constexpr size_t bytesInTurn = 1024 * 1024; ///< that a job moves before others have their turn

/// why an engine takes no objects; 0 when it does
int
refusalOf(const Engine &engine)
{
    switch (engine.state()) {
    case EngineState::recovering:
    case EngineState::serving:
        return 0;
    case EngineState::readOnly:
        return -CLUSTERFS_READ_ONLY;
    case EngineState::offline:
        return -CLUSTERFS_OFFLINE;
    case EngineState::closed:
        return -CLUSTERFS_CLOSED;
    }
    return -CLUSTERFS_INTERNAL;
}

/// Starts an object with its label.
/// \param expected bytes with the label, -1 = unknown
/// \param giveUpAt Clock::micros(); set by the first call
/// \param error receives a negative clusterfs_error, or 0
Progress
startObject(const Clock &clock, Engine &engine, const Key &key, const std::string &label, const int64_t expected, const uint64_t group,
            uint64_t &giveUpAt, std::unique_ptr<Writer> &writer, int64_t &error)
{
    const auto most = engine.maxObjectSize();
    if (label.size() > most || (expected > 0 && static_cast<uint64_t>(expected) > most)) {
        error = -CLUSTERFS_TOO_LARGE;
        return Progress::over;
    }
    error = refusalOf(engine);
    if (error != 0)
        return Progress::over;
    if (!giveUpAt) {
        giveUpAt = clock.micros() + patienceMicros;
    }
    ObjectInfo info;
    info.timestamp = clock.wallSeconds();
    int load = 0;
    const bool able = engine.canCreate(expected, load);
    const auto unadmitted = able ? engine.stats().counters.notAdmitted : 0;
    writer = able ? engine.create(key, info, expected) : nullptr;
    if (writer) {
        if (group)
            (void)engine.assign(group, key); // isOutside() tells
        error = writer->append(label.data(), label.size()) ? 0 : -CLUSTERFS_LOST;
        return Progress::over;
    }
    if (able && engine.stats().counters.notAdmitted != unadmitted)
        error = -CLUSTERFS_NOT_ADMITTED;
    else if (clock.micros() >= giveUpAt)
        error = -CLUSTERFS_BUSY;
    else
        return Progress::waits;
    return Progress::over;
}

/// whether an object that was to be in a group has found no room there
bool
isOutside(const Engine &engine, const Key &key, const uint64_t group)
{
    return group && engine.groupOf(key) != group;
}

/// appends what a turn may, of the bytes from at on
Progress
appendSome(Writer &writer, const char *const data, const size_t size, size_t &at, int64_t &error)
{
    error = 0;
    for (size_t moved = 0; at < size;) {
        if (writer.congested())
            return Progress::waits;
        if (moved >= bytesInTurn)
            return Progress::goesOn;
        const auto n = std::min(pieceBytes, size - at);
        if (!writer.append(data + at, n)) {
            error = -CLUSTERFS_LOST;
            return Progress::over;
        }
        at += n;
        moved += n;
    }
    return Progress::over;
}

} // namespace

Progress
Copier::copy(Reader &reader, const uint64_t offset, char *const to, const size_t size, size_t &done, int &error)
{
    error = 0;
    for (size_t moved = 0; done < size;) {
        if (answer_) {
            if (!answer_->came)
                return Progress::waits;
            const auto status = answer_->status;
            answer_.reset();
            if (status != Status::ok && (status != Status::busy || ++tries_ > maxTries)) {
                error = errorOf(status);
                return Progress::over;
            }
        }
        if (moved >= bytesInTurn)
            return Progress::goesOn;
        const auto n = reader.copy(offset + done, to + done, size - done);
        if (n == 0) {
            error = -CLUSTERFS_DAMAGED; // it ends early
            return Progress::over;
        }
        if (n > 0) {
            done += static_cast<size_t>(n);
            moved += static_cast<size_t>(n);
            continue;
        }
        answer_ = std::make_shared<Answer>();
        reader.fetch(offset + done, [answer = answer_](const Status status) {
            answer->came = true;
            answer->status = status;
        });
    }
    return Progress::over;
}

WriteJob::WriteJob(Service &service, const Key &key, std::string label, const void *const data, const size_t size, const uint64_t group):
    service_(service),
    key_(key),
    label_(std::move(label)),
    data_(static_cast<const char *>(data)),
    size_(size),
    group_(group)
{
}

Progress
WriteJob::run(Engine &engine)
{
    if (!writer_) {
        const auto whole = static_cast<int64_t>(label_.size() + size_);
        const auto came = startObject(service_.clock(), engine, key_, label_, whole, group_, giveUpAt_, writer_, result);
        if (came != Progress::over || result != 0)
            return came;
    }
    const auto came = appendSome(*writer_, data_, size_, at_, result);
    if (came != Progress::over)
        return came;
    if (result == 0) {
        const auto status = writer_->finish();
        result = status == Status::aborted ? -CLUSTERFS_LOST : errorOf(status);
    }
    if (result == 0 && isOutside(engine, key_, group_))
        result = 1;
    writer_.reset();
    return Progress::over;
}

CreateJob::CreateJob(Service &service, const Key &key, std::string label, const int64_t expected, const uint64_t group):
    service_(service),
    key_(key),
    label_(std::move(label)),
    expected_(expected < 0 ? -1 : expected + static_cast<int64_t>(label_.size())),
    group_(group)
{
}

Progress
CreateJob::run(Engine &engine)
{
    if (service_.writers.full()) {
        result = -CLUSTERFS_BUSY;
        return Progress::over;
    }
    std::unique_ptr<Writer> writer;
    const auto came = startObject(service_.clock(), engine, key_, label_, expected_, group_, giveUpAt_, writer, result);
    if (came == Progress::over && result == 0) {
        number = service_.writers.add(std::move(writer));
        result = isOutside(engine, key_, group_);
    }
    return came;
}

Progress
AppendJob::run(Engine &engine)
{
    auto *const writer = service_.writers.find(number_);
    result = writer ? refusalOf(engine) : -CLUSTERFS_LOST;
    return result != 0 ? Progress::over : appendSome(*writer, data_, size_, at_, result);
}

ReadJob::ReadJob(Service &service, const Key &key, std::string label, const bool keep):
    service_(service),
    key_(key),
    label_(std::move(label)),
    keep_(keep)
{
}

ReadJob::ReadJob(Service &service, const Key &key, std::string label, void *const to, const size_t room):
    service_(service),
    key_(key),
    label_(std::move(label)),
    keep_(false),
    to_(static_cast<char *>(to)),
    room_(room)
{
}

Progress
ReadJob::fail(const int error)
{
    result = error;
    reader_.reset();
    return Progress::over;
}

/// \returns whether there may be such an object
bool
ReadJob::open(Engine &engine)
{
    ObjectInfo info;
    if (!engine.find(key_, info) || info.size < label_.size())
        return false;
    engine.touch(key_);
    reader_ = engine.read(key_);
    if (!reader_ || reader_->size() < label_.size())
        return false;
    size = reader_->size() - label_.size();
    const bool whole = !to_ && reader_->size() <= wholeBytes;
    bytes = Bytes(whole ? reader_->size() : label_.size());
    return true;
}

Progress
ReadJob::run(Engine &engine)
{
    if (!reader_ && !open(engine)) {
        const auto refusal = engine.state() == EngineState::offline ? -CLUSTERFS_OFFLINE : -CLUSTERFS_NOT_FOUND;
        return fail(refusal);
    }
    int error = 0;
    if (!named_) {
        const auto came = copier_.copy(*reader_, 0, bytes.data(), label_.size(), at_, error);
        if (came != Progress::over)
            return came;
        if (error != 0)
            return fail(error);
        // another name may have the same key: then this one is not stored
        if (memcmp(bytes.data(), label_.data(), label_.size()) != 0)
            return fail(-CLUSTERFS_NOT_FOUND);
        named_ = true;
        if (to_)
            at_ = 0;
    }
    auto came = Progress::over;
    if (to_)
        came = copier_.copy(*reader_, label_.size(), to_, std::min<uint64_t>(size, room_), at_, error);
    else
        came = copier_.copy(*reader_, 0, bytes.data(), bytes.size(), at_, error);
    if (came != Progress::over)
        return came;
    if (error != 0)
        return fail(error);
    if (keep_ && bytes.size() < label_.size() + size) {
        if (service_.readers.full())
            return fail(-CLUSTERFS_BUSY);
        number = service_.readers.add(std::move(reader_));
    }
    reader_.reset();
    result = 0;
    return Progress::over;
}

Progress
CopyJob::run(Engine &)
{
    auto *const reader = service_.readers.find(number_);
    int error = -CLUSTERFS_CLOSED;
    const auto came = reader ? copier_.copy(*reader, offset_, to_, size_, done_, error) : Progress::over;
    // the object was found before: that its bytes are gone is the device's fault
    result = error == -CLUSTERFS_NOT_FOUND ? -CLUSTERFS_DAMAGED : error;
    return came;
}

Progress
ChoreJob::run(Engine &engine)
{
    if (!answer_) {
        answer_ = std::make_shared<Answer>();
        engine.run(chore_, bytes_, [answer = answer_](const Status status) {
            answer->came = true;
            answer->status = status;
        });
    }
    result = errorOf(answer_->status);
    return answer_->came ? Progress::over : Progress::waits;
}

/// reads the name of the object that is open
/// \returns whether that is over, and then the object is closed
bool
WalkJob::readLabel(Progress &came)
{
    int error = 0;
    const auto size = reader_->size();
    if (label_.size() < Label::frontBytes)
        label_.resize(Label::frontBytes);
    while (true) {
        came = copier_.copy(*reader_, 0, label_.data(), label_.size(), at_, error);
        if (came != Progress::over)
            return false;
        uint32_t name = 0;
        if (error != 0 || !Label::NameSize(label_.data(), name) || Label::frontBytes + uint64_t(name) > size)
            break; // damaged, or not ours
        if (label_.size() < Label::frontBytes + name) {
            label_.resize(Label::frontBytes + name);
            continue;
        }
        found.push_back({label_.substr(Label::frontBytes), size - label_.size()});
        break;
    }
    reader_.reset();
    label_.clear();
    at_ = 0;
    copier_ = Copier();
    return true;
}

/// \returns false when there are no more, or when looks is 0
bool
WalkJob::next(Engine &engine, Key &key, ObjectInfo &info, unsigned &looks)
{
    if (way_ == Way::any)
        return engine.next(cursor, key, info, looks);
    if (way_ != Way::group)
        return engine.nextInOrder(way_ == Way::ripe ? Engine::Walk::ripe : Engine::Walk::hot, cursor, key, info, looks);
    while (looks && engine.nextOfGroup(group_, cursor, key)) {
        --looks;
        if (engine.peek(key, info))
            return true; // else it is a member, and not stored
    }
    return false;
}

Progress
WalkJob::run(Engine &engine)
{
    auto looks = looksInTurn;
    auto came = Progress::over;
    while (found.size() < most) {
        if (reader_ && !readLabel(came))
            return came;
        Key key;
        ObjectInfo info;
        if (found.size() >= most)
            break;
        if (!next(engine, key, info, looks)) {
            if (!looks)
                return Progress::goesOn;
            break;
        }
        if (info.size >= Label::frontBytes)
            reader_ = engine.read(key);
    }
    result = found.empty() ? 0 : 1;
    return Progress::over;
}

} // namespace ClusterFs::Library

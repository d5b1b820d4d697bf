// SPDX-License-Identifier: GPL-2.0-or-later
/* The jobs that take more than one turn. */

#ifndef CLUSTERFS_SRC_LIB_JOBS_H
#define CLUSTERFS_SRC_LIB_JOBS_H

#include "lib/Name.h"
#include "lib/Service.h"

#include <memory>
#include <string>
#include <vector>

namespace ClusterFs::Library {

/// memory of no particular content
class Bytes
{
public:
    Bytes() = default;
    explicit Bytes(const size_t size): data_(new char[size]), size_(size) {}
    Bytes(std::unique_ptr<char[]> data, const size_t size): data_(std::move(data)), size_(size) {}

    char *data() const { return data_.get(); }
    size_t size() const { return size_; }

private:
    std::unique_ptr<char[]> data_;
    size_t size_ = 0;
};

/// Copies bytes from a reader, and fetches them before where they are not in memory.
class Copier
{
public:
    /// Goes on with a copy of bytes that the object has.
    /// \param done how many of them are there; counted on
    /// \param error receives a negative clusterfs_error, or 0
    Progress copy(Reader &, uint64_t offset, char *to, size_t size, size_t &done, int &error);

private:
    static constexpr unsigned maxTries = 1000; ///< of one copy

    /// the answer of the device; outlives a job that is given up
    struct Answer {
        bool came = false;
        Status status = Status::busy;
    };
    std::shared_ptr<Answer> answer_; ///< nil when nothing is being fetched
    unsigned tries_ = 0;
};

/// Stores a whole object.
class WriteJob final : public Job
{
public:
    /// \param data stays until the job is over
    WriteJob(Service &, const Key &, std::string label, const void *data, size_t size, uint64_t group);
    Progress run(Engine &) override;

private:
    Service &service_;
    const Key key_;
    const std::string label_;
    const char *const data_;
    const size_t size_;
    const uint64_t group_;
    std::unique_ptr<Writer> writer_;
    uint64_t giveUpAt_ = 0; ///< Clock::micros(); 0 = not begun
    size_t at_ = 0;
};

/// Begins an object whose bytes come in pieces. Its result is 0 when number is that of a writer.
class CreateJob final : public Job
{
public:
    /// \param expected bytes without the label, -1 = unknown
    CreateJob(Service &, const Key &, std::string label, int64_t expected, uint64_t group);
    Progress run(Engine &) override;

    uint64_t number = 0; ///< in Service::writers

private:
    Service &service_;
    const Key key_;
    const std::string label_;
    const int64_t expected_;
    const uint64_t group_;
    uint64_t giveUpAt_ = 0; ///< Clock::micros(); 0 = not begun
};

/// Appends bytes to an object that was begun.
class AppendJob final : public Job
{
public:
    AppendJob(Service &service, const uint64_t number, const void *data, const size_t size):
        service_(service), number_(number), data_(static_cast<const char *>(data)), size_(size) {}
    Progress run(Engine &) override;

private:
    Service &service_;
    const uint64_t number_;
    const char *const data_;
    const size_t size_;
    size_t at_ = 0;
};

/// Finds an object and compares its name. Brings a small one into memory whole.
class ReadJob final : public Job
{
public:
    /// most bytes of an object, with its label, that are brought into memory
    static constexpr uint64_t wholeBytes = 256 * 1024;

    /// \param keep whether a reader of a larger object is wanted; else its first bytes
    ReadJob(Service &, const Key &, std::string label, bool keep);
    /// of an object whose first bytes are enough, which go there
    ReadJob(Service &, const Key &, std::string label, void *to, size_t size);
    Progress run(Engine &) override;

    uint64_t size = 0; ///< bytes without the label
    Bytes bytes; ///< the label, and all bytes of the object if number is 0
    uint64_t number = 0; ///< in Service::readers, of a larger object; else 0

private:
    Progress fail(int error);
    bool open(Engine &);

    Service &service_;
    const Key key_;
    const std::string label_;
    const bool keep_;
    char *const to_ = nullptr; ///< where the first bytes go, or nil
    const size_t room_ = 0; ///< bytes at to_
    std::unique_ptr<Reader> reader_;
    Copier copier_;
    size_t at_ = 0; ///< bytes of the label, and of the object behind it, that are there
    bool named_ = false; ///< the label is right
};

/// Copies bytes of an object that is open.
class CopyJob final : public Job
{
public:
    /// \param offset in the object, behind its label
    CopyJob(Service &service, const uint64_t number, const uint64_t offset, char *to, const size_t size):
        service_(service), number_(number), offset_(offset), to_(to), size_(size) {}
    Progress run(Engine &) override;

private:
    Service &service_;
    const uint64_t number_;
    const uint64_t offset_;
    char *const to_;
    const size_t size_;
    Copier copier_;
    size_t done_ = 0;
};

/// Waits for housekeeping.
class ChoreJob final : public Job
{
public:
    /// \param bytes see Chore
    explicit ChoreJob(const Chore chore, const uint64_t bytes = 0): chore_(chore), bytes_(bytes) {}
    Progress run(Engine &) override;

private:
    const Chore chore_;
    const uint64_t bytes_;
    /// outlives a job that is given up
    struct Answer {
        bool came = false;
        Status status = Status::ok;
    };
    std::shared_ptr<Answer> answer_;
};

/// Goes on with a walk by some objects. Its result is 1, or 0 when none is left.
class WalkJob final : public Job
{
public:
    struct Found {
        std::string name;
        uint64_t size; ///< bytes without the label
    };
    static constexpr size_t most = 32; ///< objects found in one job

    /// which objects, and in what order
    enum class Way : uint8_t { any, ripe, hot, group };
    /// \param group whose members to find
    WalkJob(const Way way, const uint64_t group, const uint64_t from): cursor(from), way_(way), group_(group) {}
    Progress run(Engine &) override;

    uint64_t cursor; ///< of Engine::next(), nextInOrder() or nextOfGroup()
    std::vector<Found> found;

private:
    static constexpr unsigned looksInTurn = 4096; ///< records of the index

    bool readLabel(Progress &);
    bool next(Engine &, Key &, ObjectInfo &, unsigned &looks);

    const Way way_;
    const uint64_t group_;
    std::unique_ptr<Reader> reader_; ///< of the object that was found last, or nil
    std::string label_;
    size_t at_ = 0; ///< bytes of label_ that are there
    Copier copier_;
};

} // namespace ClusterFs::Library

#endif

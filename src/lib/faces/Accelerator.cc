// SPDX-License-Identifier: GPL-2.0-or-later
/* A store in front of a folder. */

#include "lib/faces/Accelerator.h"

#include "fs/cluster/base/Bytes.h"
#include "lib/Calls.h"
#include "lib/Threads.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <ctime>

using namespace ClusterFs;
using namespace ClusterFs::Library;

namespace {

constexpr char magic[] = "cfsfile1";
constexpr size_t pieceBytes = 256 * 1024; ///< that a copy of a large file reads at once

/// \returns how many bytes were read before the end of the file, or -1 with the reason in errno
int64_t
readAll(const int fd, const uint64_t offset, char *const to, const size_t size)
{
    size_t done = 0;
    while (done < size) {
        const auto got = pread(fd, to + done, size - done, static_cast<off_t>(offset + done));
        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        done += static_cast<size_t>(got);
    }
    return static_cast<int64_t>(done);
}

/// whether a file is the same as it was when stat() was called, and nothing has changed in it
bool
unchanged(const int fd, const struct stat &before)
{
    struct stat now;
    return fstat(fd, &now) == 0 && FileStamp(now) == FileStamp(before);
}

/// Tells of an opening, as if the file's folder had asked for it: what lies in one folder is often wanted together. Any order in which
/// clients open files would be learned only after the files have been packed.
void
noteOpening(clusterfs_store *const store, const uint64_t client, const std::string &path)
{
    const auto end = path.rfind('/');
    const auto folder = path.substr(0, end == std::string::npos ? 0 : end + 1);
    // a hint: nobody waits for it, and it may be left out
    (void)clusterfs_note(store, client ? client : 1, path.data(), path.size(), folder.data(), folder.size());
}

int
regular(const struct stat &status)
{
    if (S_ISREG(status.st_mode))
        return 0;
    errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    return -CLUSTERFS_FILE;
}

} // namespace

FileStamp::FileStamp(const struct stat &status)
{
    ByteWriter to(text_.data(), text_.size());
    to.bytes(magic, sizeof(magic) - 1);
    to.u64(status.st_ino);
    to.u64(static_cast<uint64_t>(status.st_size));
    for (const auto &time: {status.st_mtim, status.st_ctim}) {
        to.u64(static_cast<uint64_t>(time.tv_sec));
        to.u64(static_cast<uint64_t>(time.tv_nsec));
    }
    assert(to.left() == 0);
}

clusterfs_accelerator::clusterfs_accelerator(clusterfs_store *const store, const int folder, const clusterfs_accelerator_settings &settings):
    store_(store),
    folder_(folder),
    settings_(settings),
    owner_(getpid()),
    known_(settings.trusted, settings.paths)
{
    thread_ = startThread([this] { copyAll(); });
}

clusterfs_accelerator::~clusterfs_accelerator()
{
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

int
clusterfs_accelerator::open(const char *const path, const uint64_t client, std::unique_ptr<clusterfs_file> &file)
{
    struct stat found;
    const std::string name(path);
    // of what a link leads to, not of the link, which status() tells
    const auto followed = followsLinks() ? name + '\0' : name;
    if (!known_.find(followed, found)) {
        const int wrong = look(name, O_PATH, found);
        if (wrong != 0)
            return wrong;
        known_.note(followed, found);
    }
    const int irregular = regular(found);
    if (irregular != 0)
        return irregular;
    ++counters.opened;
    noteOpening(store_, client, name);
    auto opened = std::make_unique<clusterfs_file>(*this, name, found);
    opened->object = find(name, FileStamp(found));
    if (opened->object) {
        ++counters.stored;
    } else {
        const int refused = openSource(name, opened->source, opened->status);
        if (refused != 0) {
            known_.forget(followed);
            return refused;
        }
        known_.note(followed, opened->status);
        openMissing(*opened);
    }
    file = std::move(opened);
    return 0;
}

int
clusterfs_accelerator::status(const std::string &path, struct stat &found)
{
    if (known_.find(path, found))
        return 0;
    const int wrong = look(path, O_PATH | O_NOFOLLOW, found);
    if (wrong == 0)
        known_.note(path, found);
    return wrong;
}

/// looks at a path without opening it, which costs a network's file server less
int
clusterfs_accelerator::look(const std::string &path, const int flags, struct stat &found) const
{
    Descriptor fd;
    return openPath(path, flags, fd, found);
}

/// opens a file in the folder
int
clusterfs_accelerator::openSource(const std::string &path, Descriptor &source, struct stat &found) const
{
    // without O_NONBLOCK, a FIFO that has taken the file's place would wait for a writer
    const int wrong = openPath(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, source, found);
    return wrong != 0 ? wrong : regular(found);
}

int
clusterfs_accelerator::openPath(const std::string &path, const int flags, Descriptor &fd, struct stat &found) const
{
    fd.reset(openBeneath(folder_.get(), path.c_str(), flags, followsLinks()));
    return fd.open() && fstat(fd.get(), &found) == 0 ? 0 : -CLUSTERFS_FILE;
}

/// \returns a copy of a file that has this stamp, or nil
ObjectPointer
clusterfs_accelerator::find(const std::string &path, const FileStamp &wanted)
{
    clusterfs_object *found = nullptr;
    if (clusterfs_read(store_, path.data(), path.size(), &found) != 0)
        return nullptr;
    ObjectPointer object(found);
    FileStamp stamp;
    if (clusterfs_read_bytes(found, 0, stamp.data(), FileStamp::bytes) != static_cast<int64_t>(FileStamp::bytes))
        return nullptr;
    if (stamp == wanted)
        return object;
    ++counters.changed;
    (void)clusterfs_remove(store_, path.data(), path.size()); // nobody will want it any more
    return nullptr;
}

/// whether another thread has stored a copy with this stamp meanwhile
bool
clusterfs_accelerator::has(const std::string &path, const FileStamp &wanted) const
{
    FileStamp stamp;
    return clusterfs_read_into(store_, path.data(), path.size(), stamp.data(), FileStamp::bytes) >= 0 && stamp == wanted;
}

/// has a file copied that the store does not have, and whose source is open
void
clusterfs_accelerator::openMissing(clusterfs_file &file)
{
    switch (fitOf(file.status)) {
    case Fit::large:
        ++counters.large;
        break;
    case Fit::young:
        ++counters.young;
        break;
    case Fit::fine:
        if (static_cast<uint64_t>(file.status.st_size) > wholeBytes)
            queueCopy(file.path);
        else
            count(takeWhole(file));
        break;
    }
}

clusterfs_accelerator::Fit
clusterfs_accelerator::fitOf(const struct stat &status) const
{
    if (static_cast<uint64_t>(status.st_size) > settings_.largest)
        return Fit::large;
    const auto now = static_cast<int64_t>(time(nullptr));
    const auto last = std::max<int64_t>(status.st_ctim.tv_sec, status.st_mtim.tv_sec);
    const bool young = settings_.settled && (last > now || static_cast<uint64_t>(now - last) < settings_.settled);
    return young ? Fit::young : Fit::fine;
}

void
clusterfs_accelerator::count(const bool copied)
{
    ++(copied ? counters.copied : counters.failed);
}

/// Reads a small file at once, and stores it.
/// \returns whether it was stored
bool
clusterfs_accelerator::takeWhole(clusterfs_file &file)
{
    const auto size = static_cast<size_t>(file.status.st_size);
    const FileStamp stamp(file.status);
    std::vector<char> bytes(FileStamp::bytes + size);
    memcpy(bytes.data(), stamp.data(), FileStamp::bytes);
    if (readAll(file.source.get(), 0, bytes.data() + FileStamp::bytes, size) != static_cast<int64_t>(size) ||
            !unchanged(file.source.get(), file.status))
        return false; // read where it is, with what it has by then
    file.whole = std::move(bytes);
    file.source.reset();
    return clusterfs_write(store_, file.path.data(), file.path.size(), file.whole.data(), file.whole.size(), nullptr) == 0;
}

void
clusterfs_accelerator::queueCopy(const std::string &path)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    if (queued_.count(path))
        return;
    if (waiting_.size() >= mostWaiting) {
        ++counters.failed;
        return;
    }
    queued_.insert(path);
    waiting_.push_back(path);
    wake_.notify_one();
}

/// what the thread does
void
clusterfs_accelerator::copyAll()
{
    std::vector<char> buffer;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
        if (stopping_)
            return;
        const auto path = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        try {
            copy(path, buffer);
        } catch (const std::bad_alloc &) {
            count(false); // the next one who opens the file asks for it again
        }
        lock.lock();
        queued_.erase(path);
    }
}

/// Stores a large file, unless the store has it by now.
/// \param buffer keeps its memory for the next file
void
clusterfs_accelerator::copy(const std::string &path, std::vector<char> &buffer)
{
    Descriptor source;
    struct stat status;
    if (openSource(path, source, status) != 0 || fitOf(status) != Fit::fine)
        return count(false);
    const FileStamp stamp(status);
    if (has(path, stamp))
        return;
    clusterfs_attributes attributes = CLUSTERFS_ATTRIBUTES;
    attributes.expected_size = static_cast<int64_t>(FileStamp::bytes) + status.st_size;
    clusterfs_writer *writer = nullptr;
    if (clusterfs_create(store_, path.data(), path.size(), &attributes, &writer) != 0)
        return count(false);
    buffer.resize(pieceBytes);
    if (clusterfs_append(writer, stamp.data(), FileStamp::bytes) == 0 &&
            copyBytes(source.get(), static_cast<uint64_t>(status.st_size), writer, buffer) && unchanged(source.get(), status))
        return count(clusterfs_commit(writer) == 0);
    clusterfs_abort(writer);
    count(false);
}

bool
clusterfs_accelerator::copyBytes(const int fd, const uint64_t size, clusterfs_writer *const writer, std::vector<char> &buffer) const
{
    for (uint64_t at = 0; at < size && !stopping_;) {
        const auto piece = static_cast<size_t>(std::min<uint64_t>(buffer.size(), size - at));
        if (readAll(fd, at, buffer.data(), piece) != static_cast<int64_t>(piece) || clusterfs_append(writer, buffer.data(), piece) != 0)
            return false;
        at += piece;
    }
    return !stopping_;
}

clusterfs_accelerator_counts
clusterfs_accelerator::counts() const
{
    const auto &c = counters;
    return {c.opened, c.stored, c.changed, c.young, c.large, c.copied, c.failed, c.lost, c.bytesStored, c.bytesFolder};
}

int64_t
clusterfs_file::read(const uint64_t offset, char *const to, const size_t size)
{
    if (!whole.empty()) {
        const auto bytes = whole.size() - FileStamp::bytes;
        const auto count = offset < bytes ? std::min<uint64_t>(size, bytes - offset) : 0;
        if (count)
            memcpy(to, whole.data() + FileStamp::bytes + offset, count);
        accelerator.counters.bytesFolder += count;
        return static_cast<int64_t>(count);
    }
    if (object) {
        if (offset >= static_cast<uint64_t>(status.st_size))
            return 0;
        const auto got = clusterfs_read_bytes(object.get(), FileStamp::bytes + offset, to, size);
        if (got >= 0) {
            accelerator.counters.bytesStored += static_cast<uint64_t>(got);
            return got;
        }
    }
    return readSource(offset, to, size);
}

int64_t
clusterfs_file::readSource(const uint64_t offset, char *const to, const size_t size)
{
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!source.open()) {
            struct stat now;
            const int wrong = accelerator.openSource(path, source, now);
            if (wrong != 0 || !(FileStamp(now) == FileStamp(status))) {
                const int why = wrong != 0 ? errno : ESTALE;
                source.reset();
                errno = why;
                return wrong != 0 ? wrong : -CLUSTERFS_FILE;
            }
            ++accelerator.counters.lost;
        }
    }
    if (offset > static_cast<uint64_t>(INT64_MAX) - size)
        return 0;
    const auto got = readAll(source.get(), offset, to, size);
    if (got < 0)
        return -CLUSTERFS_FILE;
    accelerator.counters.bytesFolder += static_cast<uint64_t>(got);
    return got;
}

extern "C" {

int
clusterfs_accelerator_new(clusterfs_store *const store, const char *const path, const clusterfs_accelerator_settings *const given,
                          clusterfs_accelerator **const accelerator)
{
    clusterfs_accelerator_settings settings = CLUSTERFS_ACCELERATOR;
    if (given && !known(*given))
        return -CLUSTERFS_ARGUMENT;
    if (given)
        settings = *given;
    if (!store || !path || !accelerator || (settings.flags & ~CLUSTERFS_ACCELERATOR_NO_LINKS))
        return -CLUSTERFS_ARGUMENT;
    return guarded([&] {
        Descriptor folder(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!folder.open())
            return -CLUSTERFS_FILE;
        *accelerator = new clusterfs_accelerator(store, folder.release(), settings);
        return 0;
    });
}

void
clusterfs_accelerator_free(clusterfs_accelerator *const accelerator)
{
    if (accelerator && !accelerator->forked())
        delete accelerator;
}

int
clusterfs_accelerator_status(clusterfs_accelerator *const accelerator, const char *const path, struct stat *const status)
{
    if (!accelerator || !path || !status)
        return -CLUSTERFS_ARGUMENT;
    return accelerator->forked() ? -CLUSTERFS_FORKED : guarded([&] { return accelerator->status(path, *status); });
}

int
clusterfs_accelerator_count(const clusterfs_accelerator *const accelerator, clusterfs_accelerator_counts *const counts, const size_t size)
{
    if (!accelerator || !counts || size < sizeof(clusterfs_accelerator_counts))
        return -CLUSTERFS_ARGUMENT;
    memset(counts, 0, size);
    *counts = accelerator->counts();
    return 0;
}

int
clusterfs_file_open(clusterfs_accelerator *const accelerator, const char *const path, const uint64_t client, clusterfs_file **const file)
{
    if (!accelerator || !path || !file)
        return -CLUSTERFS_ARGUMENT;
    if (accelerator->forked())
        return -CLUSTERFS_FORKED;
    return guarded([&] {
        std::unique_ptr<clusterfs_file> opened;
        const int result = accelerator->open(path, client, opened);
        if (result == 0)
            *file = opened.release();
        return result;
    });
}

const struct stat *
clusterfs_file_status(const clusterfs_file *const file)
{
    return file ? &file->status : nullptr;
}

int
clusterfs_file_stored(const clusterfs_file *const file)
{
    return file && file->object ? 1 : 0;
}

int64_t
clusterfs_file_read(clusterfs_file *const file, const uint64_t offset, void *const to, const size_t size)
{
    if (!file || (!to && size))
        return -CLUSTERFS_ARGUMENT;
    if (file->accelerator.forked())
        return -CLUSTERFS_FORKED;
    return guarded([&] { return size ? file->read(offset, static_cast<char *>(to), size) : 0; });
}

void
clusterfs_file_close(clusterfs_file *const file)
{
    if (file && !file->accelerator.forked())
        delete file;
}

} // extern "C"

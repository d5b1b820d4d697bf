// SPDX-License-Identifier: GPL-2.0-or-later
/* A store in front of a folder. It stands on the C interface, as another program would. */

#ifndef CLUSTERFS_SRC_LIB_FACES_ACCELERATOR_H
#define CLUSTERFS_SRC_LIB_FACES_ACCELERATOR_H

#include "clusterfs/accelerator.h"
#include "lib/faces/Beneath.h"
#include "lib/faces/Statuses.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

namespace ClusterFs::Library {

/// Tells whether a copy has what the file has, and stands in front of its bytes in the store. The number of the file system is not in it,
/// because a network's file system gets another one at each mount.
class FileStamp
{
public:
    static constexpr size_t bytes = 56; ///< "cfsfile1"; inode, size, seconds and nanoseconds of two changes, little-endian

    FileStamp() = default;
    explicit FileStamp(const struct stat &);

    bool operator ==(const FileStamp &other) const { return text_ == other.text_; }
    const char *data() const { return text_.data(); }
    char *data() { return text_.data(); }

private:
    std::array<char, bytes> text_{};
};

struct ObjectEnd {
    void operator ()(clusterfs_object *const object) const { clusterfs_release(object); }
};
using ObjectPointer = std::unique_ptr<clusterfs_object, ObjectEnd>;

} // namespace ClusterFs::Library

struct clusterfs_accelerator {
public:
    /// takes the folder
    clusterfs_accelerator(clusterfs_store *, int folder, const clusterfs_accelerator_settings &);
    ~clusterfs_accelerator();
    clusterfs_accelerator(const clusterfs_accelerator &) = delete;
    clusterfs_accelerator &operator =(const clusterfs_accelerator &) = delete;

    /// \returns 0 or a negative clusterfs_error, as all calls here
    int open(const char *path, uint64_t client, std::unique_ptr<clusterfs_file> &);

    int status(const std::string &path, struct stat &);
    int openSource(const std::string &path, ClusterFs::Library::Descriptor &, struct stat &) const;
    clusterfs_accelerator_counts counts() const;
    bool forked() const { return getpid() != owner_; }

    static constexpr uint64_t wholeBytes = 256 * 1024; ///< most bytes of a file that is read at once when it is opened
    static constexpr size_t mostWaiting = 1024; ///< files that wait to be copied

    /// what is counted, each for itself
    struct Counters {
        std::atomic<uint64_t> opened{0}, stored{0}, changed{0}, young{0}, large{0}, copied{0}, failed{0}, lost{0},
            bytesStored{0}, bytesFolder{0};
    } counters;

private:
    using FileStamp = ClusterFs::Library::FileStamp;
    /// whether a file may be copied
    enum class Fit : uint8_t {
        fine,
        young, ///< changed a short while ago
        large
    };

    bool followsLinks() const { return !(settings_.flags & CLUSTERFS_ACCELERATOR_NO_LINKS); }
    int look(const std::string &path, int flags, struct stat &) const;
    int openPath(const std::string &path, int flags, ClusterFs::Library::Descriptor &, struct stat &) const;
    ClusterFs::Library::ObjectPointer find(const std::string &path, const FileStamp &);
    void openMissing(clusterfs_file &);
    Fit fitOf(const struct stat &) const;
    void count(bool copied);
    bool takeWhole(clusterfs_file &);
    void queueCopy(const std::string &path);
    void copyAll();
    void copy(const std::string &path, std::vector<char> &buffer);
    bool copyBytes(int fd, uint64_t size, clusterfs_writer *, std::vector<char> &buffer) const;
    bool has(const std::string &path, const FileStamp &) const;

    clusterfs_store *const store_;
    const ClusterFs::Library::Descriptor folder_;
    const clusterfs_accelerator_settings settings_;
    const pid_t owner_;
    ClusterFs::Library::Statuses known_;

    std::mutex mutex_; ///< for all below
    std::condition_variable wake_;
    std::deque<std::string> waiting_; ///< paths of large files
    std::unordered_set<std::string> queued_; ///< those in waiting_, and the one that is being copied
    std::atomic<bool> stopping_{false};
    std::thread thread_; ///< copies large files
};

struct clusterfs_file {
public:
    clusterfs_file(clusterfs_accelerator &a, std::string p, const struct stat &s): accelerator(a), path(std::move(p)), status(s) {}
    int64_t read(uint64_t offset, char *to, size_t size);

    clusterfs_accelerator &accelerator;
    const std::string path;
    struct stat status;
    ClusterFs::Library::ObjectPointer object; ///< nil when the store did not have it
    std::vector<char> whole; ///< its stamp and all of its bytes, or nothing
    ClusterFs::Library::Descriptor source; ///< in the folder; closed as long as nobody needs it

private:
    int64_t readSource(uint64_t offset, char *to, size_t size);

    std::mutex mutex_; ///< for opening source
};

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tests of devices share: aligned memory, folders, loop devices. */

#ifndef SQUID_TEST_SUITE_UNIT_SUPPORT_DEVICESUPPORT_H
#define SQUID_TEST_SUITE_UNIT_SUPPORT_DEVICESUPPORT_H

#include "fs/cluster/device/Device.h"

#include <fcntl.h>
#include <ftw.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ClusterFs {
namespace Testing {

/// memory that a device accepts
class TestBuffer
{
public:
    explicit TestBuffer(const size_t size, const char fill = 0): size_(size) {
        void *memory = nullptr;
        if (posix_memalign(&memory, Device::bufferAlignment(), size) != 0)
            throw std::bad_alloc();
        bytes_.reset(static_cast<char *>(memory));
        memset(bytes_.get(), fill, size);
    }

    char *data() { return bytes_.get(); }
    size_t size() const { return size_; }
    char &operator [](const size_t i) { return bytes_.get()[i]; }
    std::string text() const { return std::string(bytes_.get(), size_); }

    /// bytes that differ from place to place and from seed to seed
    void pattern(const uint64_t seed) {
        uint64_t x = seed * 0x9e3779b97f4a7c15ULL + 1;
        for (size_t i = 0; i < size_; ++i) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            bytes_.get()[i] = static_cast<char>(x);
        }
    }

private:
    struct Free {
        void operator ()(char *p) const { free(p); }
    };
    std::unique_ptr<char, Free> bytes_;
    size_t size_;
};

inline Io
makeIo(const IoOp op, const uint64_t offset, const uint32_t size, char *buffer, std::function<void(Status)> done)
{
    Io io;
    io.op = op;
    io.offset = offset;
    io.size = size;
    io.buffer = buffer;
    io.done = std::move(done);
    return io;
}

/// submits a request and waits for its answer, at most a minute or so
inline Status
run(Device &device, const IoOp op, const uint64_t offset = 0, const uint32_t size = 0, char *buffer = nullptr)
{
    auto answer = std::make_shared<Status>(Status::aborted);
    auto answered = std::make_shared<bool>(false);
    device.submit(makeIo(op, offset, size, buffer, [=](const Status status) {
        *answer = status;
        *answered = true;
    }));
    for (unsigned i = 0; i < 6000 && !*answered; ++i) {
        device.wait(10);
        device.poll();
    }
    if (!*answered)
        throw std::runtime_error("the device never answered");
    return *answer;
}

inline Status
write(Device &device, const uint64_t offset, TestBuffer &buffer)
{
    return run(device, IoOp::write, offset, static_cast<uint32_t>(buffer.size()), buffer.data());
}

inline Status
read(Device &device, const uint64_t offset, TestBuffer &buffer)
{
    return run(device, IoOp::read, offset, static_cast<uint32_t>(buffer.size()), buffer.data());
}

/// a folder that goes away with everything in it
class Folder
{
public:
    Folder() {
        const char *parent = getenv("TMPDIR");
        path_ = std::string(parent && *parent ? parent : ".") + "/clusterfs-test-XXXXXX";
        if (!mkdtemp(&path_[0]))
            throw std::runtime_error("cannot create " + path_ + ": " + strerror(errno));
        std::unique_ptr<char, decltype(&free)> full(realpath(path_.c_str(), nullptr), &free);
        if (full)
            path_ = full.get();
    }
    ~Folder() {
        const auto removeOne = [](const char *path, const struct stat *, int, struct FTW *) { return ::remove(path); };
        (void)nftw(path_.c_str(), removeOne, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    }
    Folder(const Folder &) = delete;
    Folder &operator =(const Folder &) = delete;

    const std::string &path() const { return path_; }
    std::string operator /(const std::string &name) const { return path_ + "/" + name; }

    /// creates a sparse file
    std::string file(const std::string &name, const uint64_t size) const {
        const auto path = *this / name;
        const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || ftruncate(fd, static_cast<off_t>(size)) != 0)
            throw std::runtime_error("cannot create " + path + ": " + strerror(errno));
        close(fd);
        return path;
    }

private:
    std::string path_;
};

/// overwrites a part of a file, past all devices
inline void
poke(const std::string &path, const uint64_t offset, const std::string &bytes)
{
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes.size()) || fsync(fd) != 0)
        throw std::runtime_error("cannot write to " + path + ": " + strerror(errno));
    close(fd);
}

/// reads a part of a file, past all devices
inline std::string
peek(const std::string &path, const uint64_t offset, const size_t size)
{
    std::string bytes(size, '\0');
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || pread(fd, &bytes[0], size, static_cast<off_t>(offset)) != static_cast<ssize_t>(size))
        throw std::runtime_error("cannot read " + path + ": " + strerror(errno));
    close(fd);
    return bytes;
}

/// A loop device on a file. The kernel detaches it when the last user closes
/// it, so that not even a crash of the test leaves one behind.
class LoopDevice
{
public:
    explicit LoopDevice(const std::string &file, const bool partitions = false) {
        const int backing = open(file.c_str(), O_RDWR | O_CLOEXEC);
        const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
        whyNot_ = "no loop device can be made here";
        for (int i = 0; i < 50 && backing >= 0 && control >= 0 && fd_ < 0; ++i)
            tryOnce(control, backing, partitions);
        if (backing >= 0)
            close(backing);
        if (control >= 0)
            close(control);
    }
    ~LoopDevice() {
        if (fd_ < 0)
            return;
        (void)ioctl(fd_, LOOP_CLR_FD, 0);
        close(fd_);
    }
    LoopDevice(const LoopDevice &) = delete;
    LoopDevice &operator =(const LoopDevice &) = delete;

    bool works() const { return fd_ >= 0; }
    const std::string &whyNot() const { return whyNot_; } ///< for GTEST_SKIP()
    const std::string &path() const { return path_; }
    int fd() const { return fd_; }

private:
    void tryOnce(const int control, const int backing, const bool partitions) {
        const int number = ioctl(control, LOOP_CTL_GET_FREE);
        if (number < 0) {
            whyNot_ = std::string("no free loop device: ") + strerror(errno);
            return;
        }
        path_ = "/dev/loop" + std::to_string(number);
        const int fd = open(path_.c_str(), O_RDWR | O_CLOEXEC);
        if (fd < 0) {
            whyNot_ = path_ + ": " + strerror(errno);
            return;
        }
        struct loop_config config;
        memset(&config, 0, sizeof(config));
        config.fd = static_cast<uint32_t>(backing);
        config.info.lo_flags = LO_FLAGS_AUTOCLEAR | (partitions ? LO_FLAGS_PARTSCAN : 0);
        if (ioctl(fd, LOOP_CONFIGURE, &config) == 0) {
            fd_ = fd;
            return;
        }
        whyNot_ = path_ + ": cannot attach: " + strerror(errno); // EBUSY: somebody was faster
        close(fd);
    }

    int fd_ = -1;
    std::string path_;
    std::string whyNot_;
};

/// a mount that goes away with the test
class Mount
{
public:
    Mount(const char *source, const std::string &target, const char *type, const char *options = ""):
        target_(target),
        works_(mount(source, target.c_str(), type, 0, options) == 0),
        errnum_(works_ ? 0 : errno)
    {}
    ~Mount() {
        if (works_)
            (void)umount2(target_.c_str(), MNT_DETACH);
    }
    Mount(const Mount &) = delete;
    Mount &operator =(const Mount &) = delete;
    bool works() const { return works_; }
    const char *whyNot() const { return strerror(errnum_); }

private:
    std::string target_;
    bool works_;
    int errnum_;
};

/// Two file systems with a file each that has the same inode number, and a
/// link that leads from the one to the other when told.
class Twins
{
public:
    explicit Twins(const uint64_t size) {
        for (const char *name: {"a", "b"}) {
            (void)mkdir((folder_ / name).c_str(), 0700);
            mounts_.push_back(std::make_unique<Mount>("none", folder_ / name, "tmpfs"));
            (void)folder_.file(std::string(name) + "/image", size);
        }
        struct stat first, second;
        works_ = symlink("a", link_.c_str()) == 0 && stat((folder_ / "a/image").c_str(), &first) == 0 &&
                 stat((folder_ / "b/image").c_str(), &second) == 0 && first.st_dev != second.st_dev &&
                 first.st_ino == second.st_ino;
    }

    bool works() const { return works_; } ///< needs rights to mount
    std::string path() const { return link_ + "/image"; }
    void exchange() const {
        if (unlink(link_.c_str()) != 0 || symlink("b", link_.c_str()) != 0)
            throw std::runtime_error("cannot change " + link_ + ": " + strerror(errno));
    }

private:
    Folder folder_;
    std::vector<std::unique_ptr<Mount>> mounts_; ///< gone before the folder
    const std::string link_ = folder_ / "link";
    bool works_ = false;
};

} // namespace Testing
} // namespace ClusterFs

#endif

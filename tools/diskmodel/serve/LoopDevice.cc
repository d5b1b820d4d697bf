// SPDX-License-Identifier: GPL-2.0-or-later
/* A loop device over the file "disk". */

#include "tools/diskmodel/serve/LoopDevice.h"

#include "tools/base/Numbers.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace DiskModel {

using namespace Tools;

static constexpr unsigned maxTries = 100;
static constexpr unsigned pause = 20000; ///< microseconds between them

static BadRequest
failure(const std::string &what)
{
    return BadRequest(what + ": " + strerror(errno));
}

LoopDevice::LoopDevice(const std::string &file, const unsigned sector):
    file_(file)
{
    const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (control < 0)
        throw failure("cannot open /dev/loop-control (are loop devices in the kernel?)");
    const int disk = open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (disk < 0) {
        close(control);
        throw failure("cannot open " + file);
    }
    bool attached = false;
    try {
        // others look for free devices at the same time: then the next one
        for (unsigned i = 0; i < maxTries && !attached; ++i) {
            attached = attach(control, disk, sector);
            if (!attached)
                usleep(pause);
        }
    } catch (const BadRequest &) {
        close(disk);
        close(control);
        throw;
    }
    close(disk);
    close(control);
    if (!attached)
        throw BadRequest("no loop device could be had within " + std::to_string(maxTries * pause / 1000000) +
                         " s: losetup --list shows who has them");
}

LoopDevice::~LoopDevice()
{
    release();
}

/// \returns false when somebody else was faster
bool
LoopDevice::attach(const int control, const int file, const unsigned sector)
{
    const int number = ioctl(control, LOOP_CTL_GET_FREE);
    if (number < 0)
        throw failure("there is no free loop device");
    name_ = "loop" + std::to_string(number);
    path_ = "/dev/" + name_;
    fd_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (fd_ < 0 && (errno == ENOENT || errno == ENXIO || errno == EBUSY)) // it may be about to appear
        return false;
    if (fd_ < 0)
        throw failure("cannot open " + path_);

    struct loop_config config;
    memset(&config, 0, sizeof(config));
    config.fd = static_cast<__u32>(file);
    config.block_size = sector;
    config.info.lo_flags = LO_FLAGS_DIRECT_IO | LO_FLAGS_AUTOCLEAR;
    strncpy(reinterpret_cast<char *>(config.info.lo_file_name), file_.c_str(), LO_NAME_SIZE - 1);
    if (ioctl(fd_, LOOP_CONFIGURE, &config) == 0) {
        struct loop_info64 info;
        if (ioctl(fd_, LOOP_GET_STATUS64, &info) != 0 || !(info.lo_flags & LO_FLAGS_DIRECT_IO)) {
            release();
            throw BadRequest(path_ + " does not use direct I/O: figures would be those of the page cache");
        }
        return true;
    }
    const int error = errno;
    close(fd_);
    fd_ = -1;
    errno = error;
    if (error != EBUSY)
        throw failure("cannot attach " + path_ + " to " + file_);
    return false;
}

std::string
LoopDevice::queueFile(const std::string &name) const
{
    return "/sys/block/" + name_ + "/queue/" + name;
}

static std::string
firstLine(const std::string &path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

bool
LoopDevice::hasScheduler(const std::string &name) const
{
    std::istringstream words(firstLine(queueFile("scheduler")));
    std::string word;
    while (words >> word) {
        if (word == name || word == "[" + name + "]")
            return true;
    }
    return false;
}

void
LoopDevice::setQueue(const std::string &name, const std::string &value)
{
    const auto path = queueFile(name);
    auto before = firstLine(path);
    const auto bracket = before.find('['); // "none [mq-deadline] bfq"
    if (bracket != std::string::npos)
        before = before.substr(bracket + 1, before.find(']') - bracket - 1);
    std::ofstream file(path);
    file << value << std::flush;
    if (!file)
        throw BadRequest("cannot write " + value + " to " + path + ", which has: " + firstLine(path));
    before_.emplace_back(path, before);
}

/// a folder's name as mountinfo writes it, with octal numbers for blanks
static std::string
unescaped(const std::string &text)
{
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            result += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
            i += 3;
        } else {
            result += text[i];
        }
    }
    return result;
}

std::vector<std::string>
LoopDevice::unmountAll() const
{
    std::vector<std::string> result;
    struct stat status;
    if (fd_ < 0 || fstat(fd_, &status) != 0)
        return result;
    const auto device = std::to_string(major(status.st_rdev)) + ":" + std::to_string(minor(status.st_rdev));
    std::ifstream mounts("/proc/self/mountinfo");
    std::string line;
    while (std::getline(mounts, line)) {
        std::istringstream words(line);
        std::string id, parent, number, root, folder;
        words >> id >> parent >> number >> root >> folder;
        if (number == device)
            result.push_back(unescaped(folder));
    }
    for (const auto &folder: result) {
        if (umount2(folder.c_str(), 0) != 0)
            umount2(folder.c_str(), MNT_DETACH);
    }
    return result;
}

void
LoopDevice::release()
{
    if (fd_ < 0)
        return;
    for (auto i = before_.rbegin(); i != before_.rend(); ++i)
        std::ofstream(i->first) << i->second;
    before_.clear();
    close(fd_);
    fd_ = -1;
}

bool
LoopDevice::gone() const
{
    return firstLine("/sys/block/" + name_ + "/loop/backing_file") != file_;
}

} // namespace DiskModel

// SPDX-License-Identifier: GPL-2.0-or-later
/* Who uses a disk or a file right now, according to the kernel. */

#include "fs/cluster/device/DeviceInUse.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

namespace fs = std::filesystem;

namespace ClusterFs {

namespace {

/// a block device and its name for messages
struct Part {
    dev_t device;
    std::string name; ///< empty for the device that was asked for
};

/// One search. The functions that return a text return it like findUsage().
class Search
{
public:
    Search(const struct stat &file, const std::string &root): file_(file), root_(root) {}

    std::string run();

    /// \returns a place that can't be read, and why; an empty text when nothing can be overlooked
    std::string overlooked() const;

private:
    void findParts();
    std::string mounted() const;
    std::string swap() const;
    std::string held() const;
    std::string partitioned() const;
    std::string looped() const;

    fs::path sysfs(dev_t) const;
    const Part *partOf(dev_t) const;
    const Part *partAt(const std::string &path) const;
    bool isTheFile(const std::string &path) const;
    static std::string named(const Part &, const std::string &rest);

    const struct stat &file_;
    const std::string root_;
    std::vector<Part> parts_; ///< the device and its partitions; none for a file
};

/// the kernel writes a space in a path as \040, and so on
std::string
unescape(const std::string &text)
{
    std::string plain;
    const auto octal = [&](const size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size() && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
            plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

/// "8:17" as a device number, 0 when the text is something else
dev_t
deviceNumber(const std::string &text)
{
    std::istringstream in(text);
    unsigned major = 0;
    unsigned minor = 0;
    char colon = 0;
    if (in >> major >> colon >> minor && colon == ':')
        return makedev(major, minor);
    return 0;
}

std::string
firstLine(const fs::path &path)
{
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

/// the names in a folder, in order; none when there is no such folder
std::vector<std::string>
namesIn(const fs::path &folder)
{
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error))
        names.push_back(i->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::string
Search::run()
{
    if (S_ISBLK(file_.st_mode))
        findParts();

    for (const auto check: {&Search::mounted, &Search::swap, &Search::held, &Search::partitioned, &Search::looped}) {
        auto found = (this->*check)();
        if (!found.empty())
            return found;
    }
    return std::string();
}

std::string
Search::overlooked() const
{
    const auto blind = [](const fs::path &place, const bool needed) {
        const int fd = open(place.c_str(), O_RDONLY | O_CLOEXEC);
        const int errnum = errno;
        if (fd >= 0)
            close(fd);
        // kernels may lack swap or loop devices
        return fd >= 0 || (errnum == ENOENT && !needed) ? std::string() : place.string() + ": " + strerror(errnum);
    };
    auto found = blind(root_ + "/proc/self/mountinfo", true);
    for (const char *place: {"/proc/swaps", "/sys/block"}) {
        if (found.empty())
            found = blind(root_ + place, false);
    }
    if (found.empty() && S_ISBLK(file_.st_mode)) {
        found = blind(root_ + "/sys/dev/block", true);
        if (found.empty())
            found = blind(sysfs(file_.st_rdev), false);
    }
    return found;
}

fs::path
Search::sysfs(const dev_t device) const
{
    return root_ + "/sys/dev/block/" + std::to_string(major(device)) + ":" + std::to_string(minor(device));
}

void
Search::findParts()
{
    parts_.push_back({file_.st_rdev, std::string()});
    const auto folder = sysfs(file_.st_rdev);
    for (const auto &name: namesIn(folder)) {
        std::error_code error;
        if (!fs::exists(folder / name / "partition", error))
            continue;
        if (const auto device = deviceNumber(firstLine(folder / name / "dev")))
            parts_.push_back({device, name});
    }
}

const Part *
Search::partOf(const dev_t device) const
{
    const auto found = std::find_if(parts_.begin(), parts_.end(), [=](const Part &part) { return part.device == device; });
    return found == parts_.end() ? nullptr : &*found;
}

const Part *
Search::partAt(const std::string &path) const
{
    struct stat other;
    if (path.empty() || path[0] != '/' || stat(path.c_str(), &other) != 0 || !S_ISBLK(other.st_mode))
        return nullptr;
    return partOf(other.st_rdev);
}

bool
Search::isTheFile(const std::string &path) const
{
    struct stat other;
    return S_ISREG(file_.st_mode) && stat(path.c_str(), &other) == 0 &&
           other.st_dev == file_.st_dev && other.st_ino == file_.st_ino;
}

std::string
Search::named(const Part &part, const std::string &rest)
{
    return part.name.empty() ? rest : "has a partition " + part.name + " that " + rest;
}

std::string
Search::mounted() const
{
    std::ifstream in(root_ + "/proc/self/mountinfo");
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        std::string id, parent, device, folder, target, word;
        fields >> id >> parent >> device >> folder >> target;
        while (fields >> word && word != "-") {
            // optional fields, of any number
        }
        std::string type, source;
        fields >> type >> source;

        const auto *part = partOf(deviceNumber(device));
        if (!part)
            part = partAt(unescape(source)); // btrfs shows device numbers of its own
        if (part)
            return named(*part, "is mounted on " + unescape(target));
    }
    return std::string();
}

std::string
Search::swap() const
{
    std::ifstream in(root_ + "/proc/swaps");
    std::string line;
    std::getline(in, line); // the heading
    while (std::getline(in, line)) {
        const auto path = unescape(line.substr(0, line.find_first_of(" \t")));
        if (const auto *part = partAt(path))
            return named(*part, "is in use as swap");
        if (isTheFile(path))
            return "is in use as swap";
    }
    return std::string();
}

std::string
Search::held() const
{
    for (const auto &part: parts_) {
        const auto holders = namesIn(sysfs(part.device) / "holders");
        if (!holders.empty())
            return named(part, "is part of " + holders.front() + " (RAID, LVM, encryption or multipath)");
    }
    return std::string();
}

std::string
Search::partitioned() const
{
    if (parts_.size() < 2)
        return std::string();
    std::string names;
    for (const auto &part: parts_) {
        if (!part.name.empty())
            names += (names.empty() ? "" : ", ") + part.name;
    }
    return "has partitions: " + names;
}

std::string
Search::looped() const
{
    const fs::path block(root_ + "/sys/block");
    for (const auto &name: namesIn(block)) {
        const auto backing = firstLine(block / name / "loop/backing_file");
        if (backing.empty())
            continue;
        if (isTheFile(backing) || partAt(backing))
            return "is attached as loop device /dev/" + name;
    }
    return std::string();
}

} // namespace

std::string
findUsage(const struct stat &file, const std::string &root, std::string * const unknown)
{
    Search search(file, root);
    if (unknown)
        *unknown = search.overlooked();
    return search.run();
}

} // namespace ClusterFs

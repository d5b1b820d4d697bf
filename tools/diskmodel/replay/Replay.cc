// SPDX-License-Identifier: GPL-2.0-or-later
/* What is on the disk after a power cut. */

#include "tools/diskmodel/replay/Replay.h"

#include "tools/base/Numbers.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

namespace DiskModel {

using namespace Tools;

static constexpr uint64_t sector = 512; ///< written as a whole or not at all
static constexpr double keepShare = 0.4; ///< of the writes that nothing guarantees
static constexpr double loseShare = 0.3; ///< the others are torn

static bool
changesData(const LogKind kind)
{
    return kind == LogKind::write || kind == LogKind::discard;
}

Replay::Replay(const LogReader &log, const uint64_t cut, const ReplayMode mode, const uint64_t seed):
    log_(log),
    cut_(cut),
    mode_(mode),
    random_(seed),
    durable_(log.entries().size() + 1)
{
    if (cut_ > log.entries().size())
        throw BadRequest("the log ends with record " + std::to_string(log.entries().size()) + ", before " +
                         std::to_string(cut));
    findDurable();
}

/// A flush that was answered guarantees what had been answered when it arrived.
void
Replay::findDurable()
{
    std::vector<uint64_t> answered; // sequences of writes, in that order
    std::map<uint64_t, size_t> flushes; // how many were answered when it arrived
    size_t safe = 0; // of the answered ones
    for (uint64_t i = 0; i < cut_; ++i) {
        const auto &record = log_.entries()[i].record;
        if (changesData(record.kind)) {
            ++writes_;
        } else if (record.kind == LogKind::answered) {
            answered.push_back(record.offset);
        } else if (record.kind == LogKind::flushArrived) {
            flushes[record.sequence] = answered.size();
        } else if (record.kind == LogKind::flushAnswered) {
            const auto found = flushes.find(record.offset);
            if (found != flushes.end())
                safe = std::max(safe, found->second);
        }
    }
    for (size_t i = 0; i < safe; ++i) {
        if (answered[i] >= durable_.size())
            throw BadRequest("the log answers a write that is not in it");
        durable_[answered[i]] = true;
    }
    guaranteed_ = safe;
}

/// puts a part of a write, or of a discard (data is nil), into the image
void
Replay::putSectors(const int image, const LogReader::Entry &entry, const uint64_t from, const uint64_t size,
                   const char *const data) const
{
    const auto at = static_cast<off_t>(entry.record.offset + from);
    if (data) {
        if (pwrite(image, data + from, size, at) != static_cast<ssize_t>(size))
            throw BadRequest(std::string("cannot write the image: ") + strerror(errno));
    } else if (fallocate(image, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, static_cast<off_t>(size)) != 0) {
        throw BadRequest(std::string("cannot punch a hole into the image: ") + strerror(errno));
    }
}

void
Replay::applyTorn(const int image, const LogReader::Entry &entry)
{
    const auto data = entry.record.kind == LogKind::write ? log_.bytesOf(entry) : std::vector<char>();
    // the pieces of a large discard are large, too
    const auto piece = std::max(sector, entry.record.size / 4096 / sector * sector);
    for (uint64_t at = 0; at < entry.record.size; at += piece) {
        if (std::bernoulli_distribution(0.5)(random_))
            putSectors(image, entry, at, std::min(piece, entry.record.size - at), data.empty() ? nullptr : data.data());
    }
}

void
Replay::apply(const int image, const LogReader::Entry &entry)
{
    const bool safe = mode_ == ReplayMode::prefix || durable_[entry.record.sequence];
    const double luck = safe ? 0 : mode_ == ReplayMode::drop ? keepShare :
                        std::uniform_real_distribution<double>(0, 1)(random_);
    if (luck < keepShare) {
        ++kept_;
        const auto data = entry.record.kind == LogKind::write ? log_.bytesOf(entry) : std::vector<char>();
        putSectors(image, entry, 0, entry.record.size, data.empty() ? nullptr : data.data());
    } else if (luck < keepShare + loseShare) {
        ++lost_;
    } else {
        ++torn_;
        applyTorn(image, entry);
    }
}

void
Replay::write(const std::string &image, const std::string &base)
{
    if (base.empty() && !log_.beganBlank())
        throw BadRequest("the device was not blank when the log began: give a copy of what it held as --base");
    std::error_code error;
    std::filesystem::remove(image, error);
    if (!base.empty() && !std::filesystem::copy_file(base, image, error))
        throw BadRequest("cannot copy " + base + " to " + image + ": " + error.message());
    const int fd = open(image.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        throw BadRequest("cannot make " + image + ": " + strerror(errno));
    try {
        if (ftruncate(fd, static_cast<off_t>(log_.deviceSize())) != 0)
            throw BadRequest("cannot make " + image + " as large as the device: " + strerror(errno));
        for (uint64_t i = 0; i < cut_; ++i) {
            if (changesData(log_.entries()[i].record.kind))
                apply(fd, log_.entries()[i]);
        }
    } catch (const BadRequest &) {
        close(fd);
        throw;
    }
    close(fd);
}

Json
Replay::json() const
{
    Json text;
    text["records"] = log_.entries().size();
    text["cut"] = cut_;
    text["writes"] = writes_;
    text["guaranteed"] = guaranteed_;
    text["kept"] = kept_;
    text["torn"] = torn_;
    text["lost"] = lost_;
    return text;
}

} // namespace DiskModel

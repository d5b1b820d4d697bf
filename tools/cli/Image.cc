// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening an image and reading from it. */

#include "Image.h"

#include "fs/cluster/base/Messages.h"
#include "fs/cluster/recovery/SuperblockFile.h"

#include <cstdio>

namespace ClusterFs::Cli {

constexpr unsigned readMilliseconds = 300000;

void
complain(const std::string &text)
{
    fprintf(stderr, "clusterfs: %s\n", text.c_str());
}

Log
complaints(const std::string &path)
{
    return [path](const LogLevel level, const std::string &line) {
        if (level <= LogLevel::warning)
            complain(line.find(path) == std::string::npos ? path + ": " + line : line);
    };
}

std::unique_ptr<Image>
Image::Open(const std::string &path, const bool writable, const Log &log, std::string &error)
{
    std::unique_ptr<Image> image(new Image(path));
    AioDevice::OpenOptions options;
    options.path = path;
    options.writable = writable;
    image->device_ = AioDevice::Open(image->clock_, options, log, error);
    if (!image->device_)
        return nullptr;
    image->readCopies();
    return image;
}

const BufferPointer &
Image::bufferFor(const uint64_t size)
{
    if (!buffer_ || buffer_->size() < size)
        buffer_ = std::make_shared<Buffer>(size);
    return buffer_;
}

Status
Image::read(const uint64_t offset, const uint64_t size, const char *&bytes)
{
    const auto whole = roundUp(size, device_->alignment());
    if (silent_ || !size || whole > device_->size() || offset > device_->size() - whole)
        return Status::ioError;
    const auto &buffer = bufferFor(whole);
    const auto status = doAndWait(*device_, IoOp::read, offset, buffer, static_cast<uint32_t>(whole), readMilliseconds);
    silent_ = status != Status::ok && !device_->idle();
    bytes = buffer->data();
    return status;
}

void
Image::readCopies()
{
    for (unsigned n = 0; n < 2; ++n) {
        auto &copy = copies_[n];
        const char *bytes = nullptr;
        copy.status = read(superblockOffset(n), superblockBytes, bytes);
        if (copy.status == Status::ok)
            copy.status = copy.superblock.decode(bytes, copy.reason);
        else
            copy.reason = "it can't be read";
    }
}

bool
Image::ours() const
{
    for (const auto &copy: copies_) {
        if (copy.status == Status::ok || copy.status == Status::corrupt || copy.status == Status::unsupported)
            return true;
    }
    return false;
}

Status
Image::choose(Superblock &superblock, std::string &error)
{
    const auto status = readSuperblock(*device_, superblock, error);
    if (status != Status::ok)
        return status;
    if (superblock.geometry.clusterBytes % device_->alignment() == 0)
        return Status::ok;
    error = messageText<Message::blocksUnsuited>(superblock.geometry.clusterBytes, device_->alignment());
    return Status::unsupported;
}

} // namespace ClusterFs::Cli

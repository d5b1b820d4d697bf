// SPDX-License-Identifier: GPL-2.0-or-later
/* A disk with a write cache that a power cut empties, for tests. */

#include "test-suite/doubles/VolatileMedia.h"

#include "fs/cluster/base/Memory.h"

#include <algorithm>
#include <cstring>

namespace ClusterFs {

/// submits a request and waits for the answer
Status
VolatileMedia::run(const IoOp op, const uint64_t offset, const uint32_t size, char *const buffer)
{
    Status answer = Status::aborted;
    bool answered = false;
    Io io;
    io.op = op;
    io.offset = offset;
    io.size = size;
    io.buffer = buffer;
    io.done = [&](const Status status) {
        answer = status;
        answered = true;
    };
    inner_.submit(std::move(io));
    while (!answered) {
        inner_.wait(10);
        inner_.poll();
    }
    return answer;
}

Status
VolatileMedia::read(const uint64_t offset, const uint32_t size, char *const buffer)
{
    return run(IoOp::read, offset, size, buffer);
}

Status
VolatileMedia::write(const uint64_t offset, const uint32_t size, const char *const data, const Lands &lands)
{
    const Buffer merged(size);
    const auto status = run(IoOp::read, offset, size, merged.data());
    if (status != Status::ok)
        return status;

    ++writes_;
    for (uint32_t at = 0; at < size; at += sectorSize) {
        if (lands && !lands(at / sectorSize))
            continue;
        Version old;
        memcpy(old.bytes.data(), merged.data() + at, sectorSize);
        old.until = writes_;
        auto &versions = before_[(offset + at) / sectorSize];
        if (versions.size() >= maxVersions)
            versions.erase(versions.begin());
        versions.push_back(old);
        memcpy(merged.data() + at, data + at, sectorSize);
    }
    if (before_.size() > maxUnflushed)
        before_.clear();
    return run(IoOp::write, offset, size, merged.data());
}

Status
VolatileMedia::flush(const uint64_t upTo)
{
    const auto status = run(IoOp::flush, 0, 0, nullptr);
    if (status != Status::ok)
        return status;

    for (auto sector = before_.begin(); sector != before_.end();) {
        auto &versions = sector->second;
        const auto atRisk = std::find_if(versions.begin(), versions.end(), [upTo](const Version &v) { return v.until > upTo; });
        versions.erase(versions.begin(), atRisk);
        sector = versions.empty() ? before_.erase(sector) : std::next(sector);
    }
    return status;
}

Status
VolatileMedia::cut(std::mt19937_64 &random)
{
    const auto unit = inner_.alignment();
    const Buffer block(unit);
    for (const auto &[sector, versions]: before_) {
        // the last choice is the present version
        const auto choice = random() % (versions.size() + 1);
        if (choice == versions.size())
            continue;
        const auto at = sector * sectorSize;
        const auto start = at - at % unit;
        auto status = run(IoOp::read, start, unit, block.data());
        if (status == Status::ok) {
            memcpy(block.data() + (at - start), versions[choice].bytes.data(), sectorSize);
            status = run(IoOp::write, start, unit, block.data());
        }
        if (status != Status::ok)
            return status;
    }
    before_.clear();
    return Status::ok;
}

} // namespace ClusterFs

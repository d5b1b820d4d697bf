// SPDX-License-Identifier: GPL-2.0-or-later
/* A device that takes as long as a real one would, and memory only for what is not zero. */

#include "tools/replay/ModelDevice.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace ClusterFs;

namespace Replay {

namespace {

constexpr uint32_t pieceBytes = 65536;
constexpr uint32_t grain = 16; ///< bytes that are kept or left out together

/// what stands in front of the bytes of a run
struct Run {
    uint32_t offset;
    uint32_t size;
};

bool
isZero(const char *const bytes)
{
    uint64_t words[2];
    memcpy(words, bytes, grain);
    return !(words[0] | words[1]);
}

/// \returns where the next grain is that is zero, or is not
uint32_t
next(const char *const bytes, uint32_t at, const bool zero)
{
    while (at < pieceBytes && isZero(bytes + at) != zero)
        at += grain;
    return at;
}

} // namespace

Costs
Costs::Of(const std::string &model)
{
    if (model == "ssd")
        return {50, 1 / 400.0};
    return {3800, 1 / 105.0};
}

ModelDevice::ModelDevice(ManualClock &clock, const uint64_t size, const Costs &costs):
    MemoryDevice(clock, size), // its memory stays untouched, and so takes none
    time_(clock),
    costs_(costs)
{
}

void
ModelDevice::unfold(const uint64_t piece, char *const to) const
{
    memset(to, 0, pieceBytes);
    const auto found = pieces_.find(piece);
    if (found == pieces_.end())
        return;
    const auto &text = found->second;
    for (size_t at = 0; at < text.size();) {
        Run run;
        memcpy(&run, text.data() + at, sizeof(run));
        memcpy(to + run.offset, text.data() + at + sizeof(run), run.size);
        at += sizeof(run) + run.size;
    }
}

void
ModelDevice::fold(const uint64_t piece, const char *const from)
{
    std::string text;
    for (auto at = next(from, 0, false); at < pieceBytes;) {
        const auto end = next(from, at, true);
        const Run run = {at, end - at};
        text.append(reinterpret_cast<const char *>(&run), sizeof(run)).append(from + at, run.size);
        at = next(from, end, false);
    }
    auto &old = pieces_[piece];
    kept_ = kept_ - old.size() + text.size();
    if (text.empty())
        pieces_.erase(piece);
    else
        old = std::string(text.data(), text.size()); // as much memory as it needs
}

/// calls back with the number of each piece of a request, where it begins there, where in the buffer, and how long it is
template <class Take>
static void
eachPiece(const Io &io, const Take &take)
{
    for (uint64_t done = 0; done < io.size;) {
        const auto begin = static_cast<uint32_t>((io.offset + done) % pieceBytes);
        const auto size = static_cast<uint32_t>(std::min<uint64_t>(pieceBytes - begin, io.size - done));
        take((io.offset + done) / pieceBytes, begin, io.buffer + done, size);
        done += size;
    }
}

void
ModelDevice::keep(const Io &io)
{
    char whole[pieceBytes];
    eachPiece(io, [&](const uint64_t piece, const uint32_t begin, const char *const from, const uint32_t size) {
        if (size == pieceBytes) {
            fold(piece, from);
            return;
        }
        unfold(piece, whole);
        memcpy(whole + begin, from, size);
        fold(piece, whole);
    });
}

void
ModelDevice::give(const Io &io) const
{
    char whole[pieceBytes];
    eachPiece(io, [&](const uint64_t piece, const uint32_t begin, char *const to, const uint32_t size) {
        if (size == pieceBytes) {
            unfold(piece, to);
            return;
        }
        unfold(piece, whole);
        memcpy(to, whole + begin, size);
    });
}

void
ModelDevice::carryOut(const Io &io)
{
    if (io.op == IoOp::read)
        give(io);
    else if (io.op == IoOp::write)
        keep(io);
    else
        return; // a flush has nothing to do
    const auto micros = static_cast<uint64_t>(costs_.request + costs_.byte * io.size);
    busy_ += micros;
    time_.advance(micros);
    if (showing_)
        printf("  %9.1f ms  disk %s %u KB at %.2f MB, %s: %.1f ms\n", static_cast<double>(time_.micros()) / 1000,
               io.op == IoOp::read ? "reads" : "writes", io.size / 1024, static_cast<double>(io.offset) / 1048576,
               io.ioClass == IoClass::urgent ? "urgent" : "background", static_cast<double>(micros) / 1000);
}

} // namespace Replay

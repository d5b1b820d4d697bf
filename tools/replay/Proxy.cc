// SPDX-License-Identifier: GPL-2.0-or-later
/* An engine in simulated time, and what a proxy does with it. */

#include "tools/replay/Proxy.h"

#include "fs/cluster/engine/Open.h"
#include "fs/cluster/recovery/Format.h"
#include "tools/base/Numbers.h"

#include <algorithm>
#include <sstream>

using namespace ClusterFs;

namespace Replay {

namespace {

constexpr size_t pieceBytes = 65536;
constexpr uint64_t stepMicros = 200000; ///< an engine is polled at least that often
constexpr unsigned closeMilliseconds = 60000;

} // namespace

void
setOptions(const std::string &what, const std::string &text, Config &config)
{
    std::istringstream given(text);
    std::string option, error;
    while (given >> option) {
        const auto equals = option.find('=');
        if (equals == std::string::npos)
            throw Tools::BadRequest(what + ": " + option + " is not of the form name=value");
        if (!config.set(option.substr(0, equals), option.substr(equals + 1), error))
            throw Tools::BadRequest(error);
    }
    if (!config.validate(error))
        throw Tools::BadRequest(error);
}

Proxy::Proxy(const Config &config, const uint64_t deviceBytes, const Costs &costs):
    config_(config),
    device_(clock_, deviceBytes, costs),
    buffer_(pieceBytes)
{
}

bool
Proxy::start(const bool format, std::string &error)
{
    if (format && formatDevice(device_, config_, 1, error) != Status::ok)
        return false;
    if (openEngine(device_, clock_, config_, [](LogLevel, const std::string &) {}, engine_, error) != Status::ok)
        return false;
    while (engine_->state() == EngineState::recovering)
        poll();
    return true;
}

void
Proxy::stop()
{
    engine_->close(closeMilliseconds);
}

void
Proxy::poll()
{
    engine_->poll();
    clock_.advance(1);
}

void
Proxy::passUntil(const uint64_t micros)
{
    while (clock_.micros() < micros) {
        clock_.advance(std::min(stepMicros, micros - clock_.micros()));
        engine_->poll();
    }
}

bool
Proxy::fetch(const Key &key)
{
    ObjectInfo info;
    if (!engine_->find(key, info))
        return false;
    engine_->touch(key);
    const auto reader = engine_->read(key);
    if (!reader)
        return false;
    for (uint64_t at = 0; at < reader->size();) {
        const auto n = reader->copy(at, buffer_.data(), buffer_.size());
        if (n > 0) {
            at += static_cast<uint64_t>(n);
            continue;
        }
        auto status = Status::busy;
        bool done = false;
        reader->fetch(at, [&](const Status s) { status = s; done = true; });
        while (!done)
            poll();
        if (status != Status::ok)
            return false;
    }
    return true;
}

bool
Proxy::store(const Key &key, const uint64_t bytes)
{
    ObjectInfo info;
    info.timestamp = clock_.wallSeconds();
    const auto writer = engine_->create(key, info, static_cast<int64_t>(bytes));
    bool taken = writer != nullptr;
    for (uint64_t left = bytes; taken && left;) {
        while (writer->congested())
            poll();
        const auto n = std::min<uint64_t>(left, buffer_.size());
        taken = writer->append(buffer_.data(), n);
        left -= n;
    }
    return taken && writer->finish() == Status::ok;
}

} // namespace Replay

// SPDX-License-Identifier: GPL-2.0-or-later
/* Waiting for an engine, and reading from it. */

#include "test-suite/simulate/Access.h"

#include "fs/cluster/device/Device.h"

using namespace ClusterFs;

bool
Simulate::await(Engine &engine, Device &device, const std::function<bool()> &condition, const unsigned turns)
{
    for (unsigned i = 0; !condition(); ++i) {
        if (i >= turns)
            return false;
        engine.poll();
        if (!condition())
            device.wait(5);
    }
    return true;
}

Simulate::Fetched
Simulate::fetchAll(Engine &engine, Device &device, Reader &reader, const std::function<size_t()> &piece, std::string &bytes,
                   const unsigned turns)
{
    char buffer[4096];
    for (unsigned stalls = 0; stalls < maxTurns;) {
        const auto n = reader.copy(bytes.size(), buffer, piece());
        if (n == 0)
            return Fetched::all;
        if (n > 0) {
            bytes.append(buffer, static_cast<size_t>(n));
            continue;
        }
        auto status = Status::busy;
        bool done = false;
        reader.fetch(bytes.size(), [&](const Status s) { status = s; done = true; });
        if (!await(engine, device, [&] { return done; }, turns))
            return Fetched::never;
        if (status != Status::ok)
            return Fetched::refused;
        ++stalls;
    }
    throw Broken("a read makes no progress");
}

uint64_t
Simulate::findVersion(Engine &engine, Device &device, const uint64_t object, const std::vector<Version> &versions, bool &torn)
{
    ObjectInfo info;
    const auto key = Oracle::KeyOf(object);
    if (!engine.find(key, info))
        return 0;
    const auto reader = engine.read(key);
    if (!reader)
        throw Broken("found, but can't be opened");
    std::string bytes;
    const auto fetched = fetchAll(engine, device, *reader, [] { return 4096; }, bytes);
    if (fetched == Fetched::never)
        throw Broken("a read is never answered");
    if (fetched != Fetched::all) {
        torn = true;
        return 0;
    }
    for (const auto &v: versions) {
        if (bytes.size() == info.size && v.size == bytes.size() && matches(v, 0, bytes.data(), bytes.size()))
            return v.number;
    }
    throw Broken("object " + std::to_string(object) + " has wrong bytes");
}

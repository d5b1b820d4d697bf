// SPDX-License-Identifier: GPL-2.0-or-later
/* A crashed cache of a known number of objects. */

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/device/AioDevice.h"
#include "fs/cluster/engine/Open.h"
#include "tools/bench/scale/Corpus.h"
#include "tools/bench/scale/Measures.h"

#include <iostream>
#include <unistd.h>
#include <vector>

using namespace ClusterFs;

namespace ScaleBench {

namespace {

bool
storeOne(Engine &engine, AioDevice &device, const uint64_t n, const std::vector<char> &bytes, const Clock &clock)
{
    ObjectInfo info;
    info.timestamp = clock.wallSeconds();
    info.expires = info.timestamp + 86400;
    for (int tries = 0; tries < 100000; ++tries) {
        if (const auto writer = engine.create(keyOf(n), info, static_cast<int64_t>(bytes.size())))
            return writer->append(bytes.data(), bytes.size()) && writer->finish() == Status::ok;
        engine.poll();
        device.wait(1);
    }
    return false;
}

} // namespace

std::string
load(const std::string &path, const uint64_t objects, const uint64_t size)
{
    const std::vector<char> bytes(size, 'x');
    const Log log = [](LogLevel, const std::string &line) { std::cerr << line << "\n"; };
    SystemClock clock;
    AioDevice::OpenOptions options;
    options.path = path;
    std::string error;
    const auto device = AioDevice::Open(clock, options, log, error);
    if (!device)
        return error;
    Config config;
    config.checkpoint = 20;
    config.persist = 2;
    std::unique_ptr<Engine> opened;
    if (openEngine(*device, clock, config, log, opened, error) != Status::ok)
        return path + ": " + error;
    auto &engine = *opened;
    while (engine.state() == EngineState::recovering) {
        engine.poll();
        device->wait(1);
    }
    const auto start = clock.micros();
    for (uint64_t n = 0; n < objects; ++n) {
        if (!storeOne(engine, *device, n, bytes, clock))
            return "object " + std::to_string(n) + " was not stored";
        if (n % 16 == 0)
            engine.poll();
    }
    // until all is packed, but for what came after the last checkpoint's start
    while (engine.stats().stagedObjects) {
        engine.poll();
        device->wait(10);
    }
    const auto s = engine.stats();
    std::cout << "stored " << objects << " objects of " << bytes.size() << " bytes in "
              << static_cast<double>(clock.micros() - start) / 1e6 << " s; in the index " << s.objects
              << ", index bytes per object " << s.bytesPerObject << ", write amplification " << s.writeAmplification
              << ", checkpoints " << s.counters.checkpoints << std::endl;
    _exit(0); // a crash: nothing is closed
}

} // namespace ScaleBench

// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores many small objects by the engine itself, as fast as the device takes
 * them, and dies without closing: a crashed cache of a known number of objects. */

#include "fs/cluster/device/AioDevice.h"
#include "fs/cluster/engine/Engine.h"

#include <cstdlib>
#include <iostream>
#include <unistd.h>
#include <vector>

using namespace ClusterFs;

namespace {

Key
keyOf(const uint64_t n)
{
    Key key;
    uint64_t x = n + 1;
    for (auto &b: key.bytes) {
        x ^= x >> 27;
        x *= 0x94d049bb133111ebULL;
        x ^= x >> 31;
        b = static_cast<uint8_t>(x >> 56);
    }
    return key;
}

int
fail(const std::string &what)
{
    std::cerr << "bench-load: " << what << "\n";
    return 1;
}

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

int
main(int argc, char **argv)
{
    if (argc != 4)
        return fail("usage: bench-load PATH OBJECTS BYTES");
    const std::string path = argv[1];
    const auto objects = strtoull(argv[2], nullptr, 10);
    std::vector<char> bytes(strtoull(argv[3], nullptr, 10), 'x');

    const Log log = [](LogLevel, const std::string &line) { std::cerr << line << "\n"; };
    SystemClock clock;
    AioDevice::OpenOptions options;
    options.path = path;
    options.writable = true;
    options.exclusive = true;
    options.depth = 32;
    std::string error;
    const auto device = AioDevice::Open(clock, options, log, error);
    if (!device)
        return fail(error);
    Config config;
    config.checkpoint = 20;
    config.persist = 2;
    Engine engine(*device, clock, config, log);
    if (engine.open(error) != Status::ok)
        return fail(path + ": " + error);
    while (engine.state() == EngineState::recovering) {
        engine.poll();
        device->wait(1);
    }
    const auto start = clock.micros();
    for (uint64_t n = 0; n < objects; ++n) {
        if (!storeOne(engine, *device, n, bytes, clock))
            return fail("object " + std::to_string(n) + " was not stored");
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

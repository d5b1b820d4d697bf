// SPDX-License-Identifier: GPL-2.0-or-later
/* Fills an image for the tests of the clusterfs tool: does by the engine what
 * standard input says, a command in each line, and answers each with a line.
 * End of input closes the cache, "crash" does not. */

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/device/AioDevice.h"
#include "fs/cluster/engine/Open.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>

using namespace ClusterFs;

namespace {

constexpr uint64_t patience = 60000000; ///< microseconds for anything

/// a key that two URLs are unlikely to share
Key
keyOf(const std::string &url)
{
    Key key;
    uint64_t h = 0xcbf29ce484222325U;
    for (size_t i = 0; i < 16; ++i) {
        for (const char c: url + static_cast<char>('A' + i))
            h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
        key.bytes[i] = static_cast<uint8_t>(h >> 32);
    }
    return key;
}

void
addField(std::string &meta, const char type, const std::string &value)
{
    const auto length = static_cast<int32_t>(value.size());
    meta += type;
    meta.append(reinterpret_cast<const char *>(&length), sizeof(length));
    meta += value;
}

/// what Squid would store: metadata, then bytes that depend on URL and size
std::string
content(const std::string &url, const size_t size)
{
    std::string fields;
    const auto key = keyOf(url);
    addField(fields, 3, std::string(reinterpret_cast<const char *>(key.bytes.data()), key.bytes.size()));
    addField(fields, 9, std::string(40, '\0'));
    addField(fields, 4, url + '\0');
    const auto total = static_cast<int32_t>(5 + fields.size());
    std::string bytes(1, 3);
    bytes.append(reinterpret_cast<const char *>(&total), sizeof(total));
    bytes += fields;
    auto state = key.high() | 1;
    while (bytes.size() < size) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        bytes += static_cast<char>(state >> 56);
    }
    return bytes;
}

class Filler
{
public:
    Filler(AioDevice &device, const Clock &clock, const Config &config): device_(device), clock_(clock), config_(config) {}

    int run();

private:
    template <class Condition>
    bool until(const Condition condition) {
        const auto end = clock_.micros() + patience;
        while (!condition()) {
            if (clock_.micros() > end)
                return false;
            engine_->poll();
            if (!condition())
                device_.wait(1);
        }
        return true;
    }
    bool doLine(std::istringstream &line);
    bool store(std::istringstream &line, bool raw);
    bool read(const std::string &url);
    bool append(Writer &, const std::string &bytes);

    AioDevice &device_;
    const Clock &clock_;
    const Config &config_;
    std::unique_ptr<Engine> engine_;
};

bool
Filler::append(Writer &writer, const std::string &bytes)
{
    for (size_t at = 0; at < bytes.size(); ) {
        // the engine needs free clusters at hand, for which the device must have been busy and be idle again
        engine_->poll();
        if (!until([&] { return device_.idle(); }))
            return false;
        const auto n = std::min<size_t>(bytes.size() - at, 32 * 1024);
        if (!writer.append(bytes.data() + at, n))
            return false;
        at += n;
    }
    return writer.finish() == Status::ok;
}

/// store URL SIZE TIMESTAMP EXPIRES LASTMODIFIED FLAGS, or raw NAME HEX
bool
Filler::store(std::istringstream &line, const bool raw)
{
    std::string url, bytes;
    ObjectInfo info;
    line >> url;
    if (raw) {
        std::string digits;
        line >> digits;
        for (size_t i = 0; i + 1 < digits.size(); i += 2)
            bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    } else {
        size_t size = 0;
        unsigned flags = 0;
        line >> size >> info.timestamp >> info.expires >> info.lastModified >> flags;
        info.flags = static_cast<uint8_t>(flags);
        bytes = content(url, size);
    }
    if (!line)
        return false;
    std::unique_ptr<Writer> writer;
    if (!until([&] { return (writer = engine_->create(keyOf(url), info, static_cast<int64_t>(bytes.size()))) != nullptr; }))
        return false;
    if (!append(*writer, bytes))
        return false;
    std::cout << keyOf(url).hex() << ' ' << bytes.size();
    return true;
}

/// compares every byte
bool
Filler::read(const std::string &url)
{
    const auto reader = engine_->read(keyOf(url));
    if (!reader) {
        std::cout << "gone";
        return true;
    }
    const auto wanted = content(url, reader->size());
    std::string got(reader->size(), '\0');
    for (uint64_t at = 0; at < got.size(); ) {
        const auto n = reader->copy(at, &got[at], got.size() - at);
        if (n > 0) {
            at += static_cast<uint64_t>(n);
            continue;
        }
        auto status = Status::busy;
        bool here = false;
        reader->fetch(at, [&](const Status s) { status = s; here = true; });
        if (!until([&] { return here; }) || status != Status::ok) {
            std::cout << "unreadable";
            return true;
        }
    }
    std::cout << (got == wanted ? "right" : "wrong");
    return true;
}

bool
Filler::doLine(std::istringstream &line)
{
    std::string command, url;
    line >> command;
    if (command == "store" || command == "raw")
        return store(line, command == "raw");
    if (command == "pack") // everything is on the device, and its announcements
        return until([&] { return engine_->stats().stagedObjects == 0 && engine_->stats().deletesPending == 0; });
    if (command == "checkpoint") {
        const auto before = engine_->stats().counters.checkpoints;
        engine_->requestCheckpoint();
        return until([&] { return engine_->stats().counters.checkpoints > before; });
    }
    line >> url;
    if (command == "remove")
        return engine_->remove(keyOf(url));
    if (command == "collocate") { // LEADER MEMBER...
        std::vector<Key> members;
        for (std::string member; line >> member; )
            members.push_back(keyOf(member));
        engine_->collocate(keyOf(url), members);
        return true;
    }
    return command == "read" && read(url);
}

int
Filler::run()
{
    std::string error;
    const Log log = [](LogLevel, const std::string &line) { std::cerr << line << '\n'; };
    if (openEngine(device_, clock_, config_, log, engine_, error) != Status::ok) {
        std::cerr << error << '\n';
        return 1;
    }
    if (!until([&] { return engine_->state() != EngineState::recovering; }))
        return 1;
    for (std::string text; std::getline(std::cin, text); ) {
        std::istringstream line(text);
        if (text == "crash") {
            std::cout << std::flush;
            _exit(0);
        }
        if (!doLine(line)) {
            std::cerr << "this failed: " << text << '\n';
            return 1;
        }
        std::cout << std::endl;
    }
    return engine_->close(60000) == Status::ok ? 0 : 1;
}

} // namespace

int
main(int argc, char **argv)
{
    Config config;
    config.persist = 1; // packs soon
    config.deleteTime = 1;
    config.stagingMb = config.readCacheMb = 8;
    config.checkpoint = 604800; // only when told
    std::string error;
    for (int i = 2; i < argc; ++i) {
        const std::string option = argv[i];
        const auto equals = std::min(option.find('='), option.size());
        if (!config.set(option.substr(0, equals), option.substr(std::min(equals + 1, option.size())), error)) {
            std::cerr << argv[i] << ": not an option " << error << '\n';
            return 2;
        }
    }
    const SystemClock clock;
    AioDevice::OpenOptions options;
    options.path = argc > 1 ? argv[1] : "";
    const auto device = AioDevice::Open(clock, options, Log(), error);
    if (!device) {
        std::cerr << error << '\n';
        return 2;
    }
    return Filler(*device, clock, config).run();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* bench-origin: a web server that makes up its objects from their URLs. */

#include "tools/base/CommandLine.h"
#include "tools/base/Json.h"
#include "tools/bench/web/origin/OriginServer.h"

#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

using namespace Tools;
using namespace WebBench;

namespace {

struct Settings {
    OriginServer::Config server;
    Endpoint place;
    uint64_t threads = 1;
    double deadline = 86400;
};

int
fail(const std::string &what, const int status)
{
    std::cerr << "bench-origin: " << what << std::endl;
    return status;
}

/// \returns nothing, or the status with which the program is to end
std::optional<int>
readArguments(const int argc, char **const argv, Settings &settings)
{
    auto &style = settings.server.style;
    uint64_t port = 9090;
    std::string address = "127.0.0.1", error;
    double delay = 0;
    CommandLine line("bench-origin: a web server whose objects follow from their URLs:\n"
                     "/FOLDERS/NAME-SIZE-vVERSION.EXTENSION has SIZE bytes, made from a hash of the path.\n"
                     "It prints \"ready\" (with --port 0, \"ready PORT\") when it takes requests. SIGTERM and\n"
                     "SIGINT end it; then it prints a line of JSON: {\"requests\",\"bytes\",\"errors\"}.");
    line.whole("port", port, 0, 65535, "port to listen at; 0 takes any free one");
    line.text("address", address, "IPV4", "the address to listen at");
    line.whole("threads", settings.threads, 1, 64, "threads that serve");
    line.real("delay", delay, 0, 60000, "milliseconds to wait before each answer");
    line.whole("max-age", style.maxAge, 0, 1000000000, "seconds for which answers may be cached");
    line.flag("no-store", style.noStore, "answers may not be cached");
    line.flag("chunked", style.chunked, "send bodies in chunks, without Content-Length");
    line.whole("wrong-every", style.wrongEvery, 0, 1000000000, "one in N answers has a wrong byte, to test clients");
    line.real("deadline", settings.deadline, 1, 1e6, "seconds after which it ends by itself");
    try {
        if (!line.read(wordsOf(argc, argv)))
            return 0;
    } catch (const BadRequest &e) {
        return fail(e.what(), 2);
    }
    if (!settings.place.parse(address + ":" + std::to_string(port ? port : 1), error))
        return fail(error, 2);
    settings.place.port = static_cast<uint16_t>(port);
    settings.server.delay = fromSeconds(delay / 1000);
    settings.server.shared = settings.threads > 1;
    settings.server.mostConnections = raiseDescriptorLimit() / settings.threads * 9 / 10;
    return std::nullopt;
}

/// waits for one of the signals that end the program, or until the time is over
void
waitForEnd(const sigset_t &signals, const double seconds)
{
    const auto end = now() + fromSeconds(seconds);
    for (auto left = end - now(); left > 0; left = end - now()) {
        const timespec span{left / oneSecond, left % oneSecond};
        if (sigtimedwait(&signals, nullptr, &span) > 0)
            return;
    }
}

std::string
report(const std::vector<std::unique_ptr<OriginServer>> &servers)
{
    uint64_t requests = 0, bytes = 0, errors = 0;
    for (const auto &server: servers) {
        requests += server->requests();
        bytes += server->bytes();
        errors += server->errors();
    }
    return jsonText({{"requests", requests}, {"bytes", bytes}, {"errors", errors}});
}

} // namespace

int
main(int argc, char **argv)
{
    Settings settings;
    if (const auto status = readArguments(argc, argv, settings))
        return *status;
    // before there are threads, so that all of them leave signals to this one
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);

    const bool anyPort = settings.place.port == 0;
    std::vector<std::unique_ptr<OriginServer>> servers;
    std::string error;
    for (uint64_t i = 0; i < settings.threads; ++i) {
        servers.push_back(std::make_unique<OriginServer>(settings.server));
        if (!servers.back()->open(settings.place, error))
            return fail(error, 1);
    }
    std::vector<std::thread> threads;
    for (const auto &server: servers)
        threads.emplace_back(&OriginServer::run, server.get());
    std::cout << "ready" << (anyPort ? " " + std::to_string(settings.place.port) : "") << std::endl;

    waitForEnd(signals, settings.deadline);
    for (const auto &server: servers)
        server->stop();
    for (auto &thread: threads)
        thread.join();
    std::cout << report(servers) << std::endl;
    return 0;
}

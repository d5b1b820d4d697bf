// SPDX-License-Identifier: GPL-2.0-or-later
/* bench-client: users who ask a proxy for what bench-origin has.
 *
 * One thread, that is not to be the bottleneck: docs/benchmarks-detail.md has
 * its processor time for a request. */

#include "tools/base/CommandLine.h"
#include "tools/base/Json.h"
#include "tools/bench/web/client/Load.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <new>

using namespace Tools;
using namespace WebBench;

namespace {

int
fail(const std::string &what, const int status)
{
    std::cerr << "bench-client: " << what << std::endl;
    return status;
}

/// \returns whether anything listens there; else with the reason in error
bool
isThere(const Endpoint &place, std::string &error)
{
    asio::io_context io;
    tcp::socket socket(io);
    error_code result = asio::error::timed_out;
    socket.async_connect(toAsio(place), [&result](const error_code &end) { result = end; });
    io.run_for(std::chrono::seconds(5));
    if (result)
        error = "no proxy at " + place.text() + ": " + result.message();
    return !result;
}

void
describe(const Workload &workload)
{
    const auto totals = workload.totals();
    std::cout << jsonText({
        {"pages", totals.pages}, {"objects", totals.objects}, {"bytes", totals.bytes},
        {"meanObjectsPerPage", totals.meanObjectsPerPage}, {"meanPageBytes", totals.meanPageBytes}
    }) << std::endl;
}

void
writeSettings(Json &json, const ClientSettings &settings, const Workload &workload, const int argc, char **const argv)
{
    json["command"] = std::vector<std::string>(argv, argv + argc);
    json["workload"] = settings.workload.workload;
    json["seed"] = settings.workload.seed;
    json["users"] = settings.users;
    json["rate"] = settings.rate > 0 ? Json(settings.rate) : Json();
    if (const auto log = dynamic_cast<const LogWorkload *>(&workload)) {
        json["log"] = {
            {"entries", log->log().entries.size()}, {"clients", log->log().clients},
            {"skipped", log->log().skipped()}, {"badLines", log->log().badLines}
        };
    }
}

/// \returns false when the file cannot be written
bool
writeFile(const std::string &path, const std::string &text)
{
    if (path == "-") {
        std::cout << text << std::endl;
        return static_cast<bool>(std::cout);
    }
    std::ofstream file(path);
    file << text << "\n";
    file.close();
    return static_cast<bool>(file);
}

/// \returns the status with which the program is to end
int
run(const ClientSettings &settings, Workload &workload, const int argc, char **const argv)
{
    std::string error;
    if (!isThere(settings.proxy, error))
        return fail(error, 1);
    Results results;
    ClientContext context{settings.proxy, RequestText(settings.origin, settings.domain, settings.reverse, settings.referer), results,
        fromSeconds(settings.timeout), settings.checkBodies};

    Json json;
    writeSettings(json, settings, workload, argc, argv);
    const double before = cpuSeconds();
    Load load(settings, workload, context);
    const auto stopped = load.run();
    const double cpu = cpuSeconds() - before;
    results.write(json);
    json["clientCpu"] = cpu;
    json["stopped"] = stopped;
    if (!writeFile(settings.json, jsonText(json)))
        return fail("cannot write " + settings.json + ": " + strerror(errno), 1);
    if (stopped == "errors")
        return fail("gave up after " + std::to_string(results.allErrors()) + " errors (--max-errors)", 1);
    if (stopped == "deadline")
        return fail("not done by the deadline of " + std::to_string(settings.deadline) + " seconds (--deadline)", 1);
    if (results.badBodies())
        return fail(std::to_string(results.badBodies()) + " responses had a wrong body", 1);
    return 0;
}

} // namespace

int
main(int argc, char **argv)
{
    CommandLine line("bench-client: plays users who fetch objects of bench-origin through a proxy, and checks each\n"
                     "body. It writes its results as JSON. Its exit status is 1 if a body was wrong or the run failed.");
    ClientSettings settings;
    settings.declare(line);
    std::string error;
    try {
        if (!line.read(wordsOf(argc, argv)))
            return 0;
        if (!settings.check(line, error))
            return fail(error, 2);
        const auto workload = settings.workload.make(line, static_cast<uint32_t>(settings.browsers), error);
        if (!workload)
            return fail(error, 2);
        if (settings.describe) {
            describe(*workload);
            return 0;
        }
        return run(settings, *workload, argc, argv);
    } catch (const BadRequest &e) {
        return fail(e.what(), 2);
    } catch (const std::bad_alloc &) {
        return fail("not enough memory for this workload", 1);
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* bench-papers: the experiments of the papers, by their calls and on files. */

#include "Bench.h"
#include "Experiments.h"
#include "Generator.h"

#include <malloc.h>

#include <fstream>
#include <iostream>

namespace Papers {
namespace {

const Experiment *const experiments[] = {
    &hummingbirdExperiment, &cfsExperiment, &cfsDayExperiment, &dameloExperiment, &tfsExperiment, &bandwidthExperiment, &describeExperiment
};

enum ExitCode { exitFine = 0, exitFailed = 1, exitUsage = 2 };

void
declareDescribe(CommandLine &line, Options &o)
{
    line.choice("workload", o.workload, {"proxy", "server"}, "made requests of a proxy or a server");
    line.text("trace", o.trace, "FILE", "read the requests from this trace instead");
    line.whole("requests", o.requests, 100, 50000000, "requests of the made trace");
    line.whole("clients", o.clients, 1, 1000000, "clients of the made trace");
    line.whole("urls", o.urls, 100, 10000000, "URLs of the made trace of a server");
    line.whole("seed", o.seed, 0, 1000000000, "seed of all random choices");
    line.text("json", o.json, "FILE", "file for the result (default: standard output)");
}

bool
runDescribe(const Options &options, Json &json)
{
    const auto trace = givenTrace(options, [&] {
        if (options.workload == "proxy") {
            ProxyModel model;
            model.requests = options.requests;
            model.clients = options.clients;
            return makeProxyTrace(model, options.seed);
        }
        ServerModel model;
        model.requests = options.requests;
        model.clients = options.clients;
        model.urls = options.urls;
        return makeServerTrace(model, options.seed);
    });
    json["workload"] = trace.describe();
    return true;
}

std::string
overview()
{
    std::string text = "usage: bench-papers EXPERIMENT [options]\n"
                       "       bench-papers EXPERIMENT --help\n\nexperiments:\n";
    for (const auto *e: experiments) {
        std::string left = std::string("  ") + e->name;
        left.resize(16, ' ');
        text += left + e->help + "\n";
    }
    return text + "\nEach experiment formats the device of clusterfs. The folder for files must be empty.\n";
}

void
write(const Json &json, const std::string &path)
{
    if (path.empty()) {
        std::cout << Tools::jsonText(json) << std::endl;
        if (!std::cout)
            throw std::runtime_error("the result could not be written to standard output");
        return;
    }
    std::ofstream file(path);
    file << Tools::jsonText(json) << "\n";
    file.close();
    if (!file)
        throw std::runtime_error(path + ": the result could not be written");
}

int
run(std::vector<std::string> words)
{
    if (words.empty())
        throw BadRequest("which experiment?\n" + overview());
    if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        std::cout << overview();
        return exitFine;
    }
    for (const auto *e: experiments) {
        if (words[0] != e->name)
            continue;
        words.erase(words.begin());
        Options options;
        CommandLine line(std::string(e->name) + ": " + e->help);
        e->declare(line, options);
        if (!line.read(words))
            return exitFine;
        Json json = {{"program", "bench-papers"}, {"experiment", e->name}};
        const bool right = e->run(options, json);
        write(json, options.json);
        if (!right)
            std::cerr << "bench-papers: some objects were not read as they were stored; see checks in the result\n";
        return right ? exitFine : exitFailed;
    }
    throw BadRequest("there is no experiment '" + words[0] + "'\n" + overview());
}

} // namespace

const Experiment describeExperiment = {"describe", "figures of a trace, made or read", declareDescribe, runDescribe};

Trace
givenTrace(const Options &options, const std::function<Trace()> &make)
{
    if (options.trace.empty())
        return make();
    Trace trace;
    std::string error;
    if (!trace.load(options.trace, error))
        throw std::runtime_error(error);
    return trace;
}

} // namespace Papers

int
main(int argc, char **argv)
{
    using namespace Papers;
    // with an arena for each thread, memory that one gave back would not do for another
    mallopt(M_ARENA_MAX, 1);
    try {
        return run(Tools::wordsOf(argc, argv));
    } catch (const BadRequest &e) {
        std::cerr << "bench-papers: " << e.what() << "\n";
        return exitUsage;
    } catch (const std::exception &e) {
        std::cerr << "bench-papers: " << e.what() << "\n";
        return exitFailed;
    }
}

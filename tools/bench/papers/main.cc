// SPDX-License-Identifier: GPL-2.0-or-later
/* bench-papers: the experiments of the papers, on the engine and on files. */

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

std::vector<Rule>
describeRules()
{
    using Kind = Rule::Kind;
    return {
        {"workload", Kind::choice, "proxy|server"},
        {"trace", Kind::text, "a trace file instead"},
        {"requests", Kind::number, "of the made trace", 300000, 100, 50000000},
        {"clients", Kind::number, "of the made trace", 1000, 1, 1000000},
        {"urls", Kind::number, "of the made trace of a server", 32768, 100, 10000000},
        {"seed", Kind::number, "of all that is random", 1, 0, 1000000000},
        {"json", Kind::text, "file for the result; standard output when not given"},
    };
}

bool
runDescribe(const Options &options, Json &json)
{
    const auto trace = givenTrace(options, [&] {
        if (options.text("workload") == "proxy") {
            ProxyModel model;
            model.requests = options.number("requests");
            model.clients = static_cast<uint32_t>(options.number("clients"));
            return makeProxyTrace(model, options.number("seed"));
        }
        ServerModel model;
        model.requests = options.number("requests");
        model.clients = static_cast<uint32_t>(options.number("clients"));
        model.urls = static_cast<uint32_t>(options.number("urls"));
        return makeServerTrace(model, options.number("seed"));
    });
    Json workload;
    trace.describe(workload);
    json.put("workload", workload);
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
    return text + "\nThe engine's device is formatted; the folder for files must be empty.\n";
}

void
write(const Json &json, const std::string &path)
{
    if (path.empty()) {
        std::cout << json.text() << std::endl;
        if (!std::cout)
            throw std::runtime_error("the result could not be written to standard output");
        return;
    }
    std::ofstream file(path);
    file << json.text() << "\n";
    file.close();
    if (!file)
        throw std::runtime_error(path + ": the result could not be written");
}

int
run(std::vector<std::string> words)
{
    if (words.empty())
        throw UsageError("which experiment?\n" + overview());
    if (words[0] == "--help" || words[0] == "help") {
        std::cout << overview();
        return exitFine;
    }
    for (const auto *e: experiments) {
        if (words[0] != e->name)
            continue;
        words.erase(words.begin());
        const auto rules = e->rules();
        if (words.size() == 1 && words[0] == "--help") {
            std::cout << e->name << ": " << e->help << "\n\n" << Options::Help(rules);
            return exitFine;
        }
        const Options options(words, rules);
        Json json;
        json.put("program", "bench-papers");
        json.put("experiment", e->name);
        const bool right = e->run(options, json);
        write(json, options.text("json"));
        if (!right)
            std::cerr << "bench-papers: some objects were not read as they were stored; see checks in the result\n";
        return right ? exitFine : exitFailed;
    }
    throw UsageError("there is no experiment '" + words[0] + "'\n" + overview());
}

} // namespace

const Experiment describeExperiment = {"describe", "figures of a trace, made or read", describeRules, runDescribe};

std::vector<Rule>
withCommon(const std::vector<Rule> &own)
{
    auto all = own;
    all.insert(all.end(), Bench::CommonRules().begin(), Bench::CommonRules().end());
    return all;
}

Trace
givenTrace(const Options &options, const std::function<Trace()> &make)
{
    if (options.text("trace").empty())
        return make();
    Trace trace;
    std::string error;
    if (!trace.load(options.text("trace"), error))
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
        return run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
    } catch (const UsageError &e) {
        std::cerr << "bench-papers: " << e.what() << "\n";
        return exitUsage;
    } catch (const std::exception &e) {
        std::cerr << "bench-papers: " << e.what() << "\n";
        return exitFailed;
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of a cache_dir line: name=value, one a line. */

#include "test-suite/fuzz/Target.h"

#include "fs/cluster/api/Options.h"

#include <algorithm>
#include <cstdint>

using namespace ClusterFs;

namespace Fuzz {
namespace {

std::vector<std::string>
valuesOf(const Config &config)
{
    std::vector<std::string> values;
    for (const auto &option: options())
        values.push_back(option.valueIn(config));
    return values;
}

/// whether an option may have that value
bool
allowed(const std::string &name, const std::string &value)
{
    const auto option = findOption(name);
    if (!option)
        return false;
    if (!option->choices.empty())
        return std::find(option->choices.begin(), option->choices.end(), value) != option->choices.end();
    const auto number = strtoull(value.c_str(), nullptr, 10);
    return std::to_string(number) == value && number >= option->least && number <= option->most;
}

void
setOne(Config &config, const std::string &name, const std::string &value)
{
    const auto before = valuesOf(config);
    std::string error;
    if (!config.set(name, value, error)) {
        require(!error.empty(), "a refusal has a reason");
        require(valuesOf(config) == before, "a refused option changes nothing");
        return;
    }
    const auto shown = config.get(name);
    require(allowed(name, shown), "an accepted value is within its bounds");
    const auto zeros = std::min(value.find_first_not_of('0'), value.size() - 1);
    require(shown == value || shown == value.substr(zeros), "it is what was given");
}

void
checkValid(const Config &config)
{
    std::string error;
    if (!config.validate(error)) {
        require(!error.empty(), "a refusal has a reason");
        return;
    }
    require(!(config.clusterKb & (config.clusterKb - 1)), "a cluster size is a power of two");
    require(config.clusterBytes() == uint64_t(config.clusterKb) * 1024, "a cluster size fits its type");
    require(uint64_t(config.stagingMb) * 1024 >= 2 * uint64_t(config.clusterKb), "staging holds two clusters");
    require(uint64_t(config.readCacheMb) * 1024 >= 2 * uint64_t(config.clusterKb), "the read cache holds two clusters");
    require(!config.memoryMb || uint64_t(config.memoryMb) * 1024 >= uint64_t(config.stagingMb + config.localityMb) * 1024 + 2 * uint64_t(config.clusterKb),
            "memory holds the others");
}

void
run(Input in)
{
    const auto bytes = takeRest(in);
    const std::string text(bytes.begin(), bytes.end());
    Config config;
    for (size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        const auto line = text.substr(at, end - at);
        const auto equals = std::min(line.find('='), line.size());
        setOne(config, line.substr(0, equals), line.substr(std::min(equals + 1, line.size())));
        at = end + 1;
    }
    checkValid(config);
    Config same;
    for (const auto &option: options()) {
        std::string error;
        if (option.read(config) >= option.least) // else it stands for the caller's choice, and can't be given
            require(option.take(same, option.valueIn(config), error), "what is shown is accepted");
    }
    require(valuesOf(same) == valuesOf(config), "what is shown gives the same again");
}

std::vector<std::string>
seeds()
{
    std::string all;
    std::string most;
    for (const auto &option: options()) {
        all += std::string(option.name) + "=" + option.valueIn(Config()) + "\n";
        if (option.choices.empty())
            most += std::string(option.name) + "=" + std::to_string(option.most) + "\n";
    }
    return {all, most, "cluster-size=16\nstaging=2\nread-cache=2\nlist=on\nlayout=overwrite\nreplacement=fifo\n",
            "depth=0000000001", "depth=4294967297", "object-size=-1", "list", "=", "nothing=1"};
}

const Target target("options", run, seeds);

} // namespace
} // namespace Fuzz

// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of a cache_dir line: name=value, one a line. */

#include "test-suite/fuzz/Target.h"
#include "test-suite/unit/api/ConfigSupport.h"

#include <cstdint>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace Fuzz {
namespace {

std::vector<std::string>
valuesOf(const Config &config)
{
    std::vector<std::string> values;
    for (const auto &name: Config::Names())
        values.push_back(config.get(name));
    return values;
}

/// whether an option may have that value
bool
allowed(const std::string &name, const std::string &value)
{
    for (const auto &n: numbers) {
        if (name == n.name) {
            const auto number = strtoull(value.c_str(), nullptr, 10);
            return std::to_string(number) == value && number >= n.least && number <= n.most;
        }
    }
    for (const auto &c: choices) {
        if (name == c.name)
            return std::find(c.values.begin(), c.values.end(), value) != c.values.end();
    }
    return false;
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
    for (const auto &name: Config::Names()) {
        std::string error;
        const auto value = config.get(name);
        if (name != "object-size" || value != "0") // that stands for the caller's choice, and can't be given
            require(same.set(name, value, error), "what is shown is accepted");
    }
    require(valuesOf(same) == valuesOf(config), "what is shown gives the same again");
}

std::vector<std::string>
seeds()
{
    std::string all;
    std::string most;
    for (const auto &name: Config::Names())
        all += name + "=" + Config().get(name) + "\n";
    for (const auto &n: numbers)
        most += std::string(n.name) + "=" + std::to_string(n.most) + "\n";
    return {all, most, "cluster-size=16\nstaging=2\nread-cache=2\nlist=on\nlayout=overwrite\nreplacement=fifo\n",
            "depth=0000000001", "depth=4294967297", "object-size=-1", "list", "=", "nothing=1"};
}

const Target target("options", run, seeds);

} // namespace
} // namespace Fuzz

// SPDX-License-Identifier: GPL-2.0-or-later
/* What a modelled disk is like. */

#include "tools/diskmodel/model/Parameters.h"

#include "tools/base/Numbers.h"

#include <cstdio>
#include <sstream>

namespace DiskModel {

using namespace Tools;
namespace {

/// one number of the parameters
struct Rule {
    const char *name;
    double Parameters::*value;
    Kind kind; ///< whose it is; Kind::fast = everybody's
    double least;
    double most;
    const char *help;
};

const Rule rules[] = {
    {"rpm", &Parameters::rpm, Kind::hdd, 600, 60000, "revolutions a minute"},
    {"seekMin", &Parameters::seekMin, Kind::hdd, 0, 100, "ms to the next track"},
    {"seekMax", &Parameters::seekMax, Kind::hdd, 0, 1000, "ms across the whole disk"},
    {"rate", &Parameters::rate, Kind::hdd, 1, 10000, "MB/s under the head at the outer edge"},
    {"zone", &Parameters::zone, Kind::hdd, 0, 0.9, "share of the rate lost at the inner edge"},
    {"stroke", &Parameters::stroke, Kind::hdd, 0.001, 1, "share of the platter that the device covers"},
    {"ncq", &Parameters::ncq, Kind::hdd, 1, 1024, "commands among which the drive chooses the next one"},
    {"readAhead", &Parameters::readAhead, Kind::hdd, 0, 65536, "KB that the head reads on by itself; 0 = none"},
    {"segments", &Parameters::segments, Kind::hdd, 1, 1024, "segments of the read cache"},
    {"writeCache", &Parameters::writeCache, Kind::hdd, 0, 1048576, "KB of write cache; 0 = writes wait for the platter"},
    {"interfaceRate", &Parameters::interfaceRate, Kind::hdd, 1, 100000, "MB/s between drive and host"},
    {"overhead", &Parameters::overhead, Kind::hdd, 0, 100000, "us for each command"},
    {"readLatency", &Parameters::readLatency, Kind::ssd, 0, 1e6, "us"},
    {"writeLatency", &Parameters::writeLatency, Kind::ssd, 0, 1e6, "us; a flush takes twice that"},
    {"readIops", &Parameters::readIops, Kind::ssd, 1, 1e7, "reads a second at most"},
    {"writeIops", &Parameters::writeIops, Kind::ssd, 1, 1e7, "writes a second at most"},
    {"readBandwidth", &Parameters::readBandwidth, Kind::ssd, 1, 1e6, "MB/s"},
    {"writeBandwidth", &Parameters::writeBandwidth, Kind::ssd, 1, 1e6, "MB/s"},
    {"jitter", &Parameters::jitter, Kind::ssd, 0, 1, "latencies vary by this share either way"},
    {"floor", &Parameters::floor, Kind::ssd, 0, 1000, "us taken off each answer, for the cost of the program itself"},
    {"spin", &Parameters::spin, Kind::fast, 0, 1000, "us before an event in which the program does not sleep"},
    {"seed", &Parameters::seed, Kind::fast, 0, 4294967295.0, "seed of the jitter"},
};

void
setOne(Parameters &parameters, const std::string &name, const std::string &value)
{
    for (const auto &rule: rules) {
        if (name == rule.name) {
            parameters.*rule.value = realFrom(name, value, rule.least, rule.most);
            return;
        }
    }
    std::string names = "model";
    for (const auto &rule: rules)
        names += std::string(" ") + rule.name;
    throw BadRequest("there is no parameter '" + name + "'; there are: " + names);
}

} // namespace

Parameters
Parameters::Of(const std::string &model)
{
    Parameters p;
    p.model = model;
    if (model == "hdd") {
        p.kind = Kind::hdd;
    } else if (model == "hdd10k") {
        p.kind = Kind::hdd;
        p.rpm = 10000;
        p.seekMin = 0.3;
        p.seekMax = 7.2;
        p.rate = 130;
        p.writeCache = 16384;
    } else if (model == "ssd") {
        p.kind = Kind::ssd;
    } else if (model == "fast") {
        p.kind = Kind::fast;
    } else {
        throw BadRequest("there is no model '" + model + "'; there are: hdd hdd10k ssd fast");
    }
    return p;
}

Parameters
Parameters::with(const std::string &settings) const
{
    Parameters result = *this;
    std::istringstream words(settings);
    std::string word;
    bool first = true;
    while (std::getline(words, word, ',')) {
        const auto equals = word.find('=');
        if (equals == std::string::npos)
            throw BadRequest("'" + word + "' is not of the form name=value");
        const auto name = word.substr(0, equals);
        const auto value = word.substr(equals + 1);
        if (name == "model" && !first)
            throw BadRequest("model= must come first: it changes all the other parameters");
        if (name == "model")
            result = Of(value);
        else
            setOne(result, name, value);
        first = false;
    }
    if (result.seekMax < result.seekMin)
        throw BadRequest("seekMax must not be below seekMin");
    return result;
}

Json
Parameters::json() const
{
    Json text;
    for (const auto &rule: rules) {
        if (rule.kind == kind || rule.kind == Kind::fast)
            text[rule.name] = this->*rule.value;
    }
    return text;
}

std::string
Parameters::Help()
{
    const auto hdd = Of("hdd");
    std::string text;
    for (const auto &rule: rules) {
        const char *const whose = rule.kind == Kind::hdd ? "hdd" : rule.kind == Kind::ssd ? "ssd" : "all";
        char line[160];
        snprintf(line, sizeof(line), "  %-3s  %-14s %7g  %s\n", whose, rule.name, hdd.*rule.value, rule.help);
        text += line;
    }
    return text;
}

} // namespace DiskModel

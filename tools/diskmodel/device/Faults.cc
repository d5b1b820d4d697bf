// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults to order. */

#include "tools/diskmodel/device/Faults.h"

#include "tools/base/Numbers.h"

#include <cerrno>
#include <sstream>

namespace DiskModel {

using namespace Tools;
namespace {

constexpr size_t maxFaults = 64;
constexpr uint64_t maxBytes = UINT64_MAX / 2;

struct KindRule {
    const char *name;
    FaultKind kind;
    bool reads; ///< whether reads may have it
    bool writes;
    bool flushes;
    double defaultValue;
    double most; ///< value
};

const KindRule kinds[] = {
    {"error", FaultKind::error, true, true, true, EIO, 4095},
    {"corrupt", FaultKind::corrupt, true, true, false, 0, 0},
    {"short", FaultKind::shortened, true, false, false, 0, 1 << 20},
    {"torn", FaultKind::torn, false, true, false, 512, 1 << 20},
    {"lost", FaultKind::lost, false, true, true, 0, 0},
    {"delay", FaultKind::delay, true, true, true, 100, 600000},
};

Op
parseOp(const std::string &word)
{
    if (word == "read")
        return Op::read;
    if (word == "write")
        return Op::write;
    if (word == "flush")
        return Op::flush;
    throw BadRequest("a fault is for read, write or flush, not for '" + word + "'");
}

const KindRule &
findKind(const std::string &word, const Op op)
{
    std::string names;
    for (const auto &rule: kinds) {
        const bool fits = op == Op::read ? rule.reads : op == Op::write ? rule.writes : rule.flushes;
        if (fits && word == rule.name)
            return rule;
        if (fits)
            names += std::string(" ") + rule.name;
    }
    throw BadRequest("there is no fault '" + word + "' of that kind of request; there are:" + names);
}

void
setOne(Fault &fault, const KindRule &rule, const std::string &word)
{
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const auto text = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "offset")
        fault.offset = bytesFrom(name, text, 0, maxBytes);
    else if (name == "length")
        fault.length = bytesFrom(name, text, 1, maxBytes);
    else if (name == "count")
        fault.left = wholeFrom(name, text, 1, UINT64_MAX);
    else if (name == "probability")
        fault.probability = realFrom(name, text, 0, 1);
    else if (name == "value")
        fault.value = realFrom(name, text, 0, rule.most);
    else
        throw BadRequest("a fault has offset= length= count= probability= value=, not '" + word + "'");
}

bool
touches(const Fault &fault, const Request &request)
{
    if (fault.op != request.op)
        return false;
    if (request.op == Op::flush)
        return true;
    return request.offset < fault.end() && request.end() > fault.offset;
}

} // namespace

void
Faults::add(const std::string &words)
{
    std::istringstream stream(words);
    std::string op, kind, word;
    stream >> op >> kind;
    Fault fault;
    fault.op = parseOp(op);
    const auto &rule = findKind(kind, fault.op);
    fault.kind = rule.kind;
    fault.value = rule.defaultValue;
    while (stream >> word)
        setOne(fault, rule, word);
    if (faults_.size() >= maxFaults)
        throw BadRequest("there are " + std::to_string(maxFaults) + " faults already: clear them first");
    faults_.push_back(fault);
}

std::optional<Fault>
Faults::strike(const Request &request)
{
    for (auto &fault: faults_) {
        if (!fault.left || !touches(fault, request))
            continue;
        if (fault.probability < 1 && std::uniform_real_distribution<double>()(random_) >= fault.probability)
            continue;
        if (fault.left != UINT64_MAX)
            --fault.left;
        ++strikes_;
        return fault;
    }
    return std::nullopt;
}

} // namespace DiskModel

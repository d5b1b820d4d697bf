// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of options, and the strict parser of their values. */

#include "fs/cluster/api/Options.h"

#include "fs/cluster/base/Messages.h"
#include "fs/cluster/policies/Policies.h"

#include <algorithm>
#include <cassert>
#include <cctype>

namespace ClusterFs {
namespace {

using Group = Option::Group;
using Effect = Option::Effect;

template <auto Field>
uint32_t
read(const Config &c)
{
    return static_cast<uint32_t>(c.*Field);
}

template <auto Field>
void
write(Config &c, const uint32_t value)
{
    c.*Field = static_cast<std::decay_t<decltype(c.*Field)>>(value);
}

template <auto Field>
Option
number(const char *name, const char *unit, const uint32_t least, const uint32_t most, const Group group, const Effect effect,
       const char *brief, const char *more = "", const char *defaultFrom = "")
{
    return {name, group, effect, unit, least, most, {}, brief, more, defaultFrom, &read<Field>, &write<Field>};
}

template <auto Field>
Option
choice(const char *name, std::vector<const char *> choices, const Group group, const Effect effect, const char *brief, const char *more)
{
    return {name, group, effect, "", 0, 0, std::move(choices), brief, more, "", &read<Field>, &write<Field>};
}

/// read() of an option whose values are the rows of a table of policies
template <auto Field, auto &Rows>
uint32_t
readPolicy(const Config &c)
{
    const auto &rows = Rows();
    const auto found = std::find_if(rows.begin(), rows.end(), [&c](const auto &row) { return row.policy == c.*Field; });
    // a program's own policy has no row: it counts as the first
    return found == rows.end() ? 0 : static_cast<uint32_t>(found - rows.begin());
}

template <auto Field, auto &Rows>
void
writePolicy(Config &c, const uint32_t value)
{
    c.*Field = Rows()[value].policy;
}

/// \returns the sentences of a table of policies, one behind the other
template <auto &Rows>
const char *
textOf()
{
    static const std::string all = [] {
        std::string text;
        for (const auto &row: Rows())
            text += std::string(text.empty() ? "" : "; ") + row.name + " " + row.text;
        return text + ".";
    }();
    return all.c_str();
}

template <auto Field, auto &Rows>
Option
policy(const char *name, const char *brief, const Effect effect = Effect::live)
{
    std::vector<const char *> names;
    for (const auto &row: Rows())
        names.push_back(row.name);
    return {name, Group::policy, effect, "", 0, 0, std::move(names), brief, textOf<Rows>(), "",
            &readPolicy<Field, Rows>, &writePolicy<Field, Rows>};
}

bool
takeNumber(const Option &option, const std::string &value, uint32_t &result, std::string &error)
{
    uint64_t n = 0;
    bool valid = !value.empty() && value.size() <= 10;
    for (const char c: value) {
        valid = valid && isdigit(static_cast<unsigned char>(c));
        if (valid)
            n = n * 10 + static_cast<uint64_t>(c - '0');
    }
    if (!valid || n < option.least || n > option.most) {
        error = messageText<Message::notWhole>(option.name, value, option.least, option.most);
        return false;
    }
    result = static_cast<uint32_t>(n);
    return true;
}

/// finds value among the choices; the error lists them
bool
takeChoice(const Option &option, const std::string &value, uint32_t &result, std::string &error)
{
    std::string all;
    for (size_t i = 0; i < option.choices.size(); ++i) {
        if (value == option.choices[i]) {
            result = static_cast<uint32_t>(i);
            return true;
        }
        all += std::string(i ? ", " : "") + option.choices[i];
    }
    error = messageText<Message::noSuchChoice>(option.name, value, all);
    return false;
}

} // namespace
} // namespace ClusterFs

const std::vector<ClusterFs::Option> &
ClusterFs::options()
{
    static const std::vector<Option> table = {
        number<&Config::clusterKb>("cluster-size", "KB", 16, 16384, Group::format, Effect::format,
            "size of a cluster, the unit of disk space, of disk writes and of eviction; a power of two"),
        number<&Config::objectKb>("object-size", "KB", 1, 16384, Group::format, Effect::format,
            "expected mean size of objects",
            "This and the size of the device plan the room on the disk for the index. If more objects come than planned, "
            "the index grows all the same, in memory and into the first clusters of the disk.",
            "store_avg_object_size"),
        number<&Config::memoryMb>("memory", "MB", 0, 1048576, Group::memory, Effect::live,
            "memory for all of the cache: index, learning, staging and read cache; 0 = no common limit",
            "The read cache gets what the others leave, whatever read-cache is. Unless they are given, staging is an eighth of it then, "
            "at most 256, and locality a fifth."),
        number<&Config::stagingMb>("staging", "MB", 2, 65536, Group::memory, Effect::start,
            "memory for objects that are stored and not on the disk yet",
            "The read cache borrows what they don't take."),
        number<&Config::readCacheMb>("read-cache", "MB", 2, 65536, Group::memory, Effect::live,
            "memory for parts of clusters that were read or written lately, beside cache_mem"),
        number<&Config::localityMb>("locality", "MB", 0, 65536, Group::memory, Effect::start,
            "memory for learning which objects belong together; 0 = learn nothing",
            "Objects that belong together are stored side by side and read in one request."),
        number<&Config::admit>("admit", "N", 1, Config::maxAdmit, Group::policy, Effect::live,
            "stores an object from its Nth request on",
            "2 keeps out objects that are requested only once, and saves their writes; pages are hits from their third visit on. "
            "Above 1, this takes 4 bytes of memory for each object that fits on the device at object-size."),
        number<&Config::fileLifetime>("file-lifetime", "SECONDS", 0, 4000000000U, Group::policy, Effect::live,
            "longest time after its Date that an object is served without a question to the origin server; 0 = no limit",
            "clusterfs drops older objects from the disk; Squid revalidates them in cache_mem."),
        number<&Config::clusterLifetime>("cluster-lifetime", "SECONDS", 0, 4000000000U, Group::policy, Effect::live,
            "time after which a written cluster is freed with all its objects; 0 = no limit"),
        number<&Config::persist>("persist", "SECONDS", 1, 86400, Group::persistence, Effect::live,
            "a stored object survives a power cut after this time"),
        number<&Config::deleteCount>("delete-count", "N", 1, 1000000, Group::persistence, Effect::live,
            "number of deletes that may wait for the journal"),
        number<&Config::deleteTime>("delete-time", "SECONDS", 1, 86400, Group::persistence, Effect::live,
            "longest time that a delete waits for the journal"),
        number<&Config::checkpoint>("checkpoint", "SECONDS", 1, 604800, Group::persistence, Effect::live,
            "time between checkpoints",
            "A checkpoint writes the changes of the index to the disk, and nothing if there are none. It comes sooner if the "
            "journal is half full. Shorter times make a start after a crash faster."),
        number<&Config::depth>("depth", "N", 1, 128, Group::device, Effect::live,
            "most requests in flight at the device"),
        policy<&Config::replacement, evictionPolicies>("replacement", "which objects make room for new ones"),
        number<&Config::sizeWeight>("size-weight", "PERCENT", 0, 100, Group::policy, Effect::live,
            "how much replacement=gdsf and =gds prefer small objects to large ones; 0 = not at all",
            "A higher value answers more requests from the disk, and saves fewer bytes of the uplink."),
        number<&Config::writeBudget>("write-budget", "PERCENT", 0, 50, Group::policy, Effect::live,
            "share of the bytes written that may be objects written before",
            "Four sevenths are for objects that are worth keeping when their cluster makes room, two for bringing the objects "
            "of a page together, and one for filling the holes that this leaves. A higher value gives more hits, and wears flash out faster."),
        number<&Config::replicas>("replicas", "PERCENT", 0, 50, Group::policy, Effect::live,
            "how much may be written once more to store an object that several pages want beside each of them, of the bytes stored; 0 = nothing",
            "A page then takes fewer reads, and the cache holds fewer objects. A restart forgets replicas; their room comes back with their clusters."),
        policy<&Config::layout, layoutPolicies>("layout", "which free cluster is written next"),
        policy<&Config::packing, packingPolicies>("packing", "which objects that wait in memory are written first", Effect::start),
        choice<&Config::warm>("warm", {"off", "on"}, Group::memory, Effect::live,
            "reads again, after a start, what was in the read cache before",
            "It does so while the disk has nothing else to do, and until three quarters of the read cache are full."),
        choice<&Config::list>("list", {"off", "on"}, Group::memory, Effect::start,
            "keeps whole keys, 16 bytes an object, so that mgr:objects and cache digests list the objects",
            "Set it to on if you have digest peers."),
    };
    return table;
}

const ClusterFs::Option *
ClusterFs::findOption(const std::string &name)
{
    const auto &all = options();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Option &o) { return name == o.name; });
    return found == all.end() ? nullptr : &*found;
}

std::string
ClusterFs::Option::valueIn(const Config &config) const
{
    const auto value = read(config);
    return choices.empty() ? std::to_string(value) : choices[value];
}

std::string
ClusterFs::Option::defaultValue() const
{
    return *defaultFrom ? std::to_string(Config::usualObjectKb) : valueIn(Config());
}

bool
ClusterFs::Option::take(Config &config, const std::string &value, std::string &error) const
{
    uint32_t result = 0;
    if (!(choices.empty() ? takeNumber : takeChoice)(*this, value, result, error))
        return false;
    write(config, result);
    config.stagingGiven |= name == std::string("staging");
    config.localityGiven |= name == std::string("locality");
    config.shareMemory();
    return true;
}

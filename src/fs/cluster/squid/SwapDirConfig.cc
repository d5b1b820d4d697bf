// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 03    Configuration File Parsing */

#include "squid.h"
#include "cache_cf.h"
#include "ConfigOption.h"
#include "ConfigParser.h"
#include "debug/Stream.h"
#include "event.h"
#include "fatal.h"
#include "fs/cluster/api/Options.h"
#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/squid/SwapDir.h"
#include "globals.h"
#include "SquidConfig.h"
#include "Store.h"
#include "tools.h"

#include <algorithm>
#include <cctype>

namespace {

bool
IsDigits(const std::string &text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](const unsigned char c) {
        return isdigit(c);
    });
}

/// what an option looks like in squid.conf
std::string
OptionText(const std::string &name, char const * const value)
{
    return value ? name + '=' + value : name;
}

} // namespace

/// ends Squid because of this cache_dir line
void
ClusterFs::SwapDir::reject(const std::string &why) const
{
    debugs(3, DBG_CRITICAL, "FATAL: cache_dir " << type() << ' ' << path << ": " << why);
    self_destruct();
}

void
ClusterFs::SwapDir::parse(const int anIndex, char * const aPath)
{
    index = anIndex;
    path = xstrdup(aPath);
    parseLine(0);
    config_ = parsed_;
    sizeMb_ = parsedSizeMb_;
    max_size = sizeMb_ << 20;
}

/// parses what follows the path into parsed_, given_, and parsedSizeMb_
void
ClusterFs::SwapDir::parseLine(const int isReconfiguration)
{
    parsed_ = Config();
    given_.clear();
    parseSize();
    parseOptions(isReconfiguration);
    std::string error;
    if (!parsed_.validate(error))
        reject(error);
}

/// parses the optional size in MB; options do not start with a digit
void
ClusterFs::SwapDir::parseSize()
{
    parsedSizeMb_ = 0;
    const auto next = ConfigParser::PeekAtToken();
    if (!next)
        return;
    const auto digit = (*next == '-' || *next == '+') ? next + 1 : next;
    if (!isdigit(static_cast<unsigned char>(*digit)))
        return;

    const std::string size = ConfigParser::NextToken();
    if (!IsDigits(size) || size.length() > 12)
        return reject("size '" + size + "' is not a whole number of MB");
    parsedSizeMb_ = std::stoull(size);
    constexpr auto least = smallestDevice >> 20;
    if (parsedSizeMb_ && parsedSizeMb_ < least)
        reject("a size of " + size + " MB is too small: at least " + std::to_string(least) + " MB are needed");
}

ConfigOption *
ClusterFs::SwapDir::getOptionTree() const
{
    const auto tree = Store::Disk::getOptionTree();
    const auto options = dynamic_cast<ConfigOptionVector*>(tree);
    assert(options);
    // first, to see each option; what is not ours goes on to the others
    const auto self = const_cast<SwapDir*>(this);
    options->options.insert(options->options.begin(),
                            new ConfigOptionAdapter<SwapDir>(*self, &SwapDir::parseOption, &SwapDir::dumpOption));
    return tree;
}

/// \returns false for options that Store::Disk will parse
bool
ClusterFs::SwapDir::parseOption(char const * const rawName, char const * const value, int)
{
    const std::string name(rawName);
    if (!given_.insert(name).second) {
        reject("option '" + OptionText(name, value) + "' is given twice");
        return true;
    }
    if (checkBaseOption(name, value))
        return false;

    std::string error;
    const auto option = findOption(name);
    if (!option)
        reject("unknown option '" + OptionText(name, value) + "'");
    else if (!value)
        reject("option '" + name + "' needs a value");
    else if (!option->take(parsed_, value, error))
        reject(error);
    return true;
}

/// checks what Store::Disk does not; \returns whether this is its option
bool
ClusterFs::SwapDir::checkBaseOption(const std::string &name, char const * const value)
{
    if (name == "no-store" || name == "read-only") {
        if (value && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
            reject("option '" + OptionText(name, value) + "' takes no value, or 0 or 1");
        return true;
    }
    if (name == "min-size" || name == "max-size") {
        if (!value || !(IsDigits(value) || strcmp(value, "-1") == 0) || strlen(value) > 18)
            reject("option '" + OptionText(name, value) + "' needs a number of bytes, or -1 for no limit");
        return true;
    }
    return false;
}

void
ClusterFs::SwapDir::reconfigure()
{
    if (!reconfiguring) { // the core takes a second line for a reconfiguration
        reject("there is more than one cache_dir line with this path");
        return;
    }
    parseLine(1);

    if (parsedSizeMb_ != sizeMb_) {
        debugs(3, DBG_IMPORTANT, "WARNING: cache_dir '" << path << "' size cannot be changed dynamically, value left unchanged (" <<
               sizeMb_ << " MB)");
    }
    auto wanted = config_;
    for (const auto &option: options()) {
        const auto value = option.read(parsed_);
        if (value == option.read(config_))
            continue;
        if (option.effect == Option::Effect::live) {
            option.write(wanted, value);
            debugs(3, DBG_IMPORTANT, "cache_dir '" << path << "' " << option.name << " now " << option.valueIn(wanted));
        } else if (given_.count(option.name)) { // else the default may have been computed
            debugs(3, DBG_IMPORTANT, "WARNING: cache_dir '" << path << "' " << option.name <<
                   " cannot be changed dynamically, value left unchanged (" << option.valueIn(config_) << ")");
        }
    }
    std::string error;
    if (!wanted.validate(error)) {
        reject(error);
        return;
    }
    config_ = wanted;
    if (started())
        engine_->reconfigure(config_);
    const auto missing = started() ? !readable() : !trouble_.empty();
    if (missing && !eventFind(&StartAgain, this)) // when squid.conf has been read to its end
        eventAdd("ClusterFs::SwapDir::StartAgain", &StartAgain, this, 0.0, 0, false);
}

/// computes what the administrator left to us
void
ClusterFs::SwapDir::resolveDefaults(Config &config) const
{
    if (!given_.count("object-size")) {
        const auto &option = *findOption("object-size");
        const int64_t kb = (::Config.Store.avgObjectSize + 1023) / 1024;
        config.objectKb = static_cast<uint32_t>(std::clamp<int64_t>(kb, option.least, option.most));
    }
}

void
ClusterFs::SwapDir::dump(StoreEntry &e) const
{
    storeAppendPrintf(&e, " %" PRIu64, sizeMb_);
    dumpOptions(&e);
}

void
ClusterFs::SwapDir::dumpOption(StoreEntry * const e) const
{
    for (const auto &option: options()) {
        if (option.read(config_) < option.least)
            continue; // object-size, in processes that do not use the dir
        storeAppendPrintf(e, " %s=%s", option.name, option.valueIn(config_).c_str());
    }
}

bool
ClusterFs::SwapDir::needsDiskStrand() const
{
    // The core asks this when all of squid.conf has been parsed, our only
    // chance to compare directives. A reconfiguration can't change workers.
    if (!reconfiguring && InDaemonMode() && ::Config.workers > 1) {
        fatalf("cache_dir %s %s can be used by one worker only, but squid.conf has 'workers %d': "
               "set 'workers 1' or replace this cache_dir\n",
               type(), path, ::Config.workers);
    }
    return false;
}

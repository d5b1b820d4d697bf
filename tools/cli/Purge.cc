// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs purge. */

#include "Commands.h"
#include "Manager.h"
#include "Objects.h"

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/engine/Open.h"
#include "fs/cluster/squid/ObjectText.h"

#include <regex.h>

#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdio>

namespace ClusterFs::Cli {
namespace {

constexpr unsigned closeMilliseconds = 600000;
constexpr uint64_t maxPending = 10000; ///< deletes that may wait for the log
constexpr uint64_t loggingMicros = 60000000; ///< for those to be written

/// which URLs to remove
class Choice
{
public:
    ~Choice() {
        if (compiled_)
            regfree(&expression_);
    }

    /// adds the options
    void declare(Line &);
    /// \throws BadRequest when the options do not say which
    void prepare(const Line &);
    bool matches(const std::string &url) const;

    /// asks a running Squid for the purge. \returns an ExitCode
    int purge(const Manager &, bool variants, bool json) const;

private:
    std::string url_;
    std::string prefix_;
    std::string pattern_;
    regex_t expression_ = regex_t();
    bool compiled_ = false;
};

void
Choice::declare(Line &line)
{
    line.text("url", url_, "URL", "remove exactly this URL");
    line.text("prefix", prefix_, "TEXT", "remove all URLs that begin with this text");
    line.text("pattern", pattern_, "REGEX", "remove all URLs that this POSIX extended regular expression matches");
}

void
Choice::prepare(const Line &line)
{
    if (line.given("url") + line.given("prefix") + line.given("pattern") != 1)
        throw BadRequest("give exactly one of --url=URL, --prefix=TEXT and --pattern=REGEX");
    if (pattern_.empty())
        return;
    const auto result = regcomp(&expression_, pattern_.c_str(), REG_EXTENDED | REG_NOSUB);
    compiled_ = result == 0;
    if (compiled_)
        return;
    char why[256];
    regerror(result, &expression_, why, sizeof(why));
    throw BadRequest("--pattern=" + pattern_ + " is not a POSIX extended regular expression: " + why);
}

bool
Choice::matches(const std::string &url) const
{
    if (compiled_)
        return regexec(&expression_, url.c_str(), 0, nullptr, 0) == 0;
    if (!prefix_.empty())
        return url.compare(0, prefix_.size(), prefix_) == 0;
    return url == url_;
}

int
Choice::purge(const Manager &squid, const bool variants, const bool json) const
{
    const auto name = !pattern_.empty() ? "pattern" : !prefix_.empty() ? "prefix" : variants ? "all" : "url";
    return squid.run("clusterfs_purge", name, pattern_ + prefix_ + url_, json);
}

/// what was found to be removed
struct Matches {
    struct Object {
        Key key;
        uint64_t bytes;
    };
    std::vector<Object> objects;
    uint64_t unread = 0; ///< objects whose URL could not be read
};

void
search(IndexView &view, const Choice &choice, Matches &matches)
{
    for (ClusterNo n{0}; view.catalog().clusters().has(n); ++n) {
        if (!view.holdsObjects(n))
            continue;
        FoundCluster cluster;
        view.examine(n, cluster);
        for (const auto &object: cluster.objects) {
            std::string url;
            if (object.status != Status::ok)
                ++matches.unread;
            if (object.status != Status::ok || !findStoredUrl(object.bytes, object.size, url) || !choice.matches(url))
                continue;
            matches.objects.push_back({object.key, object.info.size});
            printf("%s\t%" PRIu64 "\t%s\n", object.key.hex().c_str(), object.info.size, printable(url).c_str());
        }
    }
}

/// what went, or would go
struct Sum {
    void add(const Matches::Object &object) {
        ++objects;
        bytes += object.bytes;
    }

    uint64_t objects = 0;
    uint64_t bytes = 0;
};

/// lets the engine work until a condition holds; \returns false when it does not in time
template <class Condition>
bool
workUntil(Engine &engine, Image &image, const uint64_t micros, const Condition condition)
{
    const auto begin = image.clock().micros();
    while (!condition()) {
        if (micros && image.clock().micros() - begin > micros)
            return false;
        engine.poll();
        if (!condition() && !image.device().idle())
            image.device().wait(10);
    }
    return true;
}

/// Removes objects by the engine itself. \returns false with the reason in error
bool
removeAll(Image &image, const Superblock &superblock, const std::vector<Matches::Object> &objects, Sum &removed, std::string &error)
{
    Config config;
    config.clusterKb = superblock.geometry.clusterBytes / 1024;
    config.list = true; // a checkpoint that has keys shall keep them
    config.deleteCount = 1;
    std::unique_ptr<Engine> opened;
    if (openEngine(image.device(), image.clock(), config, complaints(image.path()), opened, error) != Status::ok)
        return false;
    auto &engine = *opened;
    workUntil(engine, image, 0, [&] { return engine.state() != EngineState::recovering; });
    if (engine.state() != EngineState::serving) {
        error = "nothing was removed: the device is " + std::string(engine.stateText());
        return false;
    }
    for (const auto &object: objects) {
        if (engine.remove(object.key))
            removed.add(object);
        if (engine.stats().deletesPending < maxPending)
            continue;
        if (!workUntil(engine, image, loggingMicros, [&] { return engine.stats().deletesPending < maxPending / 2; })) {
            error = "the journal can't be written; only the first " + std::to_string(removed.objects) + " were removed";
            return false;
        }
    }
    const auto status = engine.close(closeMilliseconds);
    if (status != Status::ok)
        error = std::string("the cache could not be stopped cleanly (") + statusText(status) + "): some may still be there";
    return status == Status::ok;
}

void
printSum(const char *verb, const Sum &sum)
{
    printf("%s %" PRIu64 " objects, %" PRIu64 " bytes\n", verb, sum.objects, sum.bytes);
}

int
runPurge(const Words &words)
{
    Choice choice;
    std::string error;
    std::string passwordFile;
    bool dry = false;
    bool variants = false;
    bool json = false;
    Line line("purge");
    choice.declare(line);
    line.flag("dry-run", dry, "only list the objects, and remove none");
    line.section("Of a running Squid");
    line.flag("variants", variants, "with --url: all variants of the URL (Vary), by a search through the disks");
    line.flag("json", json, "print JSON");
    declarePassword(line, passwordFile);
    if (!line.read(words))
        return exitFine;
    choice.prepare(line);
    const auto live = Manager::IsAddress(line.path());
    if (live && dry)
        throw BadRequest("--dry-run is for a cache that no Squid has open");
    if (!live && (variants || json || !passwordFile.empty()))
        throw BadRequest("--variants, --json and --password-file are for a running Squid");
    if (variants && !line.given("url"))
        throw BadRequest("--variants goes with --url=URL; the others remove all variants anyhow");
    if (live)
        return choice.purge(Manager(line.path(), passwordFile), variants, json);
    OpenedIndex opened;
    if (!openIndex(line.path(), !dry, opened))
        return exitCannot;
    Matches matches;
    search(*opened.view, choice, matches);
    opened.view.reset(); // the engine builds an index of its own
    if (matches.unread)
        complain(line.path() + ": " + std::to_string(matches.unread) + " damaged objects were not looked at; Squid would not serve them");

    // whoever reads the list may go away, but not end this half way
    signal(SIGPIPE, SIG_IGN);
    Sum sum;
    if (dry) {
        for (const auto &object: matches.objects)
            sum.add(object);
    } else if (!matches.objects.empty() && !removeAll(*opened.image, opened.superblock, matches.objects, sum, error)) {
        complain(line.path() + ": " + error);
        return exitProblems;
    }
    printSum(dry ? "would remove" : "removed", sum);
    return matches.unread ? exitProblems : exitFine;
}

} // namespace

extern const Command purgeCommand = {
    "purge", &runPurge,
    "PATH|SQUID (--url=URL [--variants] | --prefix=TEXT | --pattern=REGEX) [--dry-run]\n"
    "                [--password-file=FILE] [--json]",
    "Removes objects from a cache that no Squid has open. Lists them, a line each (key,\n"
    "size, URL, separated by tabs), and says at the end how many were removed. Or has a\n"
    "running Squid remove them, from memory, too, waits for the end, and says how many."
};

} // namespace ClusterFs::Cli
